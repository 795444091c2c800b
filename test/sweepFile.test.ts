import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { ConfigError } from '../src/config/configProblem.ts';
import { problemText } from '../src/base/problem.ts';
import { type RunResult, runKey } from '../src/experiments/runResult.ts';
import { plannedRuns, planOf } from '../src/experiments/experimentPlan.ts';
import { tableCsv, tableJson, tableMarkdown } from '../src/experiments/experimentExports.ts';
import { resultTable } from '../src/experiments/resultTable.ts';
import { EXPERIMENT_NAMES, EXPERIMENTS } from '../src/experiments/experimentList.ts';
import { parseSweep, planText } from '../src/experiments/sweepFile.ts';
import { type Experiment, isRunArm } from '../src/experiments/experimentDefinition.ts';

const GRID = {
  preset: 'number-hunt',
  set: { prompts: 4, groupSize: 2 },
  grid: { learningRate: [0.001, 0.01], estimator: ['grpo', 'rloo'] },
  seeds: [1, 2, 3],
  updates: 5,
};
const RANDOM = {
  random: {
    learningRate: { min: 1e-4, max: 1e-2, log: true },
    epochs: { min: 1, max: 4 },
    estimator: ['grpo', 'rloo'],
  },
  samples: 400,
  seed: 3,
};
const sweepOf = (file: object) => parseSweep(JSON.stringify(file));
const knobsOf = (file: object) =>
  sweepOf(file)
    .experiment.arms.filter(isRunArm)
    .map(({ set }) => set);
const problemsOf = (of: () => unknown): string[] => {
  try {
    of();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(problemText);
    throw error;
  }
  return [];
};

describe('the runs of a sweep', () => {
  it('are a grid with every seed, seed by seed, each with a file name of its own', () => {
    const runs = plannedRuns(sweepOf(GRID));
    expect(runs.slice(0, 5).map(({ arm, seed }) => `${arm} ${seed}`)).toEqual([
      'learningRate=0.001 estimator=grpo 1',
      'learningRate=0.001 estimator=rloo 1',
      'learningRate=0.01 estimator=grpo 1',
      'learningRate=0.01 estimator=rloo 1',
      'learningRate=0.001 estimator=grpo 2',
    ]);
    expect(runs[2]?.config).toMatchObject({ learningRate: 0.01, estimator: 'grpo', prompts: 4, updates: 5, seed: 1 });
    const keys = runs.map(runKey);
    expect(new Set(keys).size).toBe(12);
    for (const key of keys) expect(key).toMatch(/^[\w=.,-]{1,140}$/); // a name that any file system takes
    expect(runs.every(({ config }) => config.backend === 'cpu')).toBe(true);
  });

  it('are found again after the file was changed around them, and not where their knobs were', () => {
    const keys = (file: object) => plannedRuns(sweepOf(file)).map(runKey);
    const more = keys({
      ...GRID,
      grid: { learningRate: [0.1, 0.001, 0.01], estimator: ['rloo', 'grpo'] },
      seeds: [3, 2, 1],
    });
    expect(more).toEqual(expect.arrayContaining(keys(GRID)));
    const other = keys({ ...GRID, updates: 6 });
    expect(other.filter((key) => keys(GRID).includes(key))).toEqual([]);
  });

  it('of random search are the same draws for the same seed, whatever the order in the file, within their ranges', () => {
    const drawn = knobsOf(RANDOM);
    const { estimator, ...ranges } = RANDOM.random;
    expect(knobsOf({ ...RANDOM, random: { estimator, ...ranges } })).toEqual(drawn);
    expect(knobsOf({ ...RANDOM, seed: 4 })[0]).not.toEqual(drawn[0]);
    const rates = drawn.map(({ learningRate }) => Number(learningRate));
    expect(Math.min(...rates)).toBeGreaterThanOrEqual(1e-4);
    expect(Math.max(...rates)).toBeLessThanOrEqual(1e-2);
    // evenly over decades: half below the geometric middle; 400 draws stay within 0.1 of it but for 6e-5 of all seeds
    expect(Math.abs(rates.filter((rate) => rate < 1e-3).length / rates.length - 0.5)).toBeLessThan(0.1);
    for (const epochs of [1, 2, 3, 4]) {
      expect(Math.abs(drawn.filter((knobs) => knobs.epochs === epochs).length / drawn.length - 0.25)).toBeLessThan(0.1);
    }
  });

  it('of random search count once where a draw comes twice', () => {
    expect(knobsOf({ random: { epochs: [1, 2] }, samples: 50 })).toHaveLength(2);
  });

  it('that are impossible are told before any begins, by their knobs', () => {
    const told = problemsOf(() => plannedRuns(sweepOf({ set: { width: 32, kvHeads: 1 }, grid: { heads: [2, 3] } })));
    expect(told).toEqual([expect.stringMatching(/^heads=3: heads: 3, but width 32 must be a multiple of it/)]);
    const many = Array.from({ length: 400 }, (_, i) => i + 1);
    expect(
      problemsOf(() => plannedRuns(sweepOf({ grid: { updates: many, range: [2, 3, 4] }, seeds: many })))[0],
    ).toMatch(/plans 480000 runs, and the limit is 100000/);
  });
});

