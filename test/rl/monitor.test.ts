import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { Metrics } from '../../src/domain/metrics.ts';
import type { Health } from '../../src/domain/health.ts';
import { createMonitor } from '../../src/rl/monitor.ts';

const config = parseConfig({ epochs: 4, entropyCoef: 0, learningRate: 2e-3 });

interface Numbers {
  readonly spread: number;
  readonly entropy: number;
  readonly flat: number;
  readonly success: number;
  readonly norm?: number;
  readonly told?: number | null; // share of turns told to their context, chance being .09; null: not measured
}
const HEALTHY: Numbers = { spread: 0.4, entropy: 0.9, flat: 0.1, success: 0.25 };

function values({ spread, entropy, flat, success, norm = 0.3, told = 0.15 }: Numbers): Metrics {
  return {
    'rollout/in_group_reward_std': spread,
    'actor/entropy': entropy,
    'rollout/zero_std_groups': flat,
    'rollout/success': success,
    'actor/grad_norm': norm,
    'rollout/echo_share': 0.2,
    'rollout/repeated_actions': 0,
    ...(told !== null && { 'collapse/retrieval_accuracy': told, 'collapse/retrieval_chance_level': 0.09 }),
  };
}

/** What the monitor says after each of the updates. */
function watch(updates: readonly Numbers[]): Health[] {
  const monitor = createMonitor();
  return updates.map((numbers, i) => monitor.observe(i + 1, values(numbers), config));
}
const times = (count: number, numbers: Numbers) => new Array<Numbers>(count).fill(numbers);

