import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseConfig, type RunConfig } from '../../src/config/config.ts';
import type { MetricName } from '../../src/domain/metrics.ts';
import type { Health, HealthState } from '../../src/domain/health.ts';
import { summarizeRun, distinctTasks, type SummaryState } from '../../src/page/words/runSummary.ts';
import { summarySentence, summaryWords } from '../../src/page/words/sentences.ts';
import { Series } from '../../src/runs/series.ts';
import { shownText, shownValue } from '../../src/page/words/metricText.ts';
import { Purpose, random } from '../../src/base/rng.ts';
import { shippedRecording } from '../shippedRecording.ts';

function curve(values: readonly number[], from = 1, every = 1): Series {
  const series = new Series();
  values.forEach((y, i) => series.push(from + i * every, y));
  return series;
}
/** Success of updates: `level` with the scatter of 128 rollouts, the same in every test. */
const scatter = (i: number) => {
  const x = 43758.5453 * Math.sin(12.9898 * (i + 1));
  return x - Math.floor(x) - 0.5; // even, from −½ to ½, and of neighbours independent
};
const noisy = (levels: readonly number[]) => levels.map((level, i) => level + 0.1 * scatter(i));
const ramp = (from: number, to: number, n: number) =>
  noisy(Array.from({ length: n }, (_, i) => from + ((to - from) * i) / (n - 1)));
const level = (at: number, n: number) => noisy(Array<number>(n).fill(at));

interface History {
  readonly success: readonly number[];
  readonly held?: readonly number[];
  readonly sampled?: readonly number[];
  readonly tasks?: number;
  readonly health?: HealthState;
}
const MANY = parseConfig({ env: 'multi-hop', evalTasks: 128 });
const FEW = parseConfig({ env: 'number-hunt', evalTasks: 128 });

function seriesOf({ success, held, sampled, tasks }: History) {
  const series = new Map<MetricName, Series>([['rollout/success', curve(success)]]);
  if (held) series.set('eval/success', curve(held, 0, 10));
  if (sampled) series.set('eval/success_sampled', curve(sampled, 0, 10));
  if (tasks) series.set('eval/tasks', curve([tasks], 0));
  return series;
}
function healthOf(state: HealthState): Health {
  const evidence = [{ sign: 'spread', text: 'The spread is 0.02.', alarming: state === 'trap' }] as const;
  return { state, since: 20, kind: null, evidence: state === 'ok' ? [] : evidence, remedies: [] };
}
const summaryIn = (history: History, config: RunConfig = MANY) =>
  summarizeRun(seriesOf(history), healthOf(history.health ?? 'ok'), config);
const told = (history: History, finished = false, config: RunConfig = MANY) => {
  const summary = summaryIn(history, config);
  return summary ? summarySentence(summary, healthOf(history.health ?? 'ok'), finished) : null;
};

const rows: readonly (readonly [what: string, history: History, state: SummaryState])[] = [
  ['success rises', { success: ramp(0.2, 0.7, 40) }, 'learning'],
  ['success and held-out success rise', { success: ramp(0.2, 0.7, 40), held: [0.2, 0.4, 0.6, 0.68] }, 'learning'],
  ['it rises and the monitor says TRAP', { success: ramp(0.2, 0.7, 40), health: 'trap' }, 'trapped'],
  ['it rises and the monitor says WATCH', { success: ramp(0.2, 0.7, 40), health: 'watch' }, 'watched'],
  [
    'held-out success falls from 15 to 3 %, nothing else moves',
    { success: level(0.1, 40), held: [0.15, 0.12, 0.06, 0.03] },
    'falling',
  ],
  ['held-out success falls while success rises', { success: ramp(0.2, 0.7, 40), held: [0.5, 0.4, 0.3, 0.2] }, 'apart'],
  ['success rose and fell again', { success: [...ramp(0.2, 0.8, 30), ...ramp(0.8, 0.3, 30)] }, 'falling'],
  ['success falls from the start', { success: ramp(0.6, 0.2, 40) }, 'falling'],
  ['success stands at .5', { success: level(0.5, 60) }, 'stalled'],
  ['it learned and stands since', { success: [...ramp(0.2, 0.6, 20), ...level(0.6, 40)] }, 'stalled'],
  ['training rises, greedy evaluation stays', { success: ramp(0.2, 0.7, 40), held: [0.34, 0.34, 0.34, 0.34] }, 'unconfirmed'], // prettier-ignore
  [
    'training rises, greedy evaluation stays, sampled evaluation rises',
    { success: ramp(0.2, 0.7, 40), held: [0.34, 0.34, 0.34, 0.34], sampled: [0.2, 0.4, 0.6, 0.7] },
    'learning',
  ],
  [
    'training solves nearly everything, evaluation a third',
    { success: level(0.96, 60).map((x) => Math.min(1, x)), held: [0.3, 0.34, 0.34] },
    'unconfirmed',
  ],
  ['success rises slowly and surely, 8 points in twenty updates', { success: ramp(0.2, 0.44, 60) }, 'learning'],
  ['success stands at .96', { success: level(0.96, 60).map((x) => Math.min(1, x)) }, 'solved'],
  ['a few updates of scatter', { success: level(0.3, 8) }, 'unclear'],
  ['held-out success rises, training has hardly begun', { success: level(0.3, 5), held: [0.2, 0.6] }, 'learning'],
  ['TRAP beside a perfect score', { success: level(0.96, 60).map((x) => Math.min(1, x)), health: 'trap' }, 'trapped'],
];

