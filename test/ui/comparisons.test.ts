import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { MetricName } from '../../src/domain/metrics.ts';
import type { Health } from '../../src/domain/health.ts';
import { runWithDefaults, type Run } from '../../src/runs/run.ts';
import { chartName } from '../../src/page/runs/line.ts';
import { readRun, runText } from '../../src/page/runs/keptRun.ts';
import { Series } from '../../src/runs/series.ts';
import type { TrainedArm } from '../../src/page/training/armWorker.ts';
import type { Checkpoint } from '../../src/runs/checkpoint.ts';
import {
  collapseArms,
  READY_COMPARISONS,
  suggestedValue,
  maskArms,
} from '../../src/page/experiments/readyComparisons.ts';
import {
  progressWords,
  automaticSeedCount,
  useComparison,
  withSeed,
} from '../../src/page/experiments/comparisonStore.ts';
import { pairsOf, comparisonVerdict } from '../../src/page/experiments/comparisonVerdict.ts';

const flat = (value: number) => {
  const series = new Series();
  for (let update = 1; update <= 5; update++) series.push(update, value);
  return series;
};
function arm(label: string, values: Partial<Record<MetricName, number>>, health: Health | null = null): TrainedArm {
  const series = new Map(Object.entries(values).map(([name, value]) => [name as MetricName, flat(value)]));
  const said = health ? { health: [{ update: 50, health }] } : {};
  const begun = parseConfig({ evalTasks: 64 });
  const run = runWithDefaults({ id: 0, name: label, started: '', begun, update: 50, series, ...said });
  return { label, run, startUpdate: 10, checksum: '00000000' };
}
/** The same arm, something of its run replaced. */
const withRun = (of: TrainedArm, part: Partial<Run>): TrainedArm => ({ ...of, run: { ...of.run, ...part } });
const withKnobs = (of: TrainedArm, knobs: Partial<Run['config']>) =>
  withRun(of, { config: { ...of.run.config, ...knobs } });

test('one seed: of all tasks there are two shares have no test: what varies is the seed', () => {
  const text = comparisonVerdict([arm('A', { 'eval/success': 0.75 }), arm('B', { 'eval/success': 0.875 })]);
  expect(text).toContain('Of all 16 tasks A solves 75 % and B 88 %. Evaluation covers every task');
  const far = comparisonVerdict([arm('A', { 'eval/success': 0.25 }), arm('B', { 'eval/success': 0.875 })]);
  for (const told of [text, far]) {
    expect(told).not.toMatch(/chance|test|ahead|p = /);
    expect(told).toMatch(/One seed isn’t evidence/);
  }
  expect(comparisonVerdict([arm('A', { 'eval/success': 0.5 }), arm('B', { 'eval/success': 0.5 })])).toContain(
    'Of all 16 tasks both solve 50 %',
  );
  // 21 of Countdown's tasks are held out and 64 were asked for: all that are held out
  const few = [0.25, 0.75].map((share, i) => withKnobs(arm('AB'[i] ?? '', { 'eval/success': share, 'eval/tasks': 21 }), { env: 'countdown' })); // prettier-ignore
  expect(comparisonVerdict(few)).toContain(
    'Of all 21 held-out tasks A solves 25 % and B 75 %. Evaluation covers every task',
  );
});

test('one seed: of a sample of tasks .75 against .875 is two of 16 and cannot be told, .25 against .875 can', () => {
  const of16 = (a: number, b: number) =>
    comparisonVerdict([a, b].map((share, i) => withKnobs(arm('AB'[i] ?? '', { 'eval/success': share, 'eval/tasks': 16 }), { env: 'multi-hop', evalTasks: 16 }))); // prettier-ignore
  const text = of16(0.75, 0.875);
  expect(text).toContain('Of 16 different held-out tasks A solves 75 % and B 88 %: cannot tell');
  expect(text).toContain('Fisher’s exact test, p = .65');
  expect(text).not.toContain('ahead');
  expect(of16(0.25, 0.875)).toContain('B solves more, beyond chance');
});