describe('the table of a sweep', () => {
  const sweep = sweepOf(GRID);
  const runs = plannedRuns(sweep);
  const result = (at: number, last: number): RunResult => {
    const { config, arm, seed } = runs[at]!;
    const metrics = { 'eval/success': { first: 0, last, best: last, mean: last } };
    const rest = { curve: [], heldOut: [], health: [], skipped: 0, seconds: 1, backend: 'cpu' };
    return { version: 1, experiment: 'sweep', arm, seed, config, metrics, ...rest };
  };

  const rowsOf = (table: ReturnType<typeof resultTable>) =>
    (JSON.parse(tableJson(table)) as { rows: { knobs: object; n: number; mean: number | null; values: (number | null)[]; interval: { high: number } | null }[] }).rows; // prettier-ignore

  it('is sorted by the mean, with t intervals; what is missing is last and empty', () => {
    const table = resultTable(sweep, [result(0, 0.2), result(4, 0.4), result(1, 0.5), result(2, 0.1)]);
    expect(table).toMatchObject({ done: 4, planned: 12 });
    expect(rowsOf(table).map(({ knobs, n, mean, values }) => [knobs, n, mean, values])).toEqual([
      [{ learningRate: 0.001, estimator: 'rloo' }, 1, 0.5, [0.5, null, null]],
      [{ learningRate: 0.001, estimator: 'grpo' }, 2, expect.closeTo(0.3, 12), [0.2, 0.4, null]],
      [{ learningRate: 0.01, estimator: 'grpo' }, 1, 0.1, [0.1, null, null]],
      [{ learningRate: 0.01, estimator: 'rloo' }, 0, null, [null, null, null]],
    ]);
    // t(0.975, 1) = 12.706; sd/√2 = 0.1
    expect(rowsOf(table)[1]?.interval?.high).toBeCloseTo(0.3 + 1.2706, 3);
    expect(tableCsv(table).split('\r\n').slice(0, 2)).toEqual([
      'learningRate,estimator,n,eval/success: mean,t 95 % low,t 95 % high,seed 1,seed 2,seed 3',
      '0.001,rloo,1,0.5,,,0.5,,',
    ]);
    expect(JSON.parse(tableJson(table))).toMatchObject({
      metric: 'eval/success',
      rows: [{ n: 1, mean: 0.5 }, {}, {}, {}],
    });
    expect(tableMarkdown(table)).toMatch(
      /\| 0\.001 \| grpo \| 2 \| 0\.300 \| −0\.971 to 1\.571 \| 0\.200 \| 0\.400 \| – \|/,
    );
    const lower = resultTable(sweepOf({ ...GRID, better: 'lower' }), [result(0, 0.2), result(1, 0.5)]);
    expect(rowsOf(lower).map(({ mean }) => mean)).toEqual([0.2, 0.5, null, null]);
  });

  it('counts no result of other knobs, be it called as a run is', () => {
    const found = result(0, 0.2);
    const other = { ...found, config: { ...found.config, gamma: 0.5 } };
    expect(resultTable(sweep, [found]).done).toBe(1);
    expect(resultTable(sweep, [other]).done).toBe(0);
  });
});

