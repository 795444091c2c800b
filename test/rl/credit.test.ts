import { describe, expect, it } from 'vitest';
import { canWhiten, type Estimator } from '../../src/config/estimators.ts';
import type { CreditMasks } from '../../src/model/learningMath.ts';
import type { MaskSwitches } from '../../src/model/learningSettings.ts';
import { surrogate } from '../../src/rl/objective.ts';
import { turnEnds, untrainedTurns } from '../../src/domain/tokenMasks.ts';
import { Role } from '../../src/domain/tokens.ts';
import { close, creditOf, MASK, off, ON, REWARDS, ROW, VALUES } from './worked.ts';

/** All but the observation mask, which the others never include. */
const all = ({ policy, regularizer, value, advantage, whiten }: CreditMasks) => [
  ...[policy, regularizer, value],
  ...[advantage, whiten],
];

describe('an advantage that is only rounding', () => {
  // the second row's score is the mean of 1.1, .6 and .1, which float64 sums of float32 numbers miss by 7e-9
  const roles = [ROW, ROW, ROW].map(() => [Role.action, Role.action, Role.action, Role.action]);
  const f32 = (values: readonly number[]) => values.map(Math.fround);
  const rewards = f32([1, 0, 0, 0.1, 0.7, 0, 0, -0.1, 0, 0, 0, 0.1]);
  const groups = [0, 0, 0];

  it.each(['grpo', 'rloo', 'reinforce++-baseline'] as const)(
    'is exactly 0 for %s, and its token is not clipped',
    (estimator) => {
      // prettier-ignore
      for (const size of [1, 1234.567]) {
      const paid = f32(rewards.map((r) => size * r));
      const { advantages } = creditOf(roles, paid, { estimator }, { groups });
      expect([...advantages].map(Math.sign)).toEqual([1, 1, 1, 1, 0, 0, 0, 0, -1, -1, -1, -1]);
      const settings = { surrogate: 'clipped', clipLow: 0.2, clipHigh: 0.2, dualClip: 0 } as const;
      for (const move of [-1, 1]) expect(surrogate(move, 0, advantages[4]!, settings).clipped).toBe(false);
      expect(surrogate(-1, 0, advantages[8]!, settings).clipped).toBe(true);
    }
    },
  );

  it('is exactly 0 where rewards cancel out', () => {
    const { advantages } = creditOf(roles, f32([0.1, 0.2, -0.3, 0, 0, 0, 0, 1, 0, 0, 0, 0]), { estimator: 'reinforce', gamma: 1 }); // prettier-ignore
    expect(advantages[0]).toBe(0);
    expect(advantages[7]).toBe(1);
  });
});