test('one seed: arms that played the same tasks are compared task by task, which tells more than two shares', () => {
  const solving = (label: string, solved: readonly number[]): TrainedArm => {
    const tasks = Array.from({ length: 64 }, (_, i) => [`task ${i}`, solved.includes(i)] as const);
    const trained = withKnobs(arm(label, { 'eval/success': solved.length / 64, 'eval/tasks': 64 }), {
      env: 'multi-hop',
    });
    return withRun(trained, { solved: new Map(tasks) });
  };
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
  const [a, b] = [solving('A', range(0, 20)), solving('B', range(0, 28))];
  // 31 % against 44 %: two samples of 64 could be so by chance (p .20), eight tasks that all go one way could not (2 · ½⁸)
  expect(comparisonVerdict([a, b])).toContain(
    'tasks A solves 31 % and B 44 %; A alone solves 0, B alone 8: B solves more, beyond chance (task by task, McNemar’s exact test, p = .0078).',
  );
  // the same shares, but of other tasks
  expect(comparisonVerdict([a, solving('B', range(12, 40))])).toContain(
    'A alone solves 12, B alone 20: cannot tell (task by task, McNemar’s exact test, p = .22).',
  );
  expect(comparisonVerdict([a, solving('B', range(20, 40))])).toContain(
    'A solves 31 % and B 31 %; A alone solves 20, B alone 20: cannot tell',
  );
  expect(comparisonVerdict([a, solving('B', range(0, 20))])).toContain('both solve 31 %, and the same ones.');
  // other tasks: nothing to pair
  const others = withRun(b, { solved: new Map([...(b.run.solved ?? [])].map(([task, is]) => [`other ${task}`, is])) });
  expect(comparisonVerdict([a, others])).toContain('Fisher’s exact test');
});

const seeded = (seed: number, a: number, b: number): TrainedArm[] =>
  [arm('A', { 'eval/success': a }), arm('B', { 'eval/success': b })].map((each) => withKnobs(each, { seed }));

test('a long label is written out once; from then on its letter stands for it', () => {
  const labels = ['A (Learning rate η 0.001)', 'B (Learning rate η 0.002)'] as const;
  const solved = new Map(Array.from({ length: 16 }, (_, i) => [`task ${i}`, i > 1] as const));
  const values = { 'rollout/success': 0.5, 'eval/success': 0.875, 'actor/entropy': 0.5 };
  const [a, b] = labels.map((label) => withRun(arm(label, values), { solved })) as [TrainedArm, TrainedArm];
  const other = arm(labels[1], { ...values, 'rollout/success': 0.3, 'eval/success': 0.25, 'actor/entropy': 2 });
  const verdicts = [[a, b], [a, other], [a, other].flatMap((each) => [each, withKnobs(each, { seed: 9 })])];
  for (const verdict of verdicts.map((arms) => comparisonVerdict(arms)))
    for (const label of labels) expect(verdict.split(label), verdict).toHaveLength(2);
});

test('several seeds: a difference is told with its spread, n and an exact test, or cannot be told, with what it would take', () => {
  const arms = [0.55, 0.6, 0.62, 0.5, 0.58, 0.57].map((a, seed) => seeded(seed, a, a - 0.2 - 0.02 * (seed % 2)));
  const told = comparisonVerdict(arms.flat());
  expect(told).toMatch(/^Over 6 seeds, 40 updates each: A solves 57 % of all tasks, B 36 %\./);
  expect(told).toContain(
    'B − A: −21 points (95 %: −22 to −20), higher in 0 of 6 seeds, exact sign test p = .031: A is ahead by more than chance explains.',
  );
  const five = comparisonVerdict(arms.slice(0, 5).flat());
  expect(five).toContain('exact sign test p = .063: cannot tell (about 6 seeds like these would be enough)');
  const unclear = comparisonVerdict([0.2, -0.1, 0.3].flatMap((d, seed) => seeded(seed, 0.5, 0.5 + d)));
  expect(unclear).toContain('exact sign test p = 1: cannot tell (about 37 seeds like these would be enough)');
  expect(five + unclear).not.toContain('ahead');
});

test('several seeds: the sentence says what its p says, in all ways in which up to eight seeds can come out', () => {
  const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n, k - 1) * (n - k + 1)) / k);
  for (let better = 0; better <= 8; better++) {
    for (let tied = 0; better + tied <= 8; tied++) {
      for (let worse = Math.max(0, 2 - better - tied); better + tied + worse <= 8; worse++) {
        const signs = [better, tied, worse].flatMap((n, i) => Array<number>(n).fill([0.25, 0, -0.125][i] ?? 0));
        const told = comparisonVerdict(signs.flatMap((d, seed) => seeded(seed, 0.5, 0.5 + d)));
        const [, p = ''] = /exact sign test p = ([.\d]+)[:.]/.exec(told) ?? [];
        const n = better + worse;
        const tail = Array.from({ length: Math.min(better, worse) + 1 }, (_, k) => choose(n, k)).reduce((a, b) => a + b, 0); // prettier-ignore
        const exact = Math.min(1, (2 * tail) / 2 ** n);
        const what = `${better} better, ${tied} tied, ${worse} worse: ${told}`;
        expect(Number(p), what).toBe(Number(exact.toPrecision(2)));
        expect(told.includes('is ahead by more than chance explains'), what).toBe(exact < 0.05);
        expect(told.includes('cannot tell'), what).toBe(exact >= 0.05);
        expect(told.includes(`equal in ${tied}`), what).toBe(tied > 0);
        if (exact < 0.05) expect(told, what).toContain(`: ${better > worse ? 'B' : 'A'} is ahead`);
      }
    }
  }
});