const PAIR = {
  ...{ preset: 'none', set: { prompts: 4, groupSize: 2 }, updates: 3, seeds: [1, 2] },
  arms: [{ set: { gamma: 0.5 } }, { label: 'far', set: { gamma: 1 }, comparedWith: 'gamma=0.5' }],
};

describe('a file with its arms one by one', () => {
  it.each(EXPERIMENT_NAMES)('can be any listed experiment: %s has the same runs, columns and references', (name) => {
    const experiment: Experiment = EXPERIMENTS[name];
    const listed = planOf({ experiment: name, seeds: 3, arms: [], updates: null, backend: 'cpu' });
    const read = parseSweep(planText(listed));
    const runsOf = (plan: typeof listed) => plannedRuns(plan).map((run) => ({ ...run, experiment: '' }));
    expect(runsOf(read)).toEqual(runsOf(listed));
    const { label, question, doc, columns, headline } = experiment;
    expect(read.experiment).toMatchObject({ label, question, doc, columns, headline });
    const besidesRuns = ({ arms }: Experiment) => arms.map((arm) => ({ ...arm, published: undefined, set: undefined }));
    expect(besidesRuns(read.experiment)).toEqual(besidesRuns(experiment));
    expect(JSON.parse(planText(read))).toEqual(JSON.parse(planText(listed)));
  });

  it('is written with what the form of the page chose: arms, seeds, updates, backend', () => {
    const chosen = planOf({ experiment: 'learning', seeds: 2, arms: ['bandit', 'sokoban-expert'], updates: 7, backend: 'auto' }); // prettier-ignore
    const read = parseSweep(planText(chosen));
    expect(plannedRuns(read).map(({ arm, seed, config }) => [arm, seed, config.updates, config.backend])).toEqual([
      ['sokoban-expert', 1, 7, 'auto'],
      ['bandit', 1, 7, 'auto'],
      ['sokoban-expert', 2, 7, 'auto'],
      ['bandit', 2, 7, 'auto'],
    ]);
    expect(read.experiment.arms.some(({ comparedWith }) => comparedWith !== undefined)).toBe(false); // it was not chosen
  });

  it('has paired differences in the order of the file, and needs no key or label', () => {
    const plan = sweepOf(PAIR);
    const last = new Map([['gamma=0.5 1', 0.25], ['gamma=0.5 2', 0.5], ['far 1', 0.5], ['far 2', 1]]); // prettier-ignore
    const results = plannedRuns(plan).map(({ config, arm, seed }): RunResult => {
      const value = last.get(`${arm} ${seed}`) ?? NaN;
      const metrics = { 'eval/success': { first: 0, last: value, best: value, mean: value } };
      return { version: 1, experiment: 'own-1', arm, seed, config, metrics, curve: [], heldOut: [], health: [], skipped: 0, seconds: 1, backend: 'cpu' }; // prettier-ignore
    });
    const [first, far] = resultTable(plan, results).rows;
    expect(first).toMatchObject({ arm: { key: 'gamma=0.5' }, difference: null });
    // differences .25 and .5, mean .375; half the interval is 12.706 · (.25 / √2) / √2
    expect(far?.difference).toMatchObject({ mean: 0.375, better: 2 });
    expect(far?.difference?.interval?.high).toBeCloseTo(0.375 + 12.706 * 0.125, 3);
  });
});

