import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { random } from '../../src/base/rng.ts';
import { noProgress } from '../../src/domain/progress.ts';
import { Role } from '../../src/domain/tokens.ts';
import { turnStates } from '../../src/domain/states.ts';
import { parseConfig } from '../../src/config/config.ts';
import { createEnv } from '../../src/envs/index.ts';
import type { BatchView } from '../../src/domain/batch.ts';
import { creditOf as creditOfBatch, type Lesson } from '../../src/rl/lesson.ts';
import { train } from '../../src/rl/trainer.ts';
import { fakePolicy } from './fakePolicy.ts';
import { close, creditOf, off } from './worked.ts';

type Numbers = readonly number[];
/** Made by test/python/write_gigpo_fixture.py with Trinity-RFT. */
const TRINITY = JSON.parse(readFileSync(new URL('../fixtures/gigpo.json', import.meta.url), 'utf8')) as {
  readonly rollouts: readonly {
    readonly group: number;
    readonly states: readonly string[];
    readonly rewards: Numbers;
  }[];
  readonly cases: readonly {
    readonly omega: number;
    readonly gamma: number;
    readonly divideByStd: boolean;
    readonly advantages: readonly Numbers[];
  }[];
};

const { action: a, observation: o, pad } = Role;
/** Rows of turns of two agent tokens, which an observation ends; a turn's reward is on its second token. */
const rowsOf = (rollouts: readonly { readonly rewards: Numbers }[]) => {
  const turns = Math.max(...rollouts.map(({ rewards }) => rewards.length));
  const filled = <T>(rewards: Numbers, of: (reward: number) => readonly T[], empty: T) =>
    Array.from({ length: turns }, (_, turn) =>
      turn < rewards.length ? of(rewards[turn]!) : [empty, empty, empty],
    ).flat();
  return {
    roles: rollouts.map(({ rewards }) => filled<number>(rewards, () => [a, a, o], pad)),
    rewards: rollouts.flatMap(({ rewards }) => filled(rewards, (reward) => [0, reward, 0], 0)),
  };
};
/** The advantages of each rollout's turns; the tokens of a turn must share one, and observations have none. */
const perTurn = (advantages: Float64Array, rollouts: readonly { readonly rewards: Numbers }[]) => {
  const width = advantages.length / rollouts.length;
  return rollouts.map(({ rewards }, row) =>
    rewards.map((_, turn) => {
      const [first, second, observed] = advantages.slice(row * width + 3 * turn, row * width + 3 * turn + 3);
      expect([second, observed]).toEqual([first, 0]);
      return first!;
    }),
  );
};
const GIGPO = { estimator: 'gigpo', divideByStd: false } as const;