describe('how a run goes, from its numbers', () => {
  test.each(rows)('%s', (_, history, state) => {
    expect(summaryIn(history)?.state).toBe(state);
  });

  test.each(rows)(
    '%s: the headline has at most twelve words and a number, and no more than greedy and sampled need, running or finished',
    (_, history) => {
      const summary = summaryIn(history);
      for (const finished of [false, true]) {
        const { headline } = summaryWords(summary!, healthOf(history.health ?? 'ok'), finished);
        expect(headline.split(/\s+/).filter((word) => /[a-z]/i.test(word)).length).toBeLessThanOrEqual(12);
        expect(headline.match(/\d+ (?:%|points)(?! →)/g)?.length ?? 0).toBeLessThanOrEqual(history.sampled ? 2 : 1);
        expect(headline).toMatch(/\d/);
      }
    },
  );

  test('nothing is said of fewer than three updates', () => {
    expect(summaryIn({ success: [0.3, 0.4] })).toBeNull();
  });

  test('no headline says learning where the monitor says TRAP or WATCH, or where something falls', () => {
    for (const [, history, state] of rows) {
      if (state === 'learning') expect(told(history)).toMatch(/^(Learning|Learned|Still improving)/);
      else if (state === 'unconfirmed') expect(told(history)).toMatch(/^Better in training, not/);
      else expect(told(history)).not.toMatch(/learning\b(?! rate)/i);
    }
  });
});

