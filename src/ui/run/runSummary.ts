import { ENVIRONMENTS } from '../../config/environments.ts';
import type { RunConfig } from '../../config/fields.ts';
import {
  SIGNIFICANCE_LEVEL,
  differenceInterval,
  fisherTest,
  shareInterval,
  slopesToEnd,
  type Interval,
} from '../../base/inference.ts';
import { type EvaluationSet, evaluationSetOf, isWholeSet } from '../../domain/evaluationSet.ts';
import type { MetricName } from '../../domain/metrics.ts';
import type { Health } from '../../domain/health.ts';
import { firstIndexFrom } from '../../runs/buckets.ts';
import type { Series } from '../../runs/series.ts';

/**
 * How a run is going. `trapped` and `watched` come from the monitor; `trapped` is checked first. `apart`: training
 * success rises but evaluation falls. `unclear`: the numbers show nothing yet.
 */
export type SummaryState = 'trapped' | 'falling' | 'apart' | 'watched' | 'solved' | 'stalled' | 'learning' | 'unclear';

/** How a run is going, judged only by its curves and its monitor. */
export interface RunSummary {
  readonly state: SummaryState;
  readonly updates: number;
  // success of training rollouts: start and end of the smoothed curve
  readonly success: { readonly before: number; readonly now: number };
  readonly gain: Gain | null; // null: too few updates
  readonly trend: Trend | null; // null: too few updates
  // trend of the longest stretch up to now over which success has stalled; null: success has not stalled
  readonly flat: Trend | null;
  // largest mean success over `MEAN_UPDATES` updates so far, or over half of the updates if there are fewer
  readonly best: number;
  readonly heldOut: HeldOut | null; // null: evaluated less than twice
}

/**
 * Mean success of training rollouts over the first and the last updates (each update counts the same), and the
 * difference.
 */
export interface Gain {
  readonly first: number; // mean over the first `width` updates
  readonly last: number; // mean over the last `width` updates
  readonly width: number;
  readonly interval: Interval; // of last − first
}

/** How success of training rollouts moves at the end of a run: a straight line through its last updates. */
export interface Trend {
  readonly updates: number; // number of updates that the line is fitted to
  readonly change: number; // change of success over `per` updates
  readonly per: number; // `TREND_UPDATES`, or all updates if there are fewer
  readonly interval: Interval; // of `change`, 95 %
}

/** Success on evaluated tasks, first and now, and the tasks that were evaluated. */
export interface HeldOut {
  readonly before: number;
  readonly now: number;
  readonly best: number;
  readonly sampled: { readonly before: number; readonly now: number } | null; // null: not measured twice
  readonly tasks: number; // number of different tasks
  readonly kind: EvaluationSet;
  readonly whole: boolean; // true: every task of this kind is evaluated
  // exact interval of `now` for a sample of `tasks` tasks; null if `whole`, because nothing is sampled
  readonly interval: Interval | null;
  // by Fisher's test; if `whole`, by comparing the first and the last evaluations
  readonly changed: 'more' | 'less' | 'unclear';
  readonly fell: boolean; // `now` is clearly below `best`
}

const MIN_UPDATES = 3; // with fewer updates there is no summary
const MEAN_UPDATES = 10; // number of updates averaged at either end
const TREND_UPDATES = 30; // updates over which the trend is given; also the shortest stretch that can show a stall
const STALL_CHANGE = 0.05; // stalled: the interval of the change of success in a stretch lies within ± this
const SOLVED_SUCCESS = 0.9;
const MIN_DROP = 0.1; // a smaller drop of success is not called a fall
// stricter than `SIGNIFICANCE_LEVEL`, because the best evaluation was selected for being large
const BEST_SIGNIFICANCE = 0.01;

/** How a run is going; null before there is enough data. If the monitor sees trouble, nothing good is said. */
export function summarizeRun(
  series: ReadonlyMap<MetricName, Series>,
  health: Health | null,
  config: RunConfig | null,
): RunSummary | null {
  const success = series.get('rollout/success');
  const [before, now] = [success?.openingMean, success?.lastSmoothed];
  if (!success || before === undefined || now === undefined || success.length < MIN_UPDATES) return null;
  const { x, y } = success.points;
  const values = Array.from(y);
  const { width, last, peak, gain } = compareEnds(values);
  const heldOut = heldOutOf(series, config);
  const trendOfLast = trendFitter(x, y);
  const trend = trendOfLast(TREND_UPDATES);
  const numbers = {
    ...{ updates: x.at(-1) ?? values.length, success: { before, now }, heldOut, trend, best: mean(peak) },
    gain: gain && { first: mean(values.slice(0, width)), last: mean(last), width, interval: gain },
    flat: trend && trend.interval.low <= 0 && trend.interval.high >= 0 ? stallOf(trendOfLast, x) : null,
  };
  return { ...numbers, state: stateOf() };

  function stateOf(): SummaryState {
    if (health?.state === 'trap') return 'trapped';
    const rises = gain !== null && gain.low > 0;
    if (heldOut && (heldOut.changed === 'less' || heldOut.fell)) return rises ? 'apart' : 'falling';
    if (hasFallen(values)) return 'falling';
    if (health?.state === 'watch') return 'watched';
    if (mean(last) >= SOLVED_SUCCESS) return 'solved';
    if (numbers.flat) return 'stalled';
    const isFullTrend = trend?.per === TREND_UPDATES;
    if (isFullTrend && trend.interval.high < 0) return 'falling';
    if (rises || (isFullTrend && trend.interval.low > 0)) return 'learning';
    return heldOut?.changed === 'more' ? 'learning' : 'unclear';
  }
}