describe('GiGPO', () => {
  it.each(TRINITY.cases)('ω $omega, γ $gamma, std $divideByStd: Trinity-RFT’s advantages', (trinity) => {
    const { rollouts } = TRINITY;
    const { roles, rewards } = rowsOf(rollouts);
    const numbers = [...new Set(rollouts.flatMap(({ group, states }) => states.map((state) => `${group} ${state}`)))];
    const turns = roles[0]!.length / 3;
    const states = rollouts.flatMap(({ group, states: own }) =>
      Array.from({ length: 3 * turns }, (_, at) => numbers.indexOf(`${group} ${own[Math.floor(at / 3)] ?? ''}`)),
    );
    const { omega: stateWeight, gamma: turnGamma, divideByStd } = trinity;
    const settings = { ...GIGPO, stateWeight, turnGamma, divideByStd };
    const got = creditOf(roles, rewards, settings, { groups: rollouts.map(({ group }) => group), states });
    perTurn(got.advantages, rollouts).forEach((own, row) => close(own, trinity.advantages[row]!, 1e-9));
    expect(trinity.advantages.flat().some((each) => Math.abs(each) > 0.5)).toBe(true);
  });

  it('pays the first turn for where it led, and a turn that is alone in its state only for its rollout', () => {
    const rollouts = [{ rewards: [0, 1] }, { rewards: [0, 0] }];
    const { roles, rewards } = rowsOf(rollouts);
    const states = [0, 0, 0, 1, 1, 1, 0, 0, 0, 2, 2, 2];
    const got = creditOf(roles, rewards, GIGPO, { groups: [4, 4], states });
    // scores 1 and 0: ±.5; returns of the first turns 1 and 0: ±.5 more
    expect(perTurn(got.advantages, rollouts)).toEqual([[1, 0.5], [-1, -0.5]]); // prettier-ignore
    const grpo = creditOf(roles, rewards, { ...GIGPO, estimator: 'grpo' }, { groups: [4, 4] });
    expect([...creditOf(roles, rewards, { ...GIGPO, stateWeight: 0 }, { groups: [4, 4], states }).advantages]).toEqual([
      ...grpo.advantages,
    ]);
    expect([...creditOf(roles, rewards, GIGPO, { groups: [4, 4] }).advantages]).toEqual([...grpo.advantages]);
  });

  it('compares a rollout with itself where it comes back, discounts by turn and divides by the std', () => {
    const rollouts = [{ rewards: [0, 0, 1] }, { rewards: [0, 0] }, { rewards: [1] }];
    const { roles, rewards } = rowsOf(rollouts);
    // the first rollout stays where it began, then all that have turns left meet
    const states = [0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, -1, -1, -1, 0, 0, 0, -1, -1, -1, -1, -1, -1];
    const settings = { ...GIGPO, divideByStd: true, turnGamma: 0.5, stateWeight: 0.5 };
    const got = creditOf(roles, rewards, settings, { groups: [0, 0, 0], states });
    // S 1, 0, 1: (S − .666667) / .577350. State 0, R .25, .5, 0, 1: (R − .4375) / .426956. State 1, R 1, 0: ±.707107
    const want = [[0.357772, 0.650543, 0.930903], [-1.667049, -1.508254], [1.236084]] as const; // prettier-ignore
    perTurn(got.advantages, rollouts).forEach((own, row) => close(own, want[row]!, 5e-6)); // 1e-6 is added to each std
    const returns = (row: number) => [0, 3, 6].map((at) => got.returns[9 * row + at]!);
    expect([returns(0), returns(1), returns(2)]).toEqual([[0.25, 0.5, 1], [0, 0, 0], [1, 0, 0]]); // prettier-ignore
  });

  it('gives observations the advantage of the turn before, where the advantage mask has them', () => {
    const { roles, rewards } = rowsOf([{ rewards: [0, 1] }, { rewards: [0, 0] }]);
    const states = [0, 0, 0, 1, 1, 1, 0, 0, 0, 2, 2, 2];
    const got = creditOf(roles, rewards, { ...GIGPO, masks: off('advantage') }, { groups: [0, 0], states });
    expect([...got.advantages]).toEqual([1, 1, 1, 0.5, 0.5, 0.5, -1, -1, -1, -0.5, -0.5, -0.5]);
  });
});

describe('turns compared by their number', () => {
  /** The number of each token's turn, of rollouts of one group. */
  const numbersOf = (roles: readonly Numbers[]) => roles.flatMap((row) => row.map((_, at) => Math.floor(at / 3)));
  const compared = (
    estimator: 'mt-grpo' | 'turn-baseline',
    rollouts: readonly { readonly rewards: Numbers }[],
    turnGamma = 1,
  ) => {
    const { roles, rewards } = rowsOf(rollouts);
    const given = { groups: rollouts.map(() => 0), states: numbersOf(roles) };
    return perTurn(creditOf(roles, rewards, { estimator, turnGamma, divideByStd: false }, given).advantages, rollouts);
  };

  it('MT-GRPO adds up the differences of rewards, turn-baseline takes one difference of returns', () => {
    const rollouts = [{ rewards: [0.2, 1] }, { rewards: [0.4, 0] }];
    // rewards: ∓.1, then ±.5, of which half reaches the first turn; returns .7 and .4, then 1 and 0
    const [sums, returns] = [compared('mt-grpo', rollouts, 0.5), compared('turn-baseline', rollouts, 0.5)];
    close([...sums[0]!, ...sums[1]!], [0.15, 0.5, -0.15, -0.5], 1e-12);
    close([...returns[0]!, ...returns[1]!], [0.15, 0.5, -0.15, -0.5], 1e-12);
    // one more turn for the first alone: it has nobody to be compared with, so its −2 is lost on MT-GRPO
    const longer = [{ rewards: [0.2, 1, -2] }, { rewards: [0.4, 0] }];
    close(compared('mt-grpo', longer)[0]!, [0.4, 0.5, 0], 1e-12);
    close(compared('turn-baseline', longer)[0]!, [-0.6, -0.5, 0], 1e-12);
  });

  it('MT-GRPO can’t see what a further turn is worth: its expected gradient lacks just E[r] of that turn', () => {
    // The first turn pays .3 and chooses: go on with probability p, which pays f in a second turn, or stop. The gradient of the expected
    // reward by the logit of p is p·(1 − p)·f; a mean that includes the rollout itself scales it by (n − 1) / n. All 2⁴ groups of n = 4.
    const [n, p, f] = [4, 0.3, -0.5];
    const expected = (estimator: 'mt-grpo' | 'turn-baseline') => {
      let gradient = 0;
      for (let choices = 0; choices < 2 ** n; choices++) {
        const goesOn = Array.from({ length: n }, (_, i) => ((choices >> i) & 1) === 1);
        const probability = goesOn.reduce((product, on) => product * (on ? p : 1 - p), 1);
        const advantages = compared(estimator, goesOn.map((on) => ({ rewards: on ? [0.3, f] : [0.3] }))); // prettier-ignore
        goesOn.forEach((on, i) => (gradient += (probability * advantages[i]![0]! * (on ? 1 - p : -p)) / n));
      }
      return gradient;
    };
    const exact = ((n - 1) / n) * p * (1 - p) * f;
    close([expected('turn-baseline')], [exact], 1e-12);
    close([expected('mt-grpo')], [exact - ((n - 1) / n) * p * (1 - p) * f], 1e-12); // 0: a turn that costs .5 looks free
  });
});