describe('on curves of real runs', () => {
  const { series: recorded, config: begun } = shippedRecording('number-hunt');
  const upTo = (update: number) =>
    summarizeRun(new Map([...recorded].map(([name, curve]) => [name, Series.of(curve.upTo(update))])), null, begun);
  const runs = readFileSync('public/experiments/learning.jsonl', 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { arm: string; seed: number; curve: number[] });
  const run = (preset: string, number: number, updates: number) => {
    const values = runs.find(({ arm, seed }) => arm === preset && seed === number)?.curve.slice(0, updates) ?? [];
    return summaryIn({ success: values });
  };

  test('the default run goes from 62 to 83 % in its last sixty updates, and is never called stalled', () => {
    const states = Array.from({ length: 61 }, (_, i) => upTo(100 + i)?.state);
    expect(new Set(states)).toEqual(new Set(['learning']));
    // least squares over thirty updates, worked out apart: 30 · .00241, 30 · .00440, 30 · .00302
    expect([100, 120, 160].map((update) => upTo(update)?.drift?.change)).toEqual(
      [0.0722, 0.1321, 0.0907].map((change) => expect.closeTo(change, 3) as number),
    );
    const [headline] = summarySentence(upTo(160)!, null, false).split('. ');
    expect(headline).toBe('Still improving, slowly: greedy 31 % → 88 %, sampled 23 % → 83 %');
  });

  // seen on the chart: both ends of the shelf lie at the same height, and it is quiet enough to say so
  test.each([
    ['number-hunt', 1, 160, 'stalled', 'at 85 % since update 125'],
    ['document-search', 2, 160, 'learning', 'at 63 % since update 100, but noisy: room for ± 5 points'],
    ['number-hunt', 2, 160, 'learning', 'from 75 to 79 % in its last thirty'],
    ['document-search', 1, 160, 'learning', 'noisier: room for −9 to +12 points'],
    ['frozen-lake', 1, 60, 'learning', 'noisier: room for −4 to +22 points'],
    ['multi-hop', 3, 30, 'learning', 'it has begun'],
    ['multi-hop', 3, 20, 'unclear', 'it has not'],
    ['countdown', 2, 60, 'learning', 'from 69 to 57 %, but the best ten of sixty updates are high by chance too'],
    ['calculator', 1, 60, 'solved', 'at 96 %'],
  ] as const)('%s, seed %i, after %i updates: %s (%s)', (...[preset, seed, updates, state]) => {
    expect(run(preset, seed, updates)?.state).toBe(state);
  });

  test('a stall leaves little room for a change over its whole stretch; noise alone is never stalled', () => {
    const flats = runs.flatMap(({ curve: values }) => summaryIn({ success: values })?.flat ?? []);
    expect(flats.length).toBeGreaterThan(5);
    for (const { change, interval, updates } of flats) {
      expect(updates).toBeGreaterThanOrEqual(30);
      // two one-sided tests at 5 %: t(28) at .95 is 1.701 of the 2.048 that the shown interval has, at ∞ 1.645 of 1.960
      const halfWidth = interval.high - change;
      expect(Math.abs(change) + (1.645 / 1.96) * halfWidth).toBeLessThan(0.051);
    }
    const loud = Array.from({ length: 30 }, (_, i) => 0.5 + 0.6 * scatter(i));
    expect(summaryIn({ success: loud })?.state).toBe('unclear');
  });
});

describe('on simulated runs, each update the mean of 64 rollouts', () => {
  const line = (from: number, to: number, n: number) =>
    Array.from({ length: n }, (_, i) => from + ((to - from) * i) / (n - 1));
  /** States and headlines of `count` runs whose success has these means. */
  function simulate(means: readonly number[], count: number, seed: number) {
    const draw = random(seed, Purpose.environment);
    return Array.from({ length: count }, () => {
      const success = means.map((p) => p + Math.sqrt((p * (1 - p)) / 64) * draw.normal());
      return { state: summaryIn({ success })?.state, headline: told({ success })?.split('. ')[0] ?? '' };
    });
  }
  const shareOf = (runs: ReturnType<typeof simulate>, ...states: readonly SummaryState[]) =>
    runs.filter(({ state }) => state !== undefined && states.includes(state)).length / runs.length;

  test.each([
    [160, 300, 47],
    [600, 60, 48],
    [2000, 20, 49],
  ])(
    'a straight rise from .62 to .83 in %i updates is learning, and stalled at most twice in a hundred',
    (updates, count, seed) => {
      // prettier-ignore
      const simulated = simulate(line(0.62, 0.83, updates), count, seed);
      expect(shareOf(simulated, 'stalled')).toBeLessThanOrEqual(0.02);
      expect(shareOf(simulated, 'learning')).toBeGreaterThanOrEqual(0.97);
    },
  );

  test('a straight fall from .85 to .75 in 2,000 updates is falling, and the headline has the fall', () => {
    for (const { state, headline } of simulate(line(0.85, 0.75, 2000), 20, 50)) {
      expect(state).toBe('falling');
      const [, points, over] = /−(\d+(?:\.\d)?) points over the last (\d+) updates/.exec(headline) ?? [];
      expect(Number(points) / Number(over)).toBeGreaterThan(5 / 2000); // the line falls by 10 in 2,000
      expect(Number(points) / Number(over)).toBeLessThan(20 / 2000);
    }
  });

  test('success that stays at .5 is called a rise or a fall at most once in ten, whatever the number of looks', () => {
    for (const [updates, seed] of [[60, 51], [160, 52], [600, 53]] as const) // prettier-ignore
      expect(shareOf(simulate(line(0.5, 0.5, updates), 100, seed), 'learning', 'falling', 'solved')).toBeLessThanOrEqual(0.1); // prettier-ignore
    expect(shareOf(simulate(line(0.5, 0.5, 300), 100, 54), 'stalled')).toBeGreaterThanOrEqual(0.9);
  });

  test('success that rose to .6 in twenty updates and stayed for two hundred has learned, then stalled', () => {
    const simulated = simulate([...line(0.2, 0.6, 20), ...line(0.6, 0.6, 200)], 100, 55);
    expect(shareOf(simulated, 'stalled')).toBeGreaterThanOrEqual(0.8);
    for (const { state, headline } of simulated) if (state === 'stalled') expect(headline).toContain('Learned, then');
  });
});