test('pairs are made within a seed; an arm whose partner is still to come counts for nothing', () => {
  const results = [...seeded(3, 0.5, 0.6), ...seeded(4, 0.5, 0.6), ...seeded(5, 0.5, 0.6).slice(0, 1)];
  expect(pairsOf(results).map(([a, b]) => [a.run.config.seed, b.run.config.seed])).toEqual([
    [3, 3],
    [4, 4],
  ]);
});

test('the comparison of masks turns both off, in the noisy hunt, on six seeds; a further seed changes tasks and draws alone', () => {
  const set = READY_COMPARISONS.find(({ id }) => id === 'mask');
  expect(set?.label).toBe('Both masks on against both off');
  const arms = maskArms();
  expect(arms.length).toBe(12);
  expect(new Set(arms.map(({ config }) => config.seed)).size).toBe(6);
  for (const [i, { config }] of arms.entries()) {
    expect(config).toMatchObject({ env: 'number-hunt', distractors: 6, estimator: 'gae', updates: 40 });
    const value = i % 2 === 0 ? 'on' : 'off';
    expect([config.lossMask, config.advantageMask]).toEqual([value, value]);
  }
  const config = parseConfig({ seed: 7 });
  const from = { config, begun: config, networks: 'the same' } as unknown as Checkpoint;
  const other = withSeed({ label: '', config, from }, 9);
  expect(other.config).toEqual({ ...config, seed: 9 });
  expect(other.from).toEqual({ config: other.config, begun: other.config, networks: 'the same' });
});

test('a verdict says where it began and ended, who is less decided, who was trapped, and that it is one seed', () => {
  const trap: Health = { state: 'trap', since: 48, kind: 'collapse', evidence: [], remedies: [] };
  const text = comparisonVerdict([
    arm('A', { 'rollout/success': 0.6, 'actor/entropy': 0.2 }),
    arm('B', { 'rollout/success': 0.3, 'actor/entropy': 0.9 }, trap),
  ]);
  expect(text).toMatch(/^From update 10 to 50: A solves 60 % of its rollouts, B 30 %\./);
  expect(text).toContain('B is less certain: its entropy is 0.9 nats, against 0.2.');
  expect(text).toContain('B was trapped at update 50.');
  expect(text).toMatch(/Train more seeds\.$/);
  expect(text).not.toContain('held-out'); // not measured
});

test('entropies are not compared where they are taken over other tokens', () => {
  const on = arm('A', { 'rollout/success': 0.6, 'actor/entropy': 0.2 });
  const off = arm('B', { 'rollout/success': 0.6, 'actor/entropy': 1.6 });
  const text = comparisonVerdict([on, withKnobs(off, { lossMask: 'off' })]);
  expect(text).toContain('Don’t compare entropy and KL: for B');
  expect(text).not.toContain('less certain');
  // the mask of entropy and KL counts, also where the loss mask is the same, and where it has a setting of its own
  const own = comparisonVerdict([withKnobs(on, { regularizerTokens: 'off' }), off]);
  expect(own).toContain('Don’t compare entropy and KL: for A');
  const agent = { lossMask: 'off', regularizerTokens: 'on' } as const;
  expect(comparisonVerdict([on, withKnobs(off, agent)])).toContain('B is less certain');
  for (const knob of [{ aggregation: 'seq-mean-token-sum-norm' }, { choiceMask: 'on' }] as const) {
    const averaged = comparisonVerdict([on, withKnobs(off, knob)]);
    expect(averaged).toContain('Don’t compare entropy and KL: the two runs average');
    expect(averaged).not.toContain('less certain');
  }
});

