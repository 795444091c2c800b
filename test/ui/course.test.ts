import { describe, expect, test } from 'vitest';
import { parseConfig, type RunConfig } from '../../src/config/config.ts';
import type { MetricName } from '../../src/domain/metrics.ts';
import type { Health, HealthState } from '../../src/domain/health.ts';
import { courseOf, distinctTasks, type CourseState } from '../../src/ui/run/course.ts';
import { courseSentence } from '../../src/ui/run/sentences.ts';
import { Series } from '../../src/runs/series.ts';
import { shownText, shownValue } from '../../src/ui/run/shown.ts';

function curve(values: readonly number[], from = 1, every = 1): Series {
  const series = new Series();
  values.forEach((y, i) => series.push(from + i * every, y));
  return series;
}
/** Success of updates: `level` with the scatter of 128 rollouts, the same in every test. */
const noisy = (levels: readonly number[]) => levels.map((level, i) => level + 0.04 * Math.sin(12.9898 * (i + 1)));
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
const courseIn = (history: History, config: RunConfig = MANY) =>
  courseOf(seriesOf(history), healthOf(history.health ?? 'ok'), config);
const told = (history: History, finished = false, config: RunConfig = MANY) => {
  const course = courseIn(history, config);
  return course ? courseSentence(course, healthOf(history.health ?? 'ok'), finished) : null;
};

describe('how a run goes, from its numbers', () => {
  const rows: readonly (readonly [what: string, history: History, state: CourseState])[] = [
    ['success rises', { success: ramp(0.2, 0.7, 40) }, 'learning'],
    ['success and held-out success rise', { success: ramp(0.2, 0.7, 40), held: [0.2, 0.4, 0.6, 0.68] }, 'learning'],
    ['it rises and the monitor says TRAP', { success: ramp(0.2, 0.7, 40), health: 'trap' }, 'trapped'],
    ['it rises and the monitor says WATCH', { success: ramp(0.2, 0.7, 40), health: 'watch' }, 'watched'],
    [
      'held-out success falls from 15 to 3 %, nothing else moves',
      { success: level(0.1, 40), held: [0.15, 0.12, 0.06, 0.03] },
      'falling',
    ],
    [
      'held-out success falls while success rises',
      { success: ramp(0.2, 0.7, 40), held: [0.5, 0.4, 0.3, 0.2] },
      'apart',
    ],
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
  test.each(rows)('%s', (_, history, state) => {
    expect(courseIn(history)?.state).toBe(state);
  });

  test('nothing is said of fewer than three updates', () => {
    expect(courseIn({ success: [0.3, 0.4] })).toBeNull();
  });

  test('no headline says learning where the monitor says TRAP or WATCH, or where something falls', () => {
    for (const [, history, state] of rows) {
      if (state === 'learning') expect(told(history)).toMatch(/^Learning\. /);
      else expect(told(history)).not.toMatch(/learning\b(?! rate)/i);
    }
  });
});

describe('different tasks are counted, not episodes', () => {
  test('.75 against .875 of 16 tasks is two tasks and cannot be told; of 128 different ones it can be', () => {
    const held = [0.6875, 0.875];
    expect(courseIn({ success: level(0.4, 8), held }, FEW)?.heldOut).toMatchObject({ tasks: 16, changed: 'unclear' });
    expect(courseIn({ success: level(0.4, 8), held }, MANY)?.heldOut).toMatchObject({ tasks: 128, changed: 'more' });
  });

  test('what the run reports goes before what its environment is known to hold', () => {
    expect(distinctTasks(seriesOf({ success: [0.1], tasks: 40 }), FEW)).toBe(40);
    expect(distinctTasks(seriesOf({ success: [0.1] }), FEW)).toBe(16);
    expect(distinctTasks(seriesOf({ success: [0.1] }), parseConfig({ env: 'number-hunt', evalTasks: 8 }))).toBe(8);
    expect(distinctTasks(seriesOf({ success: [0.1] }), parseConfig({ env: 'bandit', evalTasks: 128 }))).toBe(8);
  });

  test('the interval of 12 of 16 tasks is exact: 48 to 93 %', () => {
    const text = told({ success: ramp(0.2, 0.7, 40), held: [0.25, 0.75] }, false, FEW);
    expect(text).toContain('of all tasks 25 % → 75 % of 16 different tasks (95 %: 48 to 93 %)');
  });
});

describe('the sentence', () => {
  test('begins with the word and the reason, then has the curve’s numbers and the change with its interval', () => {
    expect(told({ success: ramp(0.2, 0.7, 40) })).toMatch(
      /^Learning\. It solves more, and by more than chance explains\. Success 2\d % → \d\d % in 40 updates \(means of the first and last 10: 27 % → 65 %, \+3\d to \+4\d points\)\.$/,
    );
    expect(told({ success: ramp(0.2, 0.7, 40), health: 'trap' })).toMatch(
      /^Trapped\. The monitor: The spread is 0\.02\. Success .*\.$/,
    );
    expect(told({ success: level(0.1, 40), held: [0.15, 0.03] })).toMatch(/^Falling\. .*held-out 15 % → 3 % of 128/);
    expect(told({ success: level(0.3, 8) })).toMatch(/^Cannot tell yet\. /);
    expect(told({ success: level(0.5, 60) })).toMatch(/^Stalled\. /);
    expect(told({ success: [...ramp(0.2, 0.6, 20), ...level(0.6, 40)] })).toMatch(/^Learned, then stalled\. /);
  });

  test('a finished run is said to be, with its course', () => {
    expect(told({ success: ramp(0.2, 0.7, 40) }, true)).toMatch(/^Finished: learned\. /);
    expect(told({ success: level(0.3, 8) }, true)).toMatch(/^Finished: cannot tell\. /);
    expect(told({ success: ramp(0.2, 0.7, 40), health: 'trap' }, true)).toMatch(/^Finished: trapped\. /);
  });

  test('has the very number that the chart, the title and the table of runs have', () => {
    const series = curve([0.25, 0.25, 0.25, 0.83, 0.86, 0.829]);
    const course = courseOf(new Map([['rollout/success', series]]), null, MANY);
    const shown = shownText('rollout/success', shownValue('rollout/success', series));
    expect(shown).toMatch(/^\d+ %$/);
    expect(courseSentence(course!, null, false)).toContain(`→ ${shown} in 6 updates`);
  });
});
