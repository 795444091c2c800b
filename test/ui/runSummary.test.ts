import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseConfig, type RunConfig } from '../../src/config/config.ts';
import type { MetricName } from '../../src/domain/metrics.ts';
import type { Health, HealthState } from '../../src/domain/health.ts';
import { summarizeRun, distinctTasks, type SummaryState } from '../../src/ui/run/runSummary.ts';
import { summarySentence, summaryWords } from '../../src/ui/run/sentences.ts';
import { Series } from '../../src/runs/series.ts';
import { shownText, shownValue } from '../../src/ui/run/metricText.ts';
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
  readonly tasks?: number;
  readonly health?: HealthState;
}
const MANY = parseConfig({ env: 'multi-hop', evalTasks: 128 });
const FEW = parseConfig({ env: 'number-hunt', evalTasks: 128 });

function seriesOf({ success, held, tasks }: History) {
  const series = new Map<MetricName, Series>([['rollout/success', curve(success)]]);
  if (held) series.set('eval/success', curve(held, 0, 10));
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
    '%s: the headline has at most twelve words and one number or change, running or finished',
    (_, history) => {
      const summary = summaryIn(history);
      for (const finished of [false, true]) {
        const { headline } = summaryWords(summary!, healthOf(history.health ?? 'ok'), finished);
        expect(headline.split(/\s+/).filter((word) => /[a-z]/i.test(word)).length).toBeLessThanOrEqual(12);
        expect(headline.match(/\d+ (?:%|points)(?! →)/g)?.length ?? 0).toBeLessThanOrEqual(1);
      }
    },
  );

  test('nothing is said of fewer than three updates', () => {
    expect(summaryIn({ success: [0.3, 0.4] })).toBeNull();
  });

  test('no headline says learning where the monitor says TRAP or WATCH, or where something falls', () => {
    for (const [, history, state] of rows) {
      if (state === 'learning') expect(told(history)).toMatch(/^(Learning|Learned|Still improving)/);
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
    const headlines = [100, 120, 160].map((update) => summarySentence(upTo(update)!, null, false).split('. ')[0]);
    // slopes by scipy.stats.linregress: 30 · .00239, 30 · .00431, 30 · .00302
    expect(headlines).toEqual([
      'Still improving, slowly: success +7 points in 30 updates',
      'Learning: success +13 points in 30 updates',
      'Still improving, slowly: success +9 points in 30 updates',
    ]);
  });

  // seen on the chart: both ends of the shelf lie at the same height, and it is quiet enough to say so
  test.each([
    ['number-hunt', 1, 160, 'stalled', 'at 85 % since update 125'],
    ['document-search', 2, 160, 'stalled', 'at 63 % since update 100'],
    ['number-hunt', 2, 160, 'learning', 'from 75 to 79 % in its last thirty'],
    ['document-search', 1, 160, 'learning', 'noisier: room for −9 to +12 points'],
    ['frozen-lake', 1, 60, 'learning', 'noisier: room for −4 to +22 points'],
    ['multi-hop', 3, 30, 'learning', 'it has begun'],
    ['multi-hop', 3, 20, 'unclear', 'it has not'],
    ['countdown', 2, 60, 'falling', 'from 69 to 57 %'],
    ['calculator', 1, 60, 'solved', 'at 96 %'],
  ] as const)('%s, seed %i, after %i updates: %s (%s)', (...[preset, seed, updates, state]) => {
    expect(run(preset, seed, updates)?.state).toBe(state);
  });

  test('what stalls has an interval that leaves no room for five points in thirty updates; noise alone is never stalled', () => {
    for (const { curve: values } of runs) {
      const summary = summaryIn({ success: values });
      if (summary?.state !== 'stalled') continue;
      expect(summary.flat?.interval.low).toBeGreaterThan(-0.05);
      expect(summary.flat?.interval.high).toBeLessThan(0.05);
      expect(summary.trend?.interval.low).toBeLessThanOrEqual(0);
    }
    const loud = Array.from({ length: 30 }, (_, i) => 0.5 + 0.6 * scatter(i));
    expect(summaryIn({ success: loud })?.state).toBe('unclear');
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
      /^Learning: success \+38 points in 30 updates\. The gain is larger than chance explains\. Training success \(sampled\) 26 % → 65 %, means of the first and last 10 of 40 updates \(95 %: \+3\d to \+4\d points\), now \d\d % smoothed; trend of the last 30 updates: \+38 points \(95 %: \+3\d to \+4\d\)\.$/,
    );
    expect(told({ success: ramp(0.2, 0.7, 40), health: 'trap' })).toMatch(
      /^Trapped: \d\d % solved\. The monitor: The spread is 0\.02\. Training success .*\.$/,
    );
    expect(told({ success: level(0.1, 40), held: [0.15, 0.03] })).toMatch(
      /^Falling on held-out tasks: 15 % → 3 %\. .*128 different held-out tasks \(greedy\): 15 % → 3 %/,
    );
    expect(told({ success: level(0.3, 8) })).toMatch(/^Too early to tell after 8 updates\. /);
    expect(told({ success: level(0.3, 12) })).toMatch(
      /^Unclear whether success changes: success [+−]?[\d.]+ points in 12 updates\. /,
    );
    expect(told({ success: level(0.5, 60) })).toMatch(/^Stalled: success [+−]?[\d.]+ points in 30 updates\. /);
    expect(told({ success: [...ramp(0.2, 0.6, 20), ...level(0.6, 40)] })).toMatch(/^Learned, then stalled: /);
    expect(told({ success: ramp(0.2, 0.36, 60) })).toMatch(
      /^Still improving, slowly: success \+\d points in 30 updates\. /,
    );
  });

  test('a finished run is said to be, with its summary', () => {
    expect(told({ success: ramp(0.2, 0.7, 40) }, true)).toMatch(
      /^Finished\. Learning: success \+38 points in 30 updates\. /,
    );
    expect(told({ success: level(0.3, 8) }, true)).toMatch(/^Finished\. Unclear whether success changed: /);
    expect(told({ success: ramp(0.2, 0.7, 40), health: 'trap' }, true)).toMatch(/^Finished\. Trapped: /);
  });

  test('no headline has more than twelve words, and each has a number', () => {
    for (const [, history] of rows) {
      const [headline = ''] = (told(history) ?? '').split('. ');
      expect(headline.split(' ').length, headline).toBeLessThanOrEqual(12);
      expect(headline).toMatch(/\d/);
    }
  });

  test('has the very number that the chart, the title and the table of runs have', () => {
    const series = curve([0.25, 0.25, 0.25, 0.83, 0.86, 0.829]);
    const summary = summarizeRun(new Map([['rollout/success', series]]), null, MANY);
    const shown = shownText('rollout/success', shownValue('rollout/success', series));
    expect(shown).toMatch(/^\d+ %$/);
    expect(summarySentence(summary!, null, false)).toContain(`, now ${shown} smoothed`);
  });
});