test('a verdict on a run that was to break quotes the alarm, or says that it did not', () => {
  const evidence = [{ sign: 'spread', text: 'The spread is 0.02.', alarming: true }] as const;
  const trap: Health = { state: 'trap', since: 28, kind: 'collapse', evidence, remedies: [] };
  expect(comparisonVerdict([arm('x', { 'rollout/success': 0.5 }, trap)])).toBe(
    'TRAP at update 50: Success went from 50 % to 50 %. The spread is 0.02.',
  );
  expect(comparisonVerdict([arm('x', { 'rollout/success': 0 })])).toMatch(/^No trap in 50 updates this time\./);
});

const SPREAD = 'rollout/in_group_reward_std';
const TRAP: Health = {
  ...{ state: 'trap', since: 28, kind: 'collapse', remedies: [] },
  evidence: [{ sign: 'spread', text: 'The spread is 0.02.', alarming: true }],
};
/** A run that broke at update 50, or did not, and its control, with the spreads that were left of each. */
const broke = (seed: number, spreads: readonly [number, number], health: Health | null): TrainedArm[] =>
  [arm('break it', { [SPREAD]: spreads[0] }, health), arm('control', { [SPREAD]: spreads[1] })].map((each) =>
    withKnobs(each, { seed }),
  );

test('a run that broke is told beside its control: what was left of the spread of each, and that one seed says no more', () => {
  const text = comparisonVerdict(broke(1, [0.02, 0.35], TRAP), SPREAD);
  expect(text).toMatch(/^TRAP at update 50: .* The spread is 0\.02\. The control run had no trap in 50 updates\./);
  expect(text).toContain('smoothed: 0.02, control 0.35.');
  const both = broke(1, [0.02, 0.01], TRAP).map((each) => withRun(each, { health: [{ update: 50, health: TRAP }] }));
  expect(comparisonVerdict(both, SPREAD)).toContain('The control run was trapped too, at update 50.');
});

test('several seeds of the trap are pairs: five that go one way cannot be told by the sign test (p = .063), six can; the spread the same', () => {
  const seeds = [0.35, 0.4, 0.31, 0.37, 0.33, 0.36].map((spread, i) => broke(i + 1, [0.02 + 0.01 * (i % 2), spread], TRAP)); // prettier-ignore
  const five = comparisonVerdict(seeds.slice(0, 5).flat(), SPREAD);
  expect(five).toContain(
    'TRAP on 5 of 5 seeds of break it (at update 50, 50, 50, 50, 50) and on 0 of 5 of the control: cannot tell (5 seeds only break it, 0 only the control, exact sign test p = .063).',
  );
  expect(five).toContain(
    'larger in 0 of 5 seeds, exact sign test p = .063: cannot tell (about 6 seeds like these would be enough)',
  );
  expect(five).toMatch(/On seed 1: The spread is 0\.02\.$/);
  const six = comparisonVerdict(seeds.flat(), SPREAD);
  expect(six).toContain(
    'more than chance explains (6 seeds only break it, 0 only the control, exact sign test p = .031).',
  );
  // differences −.33, −.37, −.29, −.34, −.31, −.33
  expect(six).toContain('difference −0.328 (95 %: −0.357 to −0.3), larger in 0 of 6 seeds, exact sign test p = .031: smaller than chance explains.'); // prettier-ignore
  const alike = [0.1, -0.1, 0.05].map((d, i) => broke(i + 1, [0.3 + d, 0.3], null)).flat();
  const unclear = comparisonVerdict(alike, SPREAD);
  expect(unclear).toMatch(/^TRAP on 0 of 3 seeds of break it and on 0 of 3 of the control: cannot tell \(.* p = 1\)/);
  expect(unclear).toMatch(/: cannot tell \(about \d+ seeds like these would be enough\)/);
});

test('break it has a control: the same task, seed and beginning, of gentle updates, that goes on where the other stops', () => {
  const [broken, control] = collapseArms();
  expect([broken?.stopAtTrap, control?.stopAtTrap]).toEqual([true, undefined]);
  const gentle = { epochs: 1, minibatches: 1, learningRate: 1e-3, entropyCoef: 0.02 };
  expect(control?.config).toEqual({ ...broken?.config, ...gentle });
  expect(broken?.config).toMatchObject({ epochs: 6, entropyCoef: 0 });
});

test('a comparison goes on by itself to as many seeds as a minute takes, six at most', () => {
  const comparison = { title: '', arms: collapseArms(), fork: undefined, maxSeeds: 6 };
  expect([1, 10, 19.9, 20.1, 29, 31, 90].map((seconds) => automaticSeedCount(comparison, seconds))).toEqual([
    5, 5, 2, 1, 1, 0, 0,
  ]);
  expect(automaticSeedCount({ ...comparison, maxSeeds: 1 }, 1)).toBe(0);
  expect(automaticSeedCount({ title: '', arms: maskArms(), fork: undefined }, 1)).toBe(0); // six were asked for
});