describe('training with GiGPO', () => {
  const trained = async (rows: 'episode' | 'turn') => {
    const knobs = { prompts: 4, groupSize: 8, updates: 1, evalEvery: 0, evalTasks: 4, maxTurns: 4, range: 8 };
    const config = parseConfig({ ...knobs, rows, estimator: 'gigpo', divideByStd: 'off' });
    const env = createEnv(config);
    const lessons: Lesson[] = [];
    const events = train({
      ...{ policy: fakePolicy(32, 200, env.vocabulary.length), env, rewardModel: null },
      ...{ config: () => config, now: () => 0, yieldToEvents: () => Promise.resolve(), lastConfig: null },
      ...{ progress: noProgress(), weightQueue: { earlier: [] }, onLearned: (lesson: Lesson) => lessons.push(lesson) },
    });
    for await (const event of events) if (event.type === 'batch') return { batch: event.batch, lesson: lessons[0]! };
    throw new Error('no batch');
  };

  it.each(['episode', 'turn'] as const)(
    'has states that rollouts of one task share, with a row for each %s',
    async (rows) => {
      const { batch, lesson } = await trained(rows);
      const groupOf = (at: number) => batch.episodes[Math.floor(at / batch.length)]!.group;
      const states = turnStates(batch, groupsOf(batch), 'state');
      const members = new Map<number, Set<number>>();
      states.forEach((state, at) => members.set(state, (members.get(state) ?? new Set()).add(groupOf(at))));
      for (const [state, groups] of members) if (state >= 0) expect(groups.size).toBe(1);
      expect(Array.from(batch.turns, (turn, at) => turn > 0 === states[at]! >= 0)).not.toContain(false);
      // more turns than states: they met again after the first turn
      const later = Array.from(batch.turns.keys()).filter((at) => batch.turns[at] === 2 && batch.turns[at - 1] === 1);
      expect(new Set(later.map((at) => states[at])).size).toBeLessThan(later.length);
      expect(lesson.credit).toMatchObject({ estimator: 'gigpo', stateWeight: 1 });
      // what a preview, a fork or a saved batch computes anew has the same states: without them it would be grpo
      const again = creditOfBatch(batch, lesson.credit).advantages;
      const grpo = creditOfBatch(batch, { ...lesson.credit, estimator: 'grpo' }).advantages;
      expect(again.some((each, at) => Math.abs(each - grpo[at]!) > 0.1)).toBe(true);
    },
  );

  it('compares nothing across rows that are out of the batch', async () => {
    const { batch, lesson } = await trained('episode');
    const draw = random(3, 1);
    const groups = groupsOf(batch).map((group) => (draw.next() < 0.5 ? -1 : group));
    const states = turnStates(batch, groups, 'state');
    expect(states.every((state, at) => state < 0 || groups[Math.floor(at / batch.length)]! >= 0)).toBe(true);
    const { advantages } = creditOfBatch(batch, lesson.credit, groups);
    expect(advantages.every((each, at) => each === 0 || groups[Math.floor(at / batch.length)]! >= 0)).toBe(true);
  });
});

function groupsOf({ episodes, rows }: BatchView): Int32Array {
  const groups = new Int32Array(rows).fill(-1);
  for (const { row, group } of episodes) groups[row] = group;
  return groups;
}