test('the examples that are shipped read', () => {
  expect(plannedRuns(parseSweep(readFileSync('examples/sweep.json', 'utf8')))).toHaveLength(16);
  expect(plannedRuns(parseSweep(readFileSync('examples/experiment.json', 'utf8')))).toHaveLength(18);
});

// prettier-ignore
test.each<[string, object | string, RegExp]>([
  ['text', '{"grid":', /^The file isn’t JSON \(.*\)\. Compare it with examples/],
  ['a list', '[1]', /^file: found a list, expected an object\./],
  ['an unknown part', { grid: {}, sweep: 1 }, /^sweep: found an unknown key, expected one of label, question, .*Take it out\./],
  ['a __proto__', '{"grid":{},"__proto__":{"preset":"x"}}', /^__proto__: found an unknown key, expected one of/],
  ['an unknown preset', { grid: {}, preset: 'chess' }, /^preset: found chess, expected one of number-hunt/],
  ['no search', {}, /^grid: found neither arms nor grid nor random, expected one of arms, grid, random\./],
  ['two searches', { grid: {}, random: {}, samples: 1 }, /^random: found grid and random, expected one of arms, grid, random\./],
  ['an unknown knob', { grid: { speed: [1] } }, /^grid\.speed: found an unknown knob, expected one of env, range/],
  ['a value out of range', { grid: { gamma: [0.5, 7] } }, /^grid\.gamma\[1\]: 7 isn’t a number from 0 to 1\./],
  ['no list', { grid: { gamma: 0.5 } }, /^grid\.gamma: found 0\.5, expected a list of values\./],
  ['a value twice', { grid: { gamma: [1, 1] } }, /^grid\.gamma: found 1 twice, expected each value once\./],
  ['a knob in two places', { set: { gamma: 1 }, grid: { gamma: [1] } }, /^grid\.gamma: found a knob that is also in set, expected it in one place\./],
  ['two updates', { set: { updates: 1 }, updates: 2, grid: {} }, /^updates: found it also in set, expected it in one place\./],
  ['the seed as a knob', { grid: { seed: [1] } }, /^grid\.seed: found the seed, expected it in seeds\./],
  ['samples of a grid', { grid: {}, samples: 3 }, /^samples: found it without random, expected it only in a random search\./],
  ['no samples', { random: {} }, /^samples: found nothing, expected a whole number from 1 to 100000\./],
  ['a range upside down', { random: { gamma: { min: 1, max: 0 } }, samples: 1 }, /^random\.gamma: found min 1 above max 0, expected min at most max\./],
  ['a logarithm of 0', { random: { gamma: { min: 0, max: 1, log: true } }, samples: 1 }, /^random\.gamma\.min: found 0, expected a number above 0 with log\./],
  ['a range of words', { random: { estimator: { min: 0, max: 1 } }, samples: 1 }, /^random\.estimator: found an object, expected a list of values\./],
  ['a clock as metric', { grid: {}, metric: 'time/update' }, /^metric: found time\/update, expected one of critic/],
  ['a seed that is none', { grid: {}, seeds: [1.5] }, /^seeds\[0\]: 1\.5 isn’t a whole number/],
  ['no seeds', { grid: {}, seeds: [] }, /^seeds: found an empty list, expected a list of whole numbers\./],
  ['arms beside a grid', { ...PAIR, grid: {} }, /^grid: found arms and grid, expected one of arms, grid, random\./],
  ['no list of arms', { arms: { a: 1 } }, /^arms: found an object, expected a list of objects\./],
  ['an arm that is none', { arms: [7] }, /^arms\[0\]: found 7, expected an object\./],
  ['an unknown part of an arm', { arms: [{ sets: {} }] }, /^arms\[0\]\.sets: found an unknown key, expected one of key, label/],
  ['a bad value in an arm', { arms: [{ set: { gamma: 7 } }] }, /^arms\[0\]\.set\.gamma: 7 isn’t a number from 0 to 1\./],
  ['an arm twice', { arms: [{ set: {} }, { label: 'as set' }] }, /^arms\[1\]: found as set twice, expected each key or label once\./],
  ['a reference that is none', { arms: [{ comparedWith: 'x' }] }, /^arms\[0\]\.comparedWith: found x, expected the key .* of another arm\. There is as set\./],
  ['runs borrowed from an arm without any', { arms: [{ key: 'a', borrowedFrom: 'b' }, { key: 'b', borrowedFrom: 'a' }] }, /^arms\[0\]\.borrowedFrom: found b, expected/],
  ['a column of no metric', { ...PAIR, columns: [{ metric: 'x' }] }, /^columns\[0\]\.metric: found x, expected one of critic/],
  ['a label that hides', { ...PAIR, label: 'a\u202eb' }, /^label: found a‹U\+202E›b, expected a text of at most 120 visible characters\./],
  ['own facts', { set: { env: 'your-facts' }, grid: {} }, /^set\.env: found your-facts, expected an environment that needs no facts file\./],
  ['own environment', { set: { env: 'your-environment' }, grid: {} }, /^set\.env: found your-environment, expected an environment that needs no file\./],
])('%s is refused with place, got, want and what to do', (_, file, told) => {
  expect(problemsOf(() => parseSweep(typeof file === 'string' ? file : JSON.stringify(file)))[0]).toMatch(told);
});