describe('whitening in credit', () => {
  it('is 0 outside the advantage mask, and with remask off −mean/std at observations', () => {
    const kept = creditOf(ROW, REWARDS, {}, { values: VALUES }).advantages;
    const left = creditOf(ROW, REWARDS, { remask: false }, { values: VALUES }).advantages;
    const want = [1.354488, 0.975231, 0.595975, NaN, NaN, NaN, -0.162539, -0.541795, NaN, NaN, -0.921052, -1.300308];
    close(
      kept,
      want.map((a) => (Number.isNaN(a) ? 0 : a)),
    );
    close(
      left,
      want.map((a) => (Number.isNaN(a) ? -2.058822 : a)),
    );
  });

  it('with remask off leaves the prompt and the padding alone', () => {
    const padded = [[Role.prompt, ...ROW[0]!, Role.pad]];
    const around = (x: readonly number[]) => [0, ...x, 0];
    const { advantages } = creditOf(padded, around(REWARDS), { remask: false }, { values: around(VALUES) });
    expect([advantages[0], advantages[13]]).toEqual([0, 0]);
    expect(advantages[4]).toBeCloseTo(-2.058822, 6);
  });

  it('takes its statistics from its own mask', () => {
    const { advantages, masks } = creditOf(ROW, REWARDS, { masks: off('whiten') }, { values: VALUES });
    expect([...masks.whiten]).toEqual(MASK.map(() => 1));
    // .9 .8 .7 .5 .4 .3 .2 and five zeros.
    const raw = [0.9, 0.8, 0.7, 0, 0, 0, 0.5, 0.4, 0, 0, 0.3, 0.2];
    const mean = 3.8 / 12;
    const deviation = Math.sqrt(raw.reduce((a, x) => a + (x - mean) ** 2, 0) / 11 + 1e-8);
    close(
      advantages,
      raw.map((x, t) => (MASK[t]! * (x - mean)) / deviation),
      1e-9,
    );
  });

  it('weighs by tokens, so rows of a group that all scored the same get a push of their own', () => {
    const roles = [4, 2, 3, 3].map((n) => Array.from({ length: 4 }, (_, t) => (t < n ? Role.action : Role.pad)));
    const rewards = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0.5, 0, 0, 0, 0.5, 0];
    const whitened = [1.161051, -1.625471, -0.23221, -0.23221];
    for (const groups of [
      [0, 0, 0, 0],
      [0, 0, 1, 1],
    ]) {
      const { advantages } = creditOf(roles, rewards, { estimator: 'reinforce++-baseline' }, { groups });
      close(
        advantages,
        roles.flatMap((row, b) => row.map((role) => (role === Role.action ? whitened[b]! : 0))),
      );
      // GRPO gives such a group nothing.
      const grpo = creditOf(roles, rewards, { estimator: 'grpo' }, { groups }).advantages;
      for (const a of grpo.slice(8)) expect(Math.abs(a)).toBe(0);
      expect(grpo[0]).toBeGreaterThan(0.6);
    }
  });

  it('counts nothing of rows that were filtered out, and gives them nothing', () => {
    const three = [ROW[0]!, ROW[0]!, ROW[0]!];
    const rewards = [...REWARDS, ...REWARDS.map((r) => -100 * r), ...REWARDS];
    const values = [...VALUES, ...VALUES, ...VALUES];
    for (const estimator of [
      'gae',
      'bi-level-gae',
      'turn-gae',
      'reinforce++',
      'reinforce++-baseline',
      'rloo',
      'grpo',
    ] as const) {
      const some = { values, groups: [4, -1, 4] };
      const got = creditOf(three, [...rewards.slice(0, 24), ...REWARDS.map((r) => 2 * r)], { estimator }, some);
      const alone = creditOf(
        [ROW[0]!, ROW[0]!],
        [...REWARDS, ...REWARDS.map((r) => 2 * r)],
        { estimator },
        { values: [...VALUES, ...VALUES], groups: [4, 4] },
      );
      expect([...got.advantages.slice(0, 12), ...got.advantages.slice(24)]).toEqual([...alone.advantages]);
      expect(alone.advantages.some((a) => Math.abs(a) > 0.1)).toBe(true);
      expect(got.advantages.slice(12, 24).every((a) => a === 0)).toBe(true);
      for (const mask of all(got.masks)) expect([...mask.slice(12, 24)]).toEqual(MASK.map(() => 0));
    }
  });
});

describe('the masks of credit', () => {
  const roles = [
    [1, 1, 2, 2, 3, 2, 0, 0],
    [1, 2, 3, 3, 2, 2, 2, 0],
  ];
  const agent = roles.flat().map((r) => (r === 2 ? 1 : 0));
  const response = roles.flat().map((r) => (r >= 2 ? 1 : 0));

  it.each(['policy', 'regularizer', 'value', 'advantage', 'whiten'] as const)(
    '%s follows its own switch alone',
    (name) => {
      const { masks } = creditOf(roles, response, { masks: off(name) });
      for (const other of ['policy', 'regularizer', 'value', 'advantage', 'whiten'] as const)
        expect([...masks[other]]).toEqual(other === name ? response : agent);
    },
  );

  it('predict the words of observations after the agent’s first token, only while the policy mask is on', () => {
    // the first row's observation comes before the agent says anything; the others have a tag on each side
    const episodes = [
      [1, 3, 3, 2, 3, 3, 3, 2],
      [1, 2, 2, 3, 3, 3, 3, 2],
    ];
    const bodies = [1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0];
    const maskOf = (masks = ON, groups = [0, 1]) => [
      ...creditOf(episodes, bodies, { masks }, { bodies, groups }).masks.observation,
    ];
    expect(maskOf()).toEqual([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0]);
    expect(maskOf(ON, [-1, 1])).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0]);
    expect(maskOf(off('policy'))).toEqual(bodies.map(() => 0));
    const { observation } = creditOf(episodes, bodies).masks; // a batch from before bodies were recorded
    expect([...observation]).toEqual(bodies.map(() => 0));
  });

  it('leave turns out of policy loss, entropy and KL, while credit passes through them as before', () => {
    const turns = [0, 0, 1, 1, 1, 2, 0, 0, 0, 1, 1, 1, 2, 2, 2, 0];
    const batch = { roles: Uint8Array.from(roles.flat()), turns, length: 8 };
    const whole = creditOf(roles, response, { masks: off('policy') });
    for (const [trainTurns, policy, regularizer] of [
      ['first', [0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]],
      ['last', [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0], [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0]],
    ] as const) {
      const untrained = untrainedTurns(batch, trainTurns)!;
      const got = creditOf(roles, response, { masks: off('policy') }, { untrained });
      expect([...got.masks.policy]).toEqual(policy);
      expect([...got.masks.regularizer]).toEqual(regularizer);
      for (const mask of ['value', 'advantage', 'whiten'] as const) expect([...got.masks[mask]]).toEqual(agent);
      expect(got.advantages).toEqual(whole.advantages);
      expect(got.returns).toEqual(whole.returns);
    }
    expect(untrainedTurns(batch, 'all')).toBeUndefined();
  });

  it('are not changed by KL in the reward', () => {
    const { masks } = creditOf(roles, response, { masks: off('klReward'), klCoef: 0.1 });
    for (const mask of all(masks)) expect([...mask]).toEqual(agent);
  });

  it('give critic targets to estimators with a critic only', () => {
    for (const estimator of [
      'gae',
      'bi-level-gae',
      'turn-gae',
      'grpo',
      'rloo',
      'reinforce',
      'reinforce++',
      'reinforce++-baseline',
    ] as const) {
      const { value } = creditOf(roles, response, { estimator }).masks;
      expect([...value]).toEqual(estimator.endsWith('gae') ? agent : response.map(() => 0));
    }
  });

  it('follow roles, so an id that pads elsewhere counts where the agent drew it', () => {
    // The batch that credit reads has no ids at all; a row of nothing but role 0 has nothing to learn.
    const { masks } = creditOf(
      [
        [1, 2, 2],
        [0, 0, 0],
      ],
      [0, 0, 1, 0, 0, 0],
    );
    expect([...masks.policy]).toEqual([0, 1, 1, 0, 0, 0]);
  });

  it('for grpo the advantage mask changes agent tokens only by what is paid at observations', () => {
    const at = (cell: number) => response.map((_, i) => (i === cell ? 1 : 0));
    const agents = (rewards: number[], masks: MaskSwitches) =>
      [...creditOf(roles, rewards, { estimator: 'grpo', masks }, { groups: [0, 0] }).advantages].filter(
        (_, i) => agent[i] === 1,
      );
    expect(agents(at(5), off('advantage'))).toEqual(agents(at(5), ON));
    expect(agents(at(5), ON)[0]).toBeCloseTo(Math.SQRT1_2, 5);
    expect(agents(at(4), ON).every((a) => a === 0)).toBe(true);
    expect(agents(at(4), off('advantage'))[0]).toBeCloseTo(Math.SQRT1_2, 5);
  });

  it('end a turn at the last token the agent drew before something else or the end of the row', () => {
    const flat = Uint8Array.from([1, 2, 2, 3, 2, 2, 2, 2, 0, 2]);
    expect([...turnEnds({ roles: flat, length: 5 })]).toEqual([0, 0, 1, 0, 1, 0, 0, 1, 0, 1]);
  });
});