test('a knob is flipped to its other word, or doubled within its range', () => {
  const config = parseConfig();
  expect(suggestedValue('lossMask', config)).toBe('off');
  expect(suggestedValue('learningRate', { ...config, learningRate: 0.001 })).toBe(0.002);
  expect(suggestedValue('clipLow', { ...config, clipLow: 1 })).toBe(0.5);
});

test('the kernels of a run are kept with it, and a record with anything odd in their place is not read', () => {
  const kernels = { set: 'workgroup', why: 'measured' };
  const run = runWithDefaults({
    ...{ id: 2, name: 'n', started: '2026-11-21T00:00:00Z', backend: { kind: 'gpu', adapter: 'x' } },
    ...{ begun: parseConfig(), update: 50, kernels },
  });
  expect(readRun(runText(run))).toMatchObject({ kernels, backend: { kind: 'gpu', adapter: 'x' } });
  for (const odd of [null, 3, 'workgroup', { products: 7 }]) {
    const fields = JSON.parse(runText(run)) as Record<string, unknown>;
    delete fields['sum']; // as of an older page
    expect(readRun(JSON.stringify(fields))).not.toBeNull();
    expect(readRun(JSON.stringify({ ...fields, kernels: odd }))).toBeNull();
  }
});

test('a curve is named by its arm, while it trains and once it is kept; other runs by their number', () => {
  const run = runWithDefaults({ id: 2, name: 'Masks: both masks off', arm: 'both masks off', started: '2026-11-21T00:00:00Z', begun: parseConfig(), update: 50 }); // prettier-ignore
  expect(chartName({ ...run, id: 0 })).toBe('both masks off');
  expect(chartName(readRun(runText(run))!)).toBe('both masks off');
  const { arm: label, ...alone } = run;
  expect(label).toBeDefined();
  expect(chartName(readRun(runText(alone))!)).toBe('#2');
  const fields = JSON.parse(runText(run)) as Record<string, unknown>;
  delete fields['sum'];
  expect(readRun(JSON.stringify({ ...fields, arm: 3 }))).toBeNull();
});

test('a fork is kept with its run', () => {
  const run = runWithDefaults({
    ...{ id: 2, name: 'n', started: '2026-11-21T00:00:00Z', begun: parseConfig(), update: 50 },
    fork: { run: 1, update: 10 },
  });
  expect(readRun(runText(run))?.fork).toEqual({ run: 1, update: 10 });
  const { fork, ...alone } = run;
  expect(fork).toBeDefined();
  expect(readRun(runText(alone))?.fork).toBeUndefined();
});

test('a run that an older page kept is read: knobs, curves, kernels, fork', () => {
  const kept =
    '{"id":4,"name":"Number hunt · GRPO","started":"2026-11-20T10:00:00.000Z","backend":"WebGPU llvmpipe","changes":[{"update":3,"text":"η"}],"update":5,"curves":{"rollout/success":{"x":[2,5],"mean":[0.25,0.5],"smooth":[0.2,0.4]}},"fork":{"run":1,"update":2},"config":"#/lab?v=1&seed=9"}';
  const run = readRun(kept);
  expect(run).toMatchObject({ id: 4, update: 5, backend: { kind: 'gpu', adapter: 'llvmpipe' }, fork: { run: 1 } });
  expect([run?.begun.seed, run?.config.seed]).toEqual([9, 9]);
  const series = run?.series.get('rollout/success');
  expect([series?.lastSmoothed, series?.lastValue, series?.length]).toEqual([0.4, 0.5, 2]);
});

test('a comparison’s progress names the arm under way, its seed, and a worker that does not answer', () => {
  const config = parseConfig({ seed: 3 });
  const arms = [3, 4].flatMap((seed) => ['A', 'B'].map((label) => ({ label, config: { ...config, seed } })));
  const state = { ...useComparison.getState(), comparison: { title: '', arms, fork: undefined }, update: 7 };
  expect(progressWords(state)).toBe(`Seed 1 of 2 · A: update 7/${config.updates} · B: waiting`);
  const results = ['A', 'B', 'A'].map((label) => arm(label, { 'rollout/success': 0.5 }));
  expect(progressWords({ ...state, results, silent: true })).toBe(
    `Seed 2 of 2 · A: 50 % at update 50 · B: update 7/${config.updates}. Its worker has not answered for 10 s. It’s busy or stuck; Cancel ends it.`,
  );
});