describe('different tasks are counted, not episodes', () => {
  test('.75 against .875 of 16 tasks is two tasks and cannot be told; of 128 different ones it can be', () => {
    const held = [0.6875, 0.875];
    const few = parseConfig({ env: 'multi-hop', evalTasks: 16 });
    expect(summaryIn({ success: level(0.4, 8), held }, few)?.heldOut).toMatchObject({ tasks: 16, changed: 'unclear' });
    expect(summaryIn({ success: level(0.4, 8), held }, MANY)?.heldOut).toMatchObject({ tasks: 128, changed: 'more' });
  });

  test('what the run reports goes before what its environment is known to hold', () => {
    expect(distinctTasks(seriesOf({ success: [0.1], tasks: 40 }), FEW)).toBe(40);
    expect(distinctTasks(seriesOf({ success: [0.1] }), FEW)).toBe(16);
    expect(distinctTasks(seriesOf({ success: [0.1] }), parseConfig({ env: 'number-hunt', evalTasks: 8 }))).toBe(8);
    expect(distinctTasks(seriesOf({ success: [0.1] }), parseConfig({ env: 'bandit', evalTasks: 128 }))).toBe(8);
  });

  test('a sample of tasks has its exact interval, all tasks there are have none and no test: 12 of 16', () => {
    const held = { success: ramp(0.2, 0.7, 40), held: [0.25, 0.75] };
    const all = told(held, false, FEW);
    expect(all).toMatch(/; all 16 tasks \(greedy\): 25 % → 75 %\.$/);
    expect(all).not.toContain('too few');
    expect(summaryIn(held, FEW)?.heldOut).toMatchObject({ whole: true, interval: null, changed: 'unclear' });
    // all that are held out: 21 of Countdown's 112, where 128 were asked for
    const countdown = parseConfig({ env: 'countdown', evalTasks: 128 });
    expect(told({ ...held, tasks: 21 }, false, countdown)).toMatch(
      /; all 21 held-out tasks \(greedy\): 25 % → 75 %\.$/,
    );
    // a class may have exactly as many as were asked for; the run says so
    const exactly = seriesOf({ ...held, tasks: 128 });
    const isWhole = () => summarizeRun(exactly, null, MANY)?.heldOut?.whole;
    expect(isWhole()).toBe(false);
    exactly.set('eval/all_tasks', curve([1], 0));
    expect(isWhole()).toBe(true);
    const sample = told({ ...held, tasks: 16 }, false, parseConfig({ env: 'multi-hop', evalTasks: 16 }));
    expect(sample).toContain('16 different held-out tasks (greedy): 25 % → 75 % (95 %: 48 to 93 %)'); // Clopper–Pearson
  });

  test('evaluation is told greedy and, where it was measured twice, sampled', () => {
    const series = seriesOf({ success: ramp(0.7, 1, 40), held: [1, 1], tasks: 64 });
    const summarized = () => summarizeRun(series, null, MANY)!;
    expect(summarySentence(summarized(), null, true)).not.toContain('%, sampled:');
    series.set('eval/success_sampled', curve([0.64, 1], 0, 40));
    expect(summarySentence(summarized(), null, true)).toMatch(
      /; all 64 held-out tasks \(greedy\): 100 % → 100 %, sampled: 64 % → 100 %\.$/,
    );
  });

  test('on all tasks there are a change is told by the first evaluations and the last, not by counting tasks', () => {
    const success = level(0.5, 60);
    const changed = (held: readonly number[]) => summaryIn({ success, held }, FEW)?.heldOut;
    expect(changed([0.25, 0.31, 0.38, 0.69, 0.75, 0.75])).toMatchObject({ changed: 'more', fell: false });
    expect(changed([0.25, 0.75, 0.31, 0.69, 0.25, 0.75])).toMatchObject({ changed: 'unclear', fell: false });
    expect(changed([0.69, 0.75, 0.75, 0.25, 0.31, 0.38])).toMatchObject({ changed: 'less', fell: true });
  });
});