describe('the Echo Trap monitor', () => {
  test('looks at entropy per token where the loss is no mean of tokens, whatever becomes of rollouts’ lengths', () => {
    const monitor = createMonitor();
    const sums = parseConfig({ ...config, aggregation: 'seq-mean-token-sum' });
    const said = Array.from({ length: 20 }, (_, i) => {
      const numbers = { ...values({ ...HEALTHY, entropy: i < 10 ? 9 : 0.9 }), 'rollout/entropy': 0.9 };
      return monitor.observe(i + 1, numbers, sums);
    });
    expect(said.flatMap(({ evidence }) => evidence).filter(({ sign }) => sign === 'entropy')).toEqual([]);
  });

  test('says nothing before it has a base of ten updates', () => {
    const early = watch(times(9, { spread: 0, entropy: 0, flat: 1, success: 0 }));
    expect(early.every(({ state }) => state === 'ok')).toBe(true);
  });

  test('a run whose spread, entropy and groups collapse without a win is in the trap, with the evidence', () => {
    const said = watch([...times(10, HEALTHY), ...times(10, { spread: 0.02, entropy: 0.1, flat: 0.95, success: 0.2 })]);
    const trap = said.findIndex(({ state }) => state === 'trap') + 1;
    // five updates to fill the window at the latest, three to be sure
    expect(trap).toBeGreaterThan(10);
    expect(trap).toBeLessThanOrEqual(18);
    const last = said.at(-1)!;
    expect(last).toMatchObject({ state: 'trap', since: trap });
    const text = last.evidence.map((one) => one.text).join(' ');
    expect(text).toMatch(/spread of rewards within a prompt is 0\.020, 5 % of .* \(0\.40\)/);
    expect(text).toMatch(/Entropy is 0\.10, 11 %/);
    expect(text).toMatch(/95 % of the prompts have rollouts that all score the same/);
  });

  test('the same collapse with the task solved is success, not a trap', () => {
    const said = watch([...times(10, HEALTHY), ...times(30, { spread: 0, entropy: 0.01, flat: 1, success: 0.97 })]);
    expect(said.every(({ state }) => state === 'ok')).toBe(true);
  });

  test('ten updates below a tenth of the spread are enough by themselves, nine are not', () => {
    const lost = { ...HEALTHY, spread: 0.03 };
    const said = watch([...times(10, HEALTHY), ...times(14, lost)]);
    expect(said[18]!.state).not.toBe('trap');
    expect(said[21]!.state).toBe('trap');
  });

  test('a run that won nothing in its first ten updates is compared with the ten that had most to compare', () => {
    const updates = [
      ...times(10, { spread: 0, entropy: 0.9, flat: 1, success: 0 }),
      ...times(10, { spread: 0.3, entropy: 0.5, flat: 0.2, success: 0.4 }),
      ...times(10, { spread: 0.1, entropy: 0.1, flat: 0.8, success: 0.4 }),
    ];
    const said = watch(updates);
    expect(said[19]!.state).not.toBe('trap');
    const last = said.at(-1)!;
    expect(last.state).toBe('trap');
    expect(last.evidence[0]!.text).toMatch(/0\.10, 33 % of what it was in its best 10 updates \(0\.30\)/);
  });

  test('a run that learns while its entropy falls is left alone', () => {
    const updates = Array.from({ length: 60 }, (_, i) => ({
      spread: 0.4 - 0.004 * i,
      entropy: 0.9 * 0.96 ** i,
      flat: 0.01 * i,
      success: 0.25 + 0.01 * i,
    }));
    expect(watch(updates).filter(({ state }) => state !== 'ok')).toEqual([]);
  });

  test('two signs without a win are worth watching, and remedies are offered that would change something', () => {
    const said = watch([...times(10, HEALTHY), ...times(6, { spread: 0.15, entropy: 0.3, flat: 0.5, success: 0.25 })]);
    const { state, remedies } = said.at(-1)!;
    expect(state).toBe('watch');
    expect(remedies.map(({ changes }) => Object.keys(changes)[0])).toEqual([
      'entropyCoef',
      'epochs',
      'learningRate',
      'filter',
    ]);
    expect(remedies.find(({ changes }) => changes.learningRate)!.changes.learningRate).toBe(1e-3);
    expect(said[0]!.remedies).toEqual([]);
  });

  test('a price on calls is a remedy where there is one', () => {
    const monitor = createMonitor();
    const paying = { ...config, turnCost: 0.1 };
    let last: Health | null = null;
    const updates = [...times(10, HEALTHY), ...times(10, { spread: 0, entropy: 0.05, flat: 1, success: 0.2 })];
    for (const [i, numbers] of updates.entries()) last = monitor.observe(i + 1, values(numbers), paying);
    expect(last?.remedies.some(({ changes }) => changes.turnCost === 0)).toBe(true);
  });

  const SETTLED: Numbers = { spread: 0.02, entropy: 0.1, flat: 0.95, success: 0.35 };

  test('attempts that are alike but follow what was read are a run that has learned what it can, not a trap', () => {
    const alike = { ...SETTLED, told: 0.9 };
    const said = watch([...times(10, HEALTHY), ...times(30, alike)]);
    expect(said.filter(({ state }) => state === 'trap')).toEqual([]);
    // the same numbers, deaf: three times chance is the bound
    const deaf = watch([...times(10, HEALTHY), ...times(30, { ...SETTLED, told: 0.26 })]);
    expect(deaf.at(-1)).toMatchObject({ state: 'trap', kind: 'blind' });
    const heard = watch([...times(10, HEALTHY), ...times(30, { ...SETTLED, told: 0.28 })]);
    expect(heard.at(-1)!.state).not.toBe('trap');
  });

  test('where input dependence is not measured it says so and does not say TRAP', () => {
    const said = watch([...times(10, HEALTHY), ...times(30, SETTLED)].map((one) => ({ ...one, told: null })));
    expect(said.filter(({ state }) => state === 'trap')).toEqual([]);
    expect(
      said
        .at(-1)!
        .evidence.map(({ text }) => text)
        .join(' '),
    ).toMatch(/Measure mutual information every/);
  });

  test('success that rose and fell again while attempts grew alike is the Echo Trap, whatever is read', () => {
    const risen = { ...HEALTHY, success: 0.7 };
    const fallen = { spread: 0.02, entropy: 0.1, flat: 0.95, success: 0.2, told: 0.9 };
    const said = watch([...times(10, HEALTHY), ...times(15, risen), ...times(15, fallen)]);
    expect(said.at(-1)).toMatchObject({ state: 'trap', kind: 'collapse' });
    expect(
      said
        .at(-1)!
        .evidence.map(({ text }) => text)
        .join(' '),
    ).toMatch(/20 % .* down from 70 %/);
    expect(said.at(-1)!.since).toBeGreaterThan(25);
    // the same fall with attempts that still differ is bad news, but no trap
    const lively = watch([...times(10, HEALTHY), ...times(15, risen), ...times(15, { ...HEALTHY, success: 0.2 })]);
    expect(lively.at(-1)!.state).toBe('watch');
  });

  test('one odd batch is no way out of the trap, three are', () => {
    const stuck = { spread: 0, entropy: 0.05, flat: 1, success: 0.2 };
    const free = { ...HEALTHY, success: 0.2 };
    const said = watch([...times(10, HEALTHY), ...times(10, stuck), free, ...times(4, stuck), ...times(6, free)]);
    const states = said.map(({ state }) => state);
    expect(states.slice(19, 25)).toEqual(new Array(6).fill('trap'));
    expect(states.at(-1)).not.toBe('trap');
  });

  test('a gradient five times the usual one is named', () => {
    const said = watch([...times(12, HEALTHY), { ...HEALTHY, norm: 2.1 }]);
    expect(said.at(-1)!.evidence).toEqual([
      { sign: 'gradient', text: expect.stringMatching(/2\.1, 7\.0 times/) as string, alarming: false },
    ]);
  });

  test('turns that cannot be told to belong to what was read are named', () => {
    const monitor = createMonitor();
    const { evidence } = monitor.observe(
      1,
      {
        ...values(HEALTHY),
        'collapse/mi_seq_estimate': 0.02,
        'collapse/retrieval_accuracy': 0.1,
        'collapse/retrieval_chance_level': 0.09,
      },
      config,
    );
    expect(evidence.map(({ sign }) => sign)).toEqual(['input']);
  });

  const signs = ({ evidence }: Health) => evidence.map(({ sign, alarming }) => `${sign} ${alarming}`);

  test('in the trap each sign that shows is alarming; the same signs before it are not', () => {
    const alike = { 'rollout/echo_share': 0.7, 'rollout/repeated_actions': 0.3 };
    const said = (count: number) => {
      const monitor = createMonitor();
      const updates = [...times(10, HEALTHY), ...times(count, SETTLED)];
      return updates.map((numbers, i) => monitor.observe(i + 1, { ...values(numbers), ...alike }, config)).at(-1)!;
    };
    const trapped = said(12);
    expect(signs(trapped)).toEqual(['spread true', 'entropy true', 'flat true', 'echo true', 'echo true']);
    const text = trapped.evidence.map((one) => one.text);
    expect(text[1]).toBe('Entropy is 0.10, 11 % of what it was in the first 10 updates (0.90).');
    expect(text[3]).toBe('70 % of a prompt’s rollouts are the same word for word.');
    expect(text[4]).toBe('30 % of the turns repeat an earlier turn of the same rollout.');
    expect(signs(said(0))).toEqual(['echo false', 'echo false']);
  });

  test('rollouts that are the same word for word are alike, whatever they score', () => {
    const run = (echo: number) => {
      const monitor = createMonitor();
      const numbers = [...times(10, { ...HEALTHY, success: 0.7 }), ...times(20, { ...HEALTHY, success: 0.1 })];
      return numbers.map((one, i) => monitor.observe(i + 1, { ...values(one), 'rollout/echo_share': echo }, config));
    };
    expect(run(0.6).at(-1)).toMatchObject({ state: 'trap', kind: 'collapse' });
    expect(run(0.59).at(-1)!.state).toBe('watch');
  });

  test('half of what there was to win is enough: from .5 that is .75', () => {
    const run = (success: number, base = 0.5) =>
      watch([...times(10, { ...HEALTHY, success: base }), ...times(30, { ...SETTLED, success })]).at(-1)!;
    expect(run(0.74)).toMatchObject({ state: 'trap', kind: 'blind' });
    expect(run(0.76).state).not.toBe('trap');
    // one that began solved has nothing left to win, so .95 is no trap
    expect(run(0.95, 1).state).not.toBe('trap');
  });

  test('a fall is half of the best, and a tenth of all tasks at least', () => {
    const run = (best: number, now: number) => {
      const said = watch([...times(10, { ...HEALTHY, success: best }), ...times(10, { ...HEALTHY, success: now })]);
      return said.at(-1)!;
    };
    expect(run(0.5, 0.24)).toMatchObject({ state: 'watch' });
    expect(signs(run(0.5, 0.24))).toEqual(['success true']);
    expect(run(0.5, 0.26)).toMatchObject({ state: 'ok', evidence: [], remedies: [] });
    expect(run(0.15, 0.07).state).toBe('ok'); // more than half, but eight of a hundred tasks
  });

  test('out of the trap by what was won there is no waiting, and its kind is forgotten', () => {
    const said = watch([...times(10, HEALTHY), ...times(10, SETTLED), ...times(10, { ...HEALTHY, success: 0.97 })]);
    expect(said[19]).toMatchObject({ state: 'trap', kind: 'blind' });
    // success over five updates: .35 → .97, past .625 with the third
    expect(said.slice(19, 24).map(({ state }) => state)).toEqual(['trap', 'trap', 'trap', 'ok', 'ok']);
    expect(said.at(-1)).toMatchObject({ state: 'ok', kind: null });
    expect(said.at(-1)!.since).toBe(23);
  });

  test('one measure of input dependence without the other tells nothing', () => {
    const monitor = createMonitor();
    const half = (part: object) => ({ ...values({ ...SETTLED, told: null }), ...part });
    const updates = [...times(10, HEALTHY).map((one) => values({ ...one, told: null })), ...new Array<object>(20)];
    const said = updates.map((one, i) =>
      monitor.observe(
        i + 1,
        i < 10
          ? (one as Metrics)
          : half(i % 2 ? { 'collapse/retrieval_accuracy': 0.1 } : { 'collapse/retrieval_chance_level': 0.09 }),
        config,
      ),
    );
    expect(said.filter(({ state }) => state === 'trap')).toEqual([]);
    expect(signs(said.at(-1)!)).toContain('input false');
    // and where attempts still differ, nothing is missing
    expect(watch(times(20, { ...HEALTHY, told: null })).at(-1)!.evidence).toEqual([]);
  });

  test('numbers that are none count for nothing', () => {
    const gaps = { ...HEALTHY, entropy: NaN, spread: Infinity };
    const said = watch([...times(10, HEALTHY), ...times(10, gaps), ...times(10, SETTLED)]);
    expect(said[19]).toMatchObject({ state: 'ok', evidence: [] });
    expect(said.at(-1)!.evidence[0]!.text).toMatch(/\(0\.40\)/);
  });

  test('turns told to their context up to half as often again as by chance are named', () => {
    const told = (accuracy: number) =>
      createMonitor().observe(
        1,
        {
          ...values({ ...HEALTHY, told: null }),
          ...{ 'collapse/mi_seq_estimate': 0.021, 'collapse/retrieval_accuracy': accuracy },
          'collapse/retrieval_chance_level': 0.5,
        },
        config,
      ).evidence;
    expect(told(0.75)).toEqual([
      {
        ...{ sign: 'input', alarming: false },
        text: 'What the agent does hardly depends on what it has read: 75 % of its turns can be told to belong to their context (by chance 50 %; 0.021 nats).',
      },
    ]);
    expect(told(0.76)).toEqual([]);
  });

  test('nothing to compare is less than half the spread with flat groups and less entropy, or a quarter with almost none that differ', () => {
    const end = (numbers: Partial<Numbers>) =>
      watch([...times(10, HEALTHY), ...times(12, { ...SETTLED, ...numbers })]).at(-1)!.state;
    expect(end({ spread: 0.19 })).toBe('trap');
    expect(end({ spread: 0.22 })).not.toBe('trap'); // more than half is left
    expect(end({ spread: 0.19, flat: 0.65 })).not.toBe('trap');
    expect(end({ spread: 0.19, entropy: 0.5 })).not.toBe('trap');
    // with all its entropy
    expect(end({ spread: 0.09, entropy: 0.9 })).toBe('trap');
    expect(end({ spread: 0.11, entropy: 0.9 })).not.toBe('trap');
    expect(end({ spread: 0.09, entropy: 0.9, flat: 0.85 })).not.toBe('trap');
  });
});