/**
 * The last `width` values of a curve, the `width` neighbouring values with the highest mean (`peak`), and the interval
 * of the mean of the last minus the mean of the first values (`gain`; null with fewer than 3 values at either end).
 */
function compareEnds(values: readonly number[]) {
  const width = Math.min(MEAN_UPDATES, Math.floor(values.length / 2));
  const [first, last] = [values.slice(0, width), values.slice(-width)];
  return { width, last, peak: highestStretch(values, width), gain: width < 3 ? null : differenceInterval(first, last) };
}

/** Whether the end of a curve lies below its highest stretch, by more than chance and by more than `MIN_DROP`. */
function hasFallen(values: readonly number[]): boolean {
  const { width, last, peak } = compareEnds(values);
  const drop = width < 3 ? null : differenceInterval(peak, last);
  return drop !== null && drop.high < 0 && mean(peak) - mean(last) > MIN_DROP;
}

/** Gives the trend of the last `updates` updates; null if there are too few. */
type TrendFitter = (updates: number) => Trend | null;

function trendFitter(x: Uint32Array, y: Float64Array): TrendFitter {
  const end = x.at(-1) ?? 0;
  const slopeFrom = slopesToEnd(x, y);
  return (updates) => {
    const from = firstIndexFrom(x, end - updates + 1);
    const line = slopeFrom(from);
    if (!line) return null;
    const fittedUpdates = Math.min(updates, end - (x[from] ?? end) + 1);
    const per = Math.min(TREND_UPDATES, fittedUpdates);
    const { slope, interval } = line;
    return {
      updates: fittedUpdates,
      change: per * slope,
      per,
      interval: { low: per * interval.low, high: per * interval.high },
    };
  };
}

/**
 * Trend of the longest stretch up to now, of at least 30 updates, over which success has stalled: the interval of the
 * change contains 0 and lies within ± `STALL_CHANGE`. A noisy curve has a wider interval and so needs a longer stretch.
 */
function stallOf(trendOfLast: TrendFitter, x: Uint32Array): Trend | null {
  const span = (x.at(-1) ?? 0) - (x[0] ?? 0) + 1;
  let stall: Trend | null = null;
  for (let updates = TREND_UPDATES; updates <= span; updates += MEAN_UPDATES) {
    const trend = trendOfLast(updates);
    if (!trend) continue;
    const { low, high } = trend.interval;
    if (low <= 0 && high >= 0 && low > -STALL_CHANGE && high < STALL_CHANGE) stall = trend;
  }
  return stall;
}

/** The stretch of `width` values with the largest mean. */
function highestStretch(values: readonly number[], width: number): readonly number[] {
  let best = values.slice(0, width);
  for (let from = 1; from + width <= values.length; from++) {
    const stretch = values.slice(from, from + width);
    if (mean(stretch) > mean(best)) best = stretch;
  }
  return best;
}

function heldOutOf(series: ReadonlyMap<MetricName, Series>, config: RunConfig | null): HeldOut | null {
  const curve = series.get('eval/success');
  const [before, now] = [curve?.firstValue, curve?.lastValue];
  if (!curve || curve.length < 2 || before === undefined || now === undefined) return null;
  const tasks = distinctTasks(series, config);
  const values = Array.from(curve.points.y);
  const whole = config !== null && isWholeSet(tasks, config);
  const best = Math.max(...values);
  const sampledCurve = series.get('eval/success_sampled');
  const [sampledBefore, sampledNow] = [sampledCurve?.firstValue, sampledCurve?.lastValue];
  const isSampledTwice = sampledCurve !== undefined && sampledCurve.length > 1;
  const sampled =
    isSampledTwice && sampledBefore !== undefined && sampledNow !== undefined
      ? { before: sampledBefore, now: sampledNow }
      : null;
  const common = {
    sampled,
    kind: config ? evaluationSetOf(config) : 'mixed',
    before,
    now,
    best,
    tasks,
    whole,
  } as const;
  if (whole) {
    // all tasks are evaluated, so chance lies only in which updates were evaluated
    const { gain } = compareEnds(values);
    const changed = !gain || (gain.low <= 0 && gain.high >= 0) ? 'unclear' : gain.low > 0 ? 'more' : 'less';
    return { ...common, interval: null, changed, fell: hasFallen(values) };
  }
  const pValue = (from: number) => fisherTest(Math.round(from * tasks), tasks, Math.round(now * tasks), tasks);
  return {
    ...common,
    interval: shareInterval(Math.round(now * tasks), tasks),
    changed: pValue(before) >= SIGNIFICANCE_LEVEL ? 'unclear' : now > before ? 'more' : 'less',
    fell: pValue(best) < BEST_SIGNIFICANCE,
  };
}

/**
 * Number of different tasks in an evaluation. Greedy play of the same task twice counts once. Taken from the run's
 * report; if there is none, the number of tasks in the environment, at most `evalTasks`.
 */
export function distinctTasks(series: ReadonlyMap<MetricName, Series>, config: RunConfig | null): number {
  const reported = series.get('eval/tasks')?.lastValue;
  if (reported !== undefined) return reported;
  if (!config) return 1;
  return Math.min(config.evalTasks, ENVIRONMENTS[config.env].countIfAllPlayed?.(config) ?? config.evalTasks);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, x) => sum + x, 0) / values.length;
}