describe('the sentence', () => {
  test('begins with the word and its number, then has the reason, the curve’s numbers and the changes with their intervals', () => {
    expect(told({ success: ramp(0.2, 0.7, 40) })).toMatch(
      /^Learning: success \+38 points over the last 30 updates\. The gain is larger than chance explains\. Training success \(sampled\) 26 % → 65 %, means of the first and last 10 of 40 updates \(95 %: \+3\d to \+4\d points\), now \d\d % smoothed; trend of the last 30 updates: \+38 points \(95 %: \+3\d to \+4\d\)\.$/,
    );
    expect(told({ success: ramp(0.2, 0.7, 40), health: 'trap' })).toMatch(
      /^Trapped: \d\d % solved\. The monitor: The spread is 0\.02\. Training success .*\.$/,
    );
    expect(told({ success: level(0.1, 40), held: [0.15, 0.03] })).toMatch(
      /^Falling on held-out tasks: greedy 15 % → 3 %\. .*128 different held-out tasks \(greedy\): 15 % → 3 %/,
    );
    expect(told({ success: level(0.3, 8) })).toMatch(/^Too early to tell after 8 updates\. /);
    expect(told({ success: level(0.3, 12) })).toMatch(
      /^Unclear whether success changes: success [+−]?[\d.]+ points over the last 12 updates\. /,
    );
    expect(told({ success: level(0.5, 60) })).toMatch(
      /^Stalled: success [+−]?[\d.]+ points over the last 60 updates\. /,
    );
    expect(told({ success: [...ramp(0.2, 0.6, 20), ...level(0.6, 40)] })).toMatch(/^Learned, then stalled: /);
    expect(told({ success: ramp(0.2, 0.36, 60) })).toMatch(
      /^Still improving, slowly: success \+\d points over the last 30 updates\. /,
    );
  });

  test('a finished run is said to be, with its summary', () => {
    expect(told({ success: ramp(0.2, 0.7, 40) }, true)).toMatch(
      /^Finished\. Learning: success \+38 points over the last 30 updates\. /,
    );
    expect(told({ success: level(0.3, 8) }, true)).toMatch(/^Finished\. Unclear whether success changed: /);
    expect(told({ success: ramp(0.2, 0.7, 40), health: 'trap' }, true)).toMatch(/^Finished\. Trapped: /);
  });

  test('where there are evaluations, the headline has their numbers, greedy and sampled', () => {
    const trained = ramp(0.2, 0.7, 40);
    const headlineOf = (history: History) => told(history)?.split('. ')[0];
    expect(headlineOf({ success: trained, held: [0.34, 0.34, 0.34], sampled: [0.2, 0.22, 0.23] })).toBe(
      'Better in training, not confirmed in evaluation: greedy 34 % → 34 %, sampled 20 % → 23 %',
    );
    expect(headlineOf({ success: trained, held: [0.34, 0.5, 0.7], sampled: [0.2, 0.4, 0.6] })).toBe(
      'Learning: greedy 34 % → 70 %, sampled 20 % → 60 %',
    );
    const rest = [...ramp(0.2, 0.6, 20), ...level(0.6, 40)];
    expect(headlineOf({ success: rest, held: [0.34, 0.34] })).toBe('Stalled: greedy 34 % → 34 %');
    expect(headlineOf({ success: rest, held: [0.34, 0.7] })).toBe('Learned, then stalled: greedy 34 % → 70 %');
    // sampled play of 128 tasks falls, greedy play doesn't change
    expect(summaryIn({ success: level(0.5, 40), held: [0.34, 0.34], sampled: [0.5, 0.2] })?.state).toBe('falling');
  });

  test('has the very number that the chart, the title and the table of runs have', () => {
    const series = curve([0.25, 0.25, 0.25, 0.83, 0.86, 0.829]);
    const summary = summarizeRun(new Map([['rollout/success', series]]), null, MANY);
    const shown = shownText('rollout/success', shownValue('rollout/success', series));
    expect(shown).toMatch(/^\d+ %$/);
    expect(summarySentence(summary!, null, false)).toContain(`, now ${shown} smoothed`);
  });
});