describe('the monitor’s signs that are no trap', () => {
  const paying = parseConfig({ ...config, rewardModel: 'on', preferenceReward: 2 });
  /** The signs of the last of so many updates, each with the numbers of its place. */
  const signsOf = (updates: number, numbersAt: (update: number) => Metrics) => {
    const monitor = createMonitor();
    const said = Array.from({ length: updates }, (_, i) =>
      monitor.observe(i + 1, { ...values(HEALTHY), ...numbersAt(i + 1) }, paying),
    );
    const { state, evidence } = said.at(-1)!;
    return { state, signs: evidence.map(({ sign }) => sign), text: evidence.map(({ text }) => text).join(' ') };
  };
  const paid = (process: number, outcome: number) => ({ 'reward/process': process, 'reward/outcome': outcome });

  test('a part that gains for twenty updates while success doesn’t is worth watching, and is named with its share', () => {
    // the mean of ten passes a quarter of the spread (.1) at update 13; twenty in a row end at 32
    const rising = (update: number) => paid(update <= 10 ? 0 : 0.4, 0.25);
    expect(signsOf(31, rising)).toMatchObject({ state: 'ok', signs: [] });
    const { state, signs, text } = signsOf(32, rising);
    expect([state, signs]).toEqual(['watch', ['reward']]);
    expect(text).toMatch(/100 % of what the reward gained .* progress \(\+0\.40\)\. Success went from 25 % to 25 %/);
  });

  test('a reward model’s score counts times its coefficient, because the reward is centred', () => {
    const { signs } = signsOf(40, (update) => ({ 'reward_model/score': update <= 10 ? 0 : 0.08 }));
    expect(signs).toEqual(['reward']); // 2 · .08 is over a quarter of the spread, .08 is not
  });

  test('nothing is said if success rises as well, if the outcome gains most, or if the gain is small', () => {
    const gain = (update: number, by: number) => (update <= 10 ? 0 : by);
    const quiet = [
      (u: number) => ({ ...paid(gain(u, 0.4), 0.25), 'rollout/success': 0.25 + gain(u, 0.05) }),
      (u: number) => paid(0, gain(u, 0.4)),
      (u: number) => paid(gain(u, 0.09), 0), // of a spread of .4
      (u: number) => paid(gain(u, 0.4), gain(u, 0.2)), // two thirds
    ];
    for (const numbersAt of quiet) expect(signsOf(60, numbersAt)).toMatchObject({ state: 'ok', signs: [] });
  });

  test.each([
    ['longer', 30, 46, ['length']],
    ['a little longer', 30, 44, []],
    ['shorter', 30, 19, ['length']],
    ['a little shorter', 30, 21, []],
  ])('rollouts that became %s are a sign from half as long again or a third less on', (_, before, now, signs) => {
    const lengths = (update: number) => ({ 'response_length/mean': update <= 10 ? before : now });
    expect(signsOf(20, lengths)).toMatchObject({ state: 'ok', signs });
    expect(signsOf(20, (u) => ({ ...lengths(u), 'rollout/success': u <= 10 ? 0.25 : 0.35 })).signs).toEqual([]);
  });
});