describe('the estimators', () => {
  it('reinforce discounts over agent tokens only, and reinforce++ whitens that', () => {
    const want = [0.612441, 0.68049, 0.7561, 0, 0, 0, 0.729, 0.81, 0, 0, 0.9, 1];
    const plain = creditOf(ROW, REWARDS, { estimator: 'reinforce', gamma: 0.9 });
    close(plain.advantages, want);
    close(plain.returns, want);
    const { advantages, returns } = creditOf(ROW, REWARDS, { estimator: 'reinforce++', gamma: 0.9 });
    close(returns, want);
    const kept = want.filter((_, t) => MASK[t] === 1);
    const mean = kept.reduce((a, x) => a + x, 0) / 7;
    const deviation = Math.sqrt(kept.reduce((a, x) => a + (x - mean) ** 2, 0) / 6);
    close(
      advantages,
      want.map((x, t) => (MASK[t]! * (x - mean)) / deviation),
      1e-5,
    );
  });

  it('whiten where they can and are asked to', () => {
    const estimators: Estimator[] = [
      'gae',
      'bi-level-gae',
      'turn-gae',
      'grpo',
      'rloo',
      'reinforce',
      'reinforce++',
      'reinforce++-baseline',
    ];
    for (const estimator of estimators) {
      const of = (whiten: boolean) => [
        ...creditOf([ROW[0]!, ROW[0]!], [...REWARDS, ...VALUES], { estimator, whiten, gamma: 0.9 }, { groups: [0, 0] })
          .advantages,
      ];
      if (canWhiten(estimator)) expect(of(true)).not.toEqual(of(false));
      else expect(of(true)).toEqual(of(false));
    }
  });

  it('are multiplied by the scale last, after whitening', () => {
    for (const estimator of ['gae', 'grpo', 'reinforce++'] as const) {
      const of = (scale: number) =>
        creditOf([ROW[0]!, ROW[0]!], [...REWARDS, ...VALUES], { estimator, scale }, { groups: [0, 0] });
      close(
        of(0.25).advantages,
        [...of(1).advantages].map((a) => a / 4),
        1e-15,
      );
      expect([...of(0.25).returns]).toEqual([...of(1).returns]);
      expect(of(1).advantages.some((a) => Math.abs(a) > 0.3)).toBe(true);
    }
  });
});