test('300 files that were changed at random are read, or refused with place, got and want; none ends in anything else', () => {
  // prettier-ignore
  const values = [null, true, -1, 1e308, 0.5, '', 'NaN', '\u202e', [], {}, [[1]], { min: 'x' }, '__proto__', 1e9, 'off'] as const;
  const strange = ['constructor', 'toString', 'x'.repeat(9000), '0', 'gamma'];
  /** Keys of a file and of what lies in it, by the key it lies under. */
  const keysOf = (file: object) =>
    [['', file] as const, ...Object.entries(file)].flatMap(([under, place]: readonly [string, unknown]) =>
      typeof place === 'object' && place !== null
        ? [...Object.keys(place), ...strange].map((key) => [under, key] as const)
        : [],
    );
  const changed = fc.constantFrom(...values).map((value) => ({ value }));
  const changes = fc.oneof({ weight: 4, arbitrary: changed }, fc.constant(null)); // null: the key is deleted
  const cuts = (length: number) => fc.oneof({ weight: 5, arbitrary: fc.constant(length) }, fc.nat(length - 1));
  const cases = fc.constantFrom(GRID, RANDOM).chain((file) => {
    const cut = cuts(JSON.stringify(file).length);
    return fc.tuple(fc.constant(file), fc.constantFrom(...keysOf(file)), changes, cut);
  });
  let refused = 0;
  const judge = fc.property(cases, ([file, [under, key], change, cut]) => {
    const broken = structuredClone(file) as unknown as Record<string, object>;
    const place = under === '' ? broken : (broken[under] ?? broken);
    if (change) Object.defineProperty(place, key, { ...change, enumerable: true, configurable: true });
    else Reflect.deleteProperty(place, key);
    const text = JSON.stringify(broken);
    const isWhole = cut === JSON.stringify(file).length;
    const told = problemsOf(() => plannedRuns(parseSweep(isWhole ? text : text.slice(0, cut))));
    // a contradiction says both sides; the last line of many counts the rest
    for (const problem of told)
      expect(problem).toMatch(
        /^[^\n]+: (?:found [^\n]+, expected [^\n]+|[^\n]+ isn’t [^\n]+|[^\n]+, but [^\n]+)$|^and \d+ more|^The file isn’t JSON/,
      );
    if (told.length > 0) refused++;
  });
  fc.assert(judge, { seed: 17, numRuns: 300 });
  expect(refused).toBeGreaterThan(200);
});
