import { ENVIRONMENTS } from '../../config/environments.ts';
import type { RunConfig } from '../../config/fields.ts';
import {
  SIGNIFICANCE_LEVEL,
  TAIL,
  type Claim,
  differenceInterval,
  fisherTest,
  shareInterval,
  slopeFitter,
  type Interval,
} from '../../base/inference.ts';
import { type EvaluationSet, evaluationSetOf, isWholeSet } from '../../domain/evaluationSet.ts';
import type { MetricName } from '../../domain/metrics.ts';
import type { Health } from '../../domain/health.ts';
import { summaryOf } from '../../base/statistics.ts';
import { firstIndexFrom } from '../../runs/buckets.ts';
import type { Series } from '../../runs/series.ts';

/**
 * How a run is going. `trapped` and `watched` come from the monitor; `trapped` is checked first. `apart`: training
 * success rises but evaluation falls. `unconfirmed`: training success rises or is high, but evaluation doesn't show it.
 * `unclear`: the numbers show nothing yet.
 */
export type SummaryState =
  | 'trapped'
  | 'falling'
  | 'apart'
  | 'watched'
  | 'solved'
  | 'unconfirmed'
  | 'stalled'
  | 'learning'
  | 'unclear';

export interface RunSummary {
  readonly state: SummaryState;
  readonly updates: number;
  // success of training rollouts: start and end of the smoothed curve
  readonly success: { readonly before: number; readonly now: number };
  readonly gain: Gain | null; // null: too few updates
  readonly trend: Trend | null; // of the last updates; null: too few updates
  readonly drift: Trend | null; // a trend beyond chance that still goes on; null: there is none
  // trend of the longest stretch up to now over which success has stalled; null: success has not stalled
  readonly flat: Trend | null;
  // largest mean success over `MEAN_UPDATES` updates so far, or over half of the updates if there are fewer
  readonly best: number;
  readonly heldOut: HeldOut | null; // null: evaluated less than twice
}

/** Mean success of training rollouts over the first and the last updates; each update counts the same. */
export interface Gain {
  readonly first: number; // mean over the first `width` updates
  readonly last: number; // mean over the last `width` updates
  readonly width: number;
  readonly interval: Interval; // of last − first
}

/** How success of training rollouts moves at the end of a run: a straight line through its last updates. */
export interface Trend {
  readonly updates: number; // number of updates that the line is fitted to
  readonly change: number; // change of success over all of them
  readonly interval: Interval; // of `change`, 95 %
}

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
  // each by Fisher's test; if `whole`, by comparing the first and the last evaluations
  readonly changed: Claim; // greedy
  readonly sampledChanged: Claim;
  readonly fell: boolean; // `now` is clearly below `best`
}

const MIN_UPDATES = 3; // with fewer updates there is no summary
const MEAN_UPDATES = 10; // number of updates averaged at either end
const TREND_UPDATES = 30; // updates over which the trend is given; also the shortest stretch that can show a stall
const STALL_SHARE = 0.25; // a stall lasts at least this share of the run: a shorter pause says little about a long rise
const STALL_CHANGE = 0.05; // stalled: the interval of the change of success over a stretch lies within ± this
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
  const span = (x.at(-1) ?? 0) - (x[0] ?? 0) + 1;
  const drift = driftOf(trendOfLast, span);
  const numbers = {
    ...{ updates: x.at(-1) ?? values.length, success: { before, now }, heldOut, best: mean(peak) },
    gain: gain && { first: mean(values.slice(0, width)), last: mean(last), width, interval: gain },
    ...{ trend: trendOfLast(TREND_UPDATES), drift, flat: drift ? null : stallOf(trendOfLast, span) },
  };
  return { ...numbers, state: stateOf() };

  function stateOf(): SummaryState {
    if (health?.state === 'trap') return 'trapped';
    const rises = (gain !== null && gain.low > 0) || (drift !== null && drift.change > 0);
    if (heldOut && (evaluationClaim(heldOut) === 'less' || heldOut.fell)) return rises ? 'apart' : 'falling';
    if (hasFallen(values) || (drift && drift.change < 0)) return 'falling';
    if (health?.state === 'watch') return 'watched';
    if (mean(last) >= SOLVED_SUCCESS) return heldOut && isBelow(heldOut, SOLVED_SUCCESS) ? 'unconfirmed' : 'solved';
    if (numbers.flat) return 'stalled';
    const improves = heldOut ? evaluationClaim(heldOut) === 'more' : rises;
    return improves ? 'learning' : rises ? 'unconfirmed' : 'unclear';
  }
}

/** What greedy and sampled play show together on evaluated tasks: a change of either, unless the other changed the other way. */
export function evaluationClaim({ changed, sampledChanged }: Pick<HeldOut, 'changed' | 'sampledChanged'>): Claim {
  const claims = new Set([changed, sampledChanged]);
  if (claims.has('more') && claims.has('less')) return 'unclear';
  return claims.has('more') ? 'more' : claims.has('less') ? 'less' : 'unclear';
}

/** Whether greedy success on evaluated tasks is below a share, beyond chance. */
function isBelow({ now, interval }: HeldOut, share: number): boolean {
  return (interval ? interval.high : now) < share;
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

/**
 * Whether the end of a curve lies below its highest stretch, by more than chance and by more than `MIN_DROP`. The
 * highest of several stretches is high by chance too, so the test is corrected for their number.
 */
function hasFallen(values: readonly number[]): boolean {
  const { width, last, peak } = compareEnds(values);
  const drop = width < 3 ? null : differenceInterval(peak, last, (TAIL * width) / values.length);
  return drop !== null && drop.high < 0 && mean(peak) - mean(last) > MIN_DROP;
}

/**
 * Gives the trend of the last `updates` updates, or without the last `skipped` of these; null if there are too few. Its
 * interval leaves out `tail` on each side, normally 2.5 %.
 */
type TrendFitter = (updates: number, options?: { readonly tail?: number; readonly skipped?: number }) => Trend | null;

function trendFitter(x: Uint32Array, y: Float64Array): TrendFitter {
  const end = x.at(-1) ?? 0;
  const slopeOf = slopeFitter(x, y);
  return (updates, { tail, skipped = 0 } = {}) => {
    const from = firstIndexFrom(x, end - updates + 1);
    const line = slopeOf(from, firstIndexFrom(x, end - skipped + 1), tail);
    if (!line) return null;
    const fittedUpdates = Math.min(updates, end - (x[from] ?? end) + 1) - skipped;
    const { slope, interval } = line;
    return {
      updates: fittedUpdates,
      change: fittedUpdates * slope,
      interval: { low: fittedUpdates * interval.low, high: fittedUpdates * interval.high },
    };
  };
}

/**
 * The trend that success is on. Looks at the last 30, 60, 120 … updates and at all of them; intervals are corrected for
 * the number of looks (Bonferroni). A stretch has a trend if its interval excludes 0 and doesn't lie within ±
 * `STALL_CHANGE`. The trend has ended if a shorter stretch up to now is flatter than what came before it, beyond
 * chance. Returns the shortest stretch whose trend goes on, with its 95 % interval; null if there is none.
 */
function driftOf(trendOfLast: TrendFitter, span: number): Trend | null {
  const stretches: number[] = [];
  for (let updates = TREND_UPDATES; updates < span; updates *= 2) stretches.push(updates);
  if (span >= TREND_UPDATES) stretches.push(span);
  const tail = TAIL / stretches.length;
  for (const updates of stretches) {
    const trend = trendOfLast(updates, { tail });
    if (!trend || !excludesZero(trend.interval) || isFlat(trend.interval)) continue;
    const hasEnded = stretches.some((part) => {
      const later = part < updates && trendOfLast(part, { tail });
      const earlier = later && trendOfLast(updates, { tail, skipped: part });
      return earlier && isFlatter(later, earlier, Math.sign(trend.change));
    });
    if (!hasEnded) return trendOfLast(updates);
  }
  return null;
}

/** Whether `later` rises less for each update than `earlier`, beyond chance; with `direction` −1, falls less. */
function isFlatter(later: Trend, earlier: Trend, direction: number): boolean {
  const slope = ({ change, updates }: Trend) => change / updates;
  const halfWidth = ({ change, interval, updates }: Trend) => (interval.high - change) / updates;
  return direction * (slope(earlier) - slope(later)) > Math.hypot(halfWidth(earlier), halfWidth(later));
}

/**
 * Trend of the longest stretch up to now, of at least 30 updates and `STALL_SHARE` of the run, over which success has
 * stalled: its whole change lies within ± `STALL_CHANGE`, by two one-sided tests at 5 % each (Schuirmann 1987). A noisy
 * curve needs a longer stretch.
 */
function stallOf(trendOfLast: TrendFitter, span: number): Trend | null {
  let stall: Trend | null = null;
  const shortest = Math.max(TREND_UPDATES, Math.ceil(STALL_SHARE * span));
  for (let updates = shortest; updates <= span; updates += MEAN_UPDATES) {
    const trend = trendOfLast(updates, { tail: 2 * TAIL });
    if (trend && isFlat(trend.interval)) stall = trendOfLast(updates);
  }
  return stall;
}

const excludesZero = ({ low, high }: Interval) => low > 0 || high < 0;
const isFlat = ({ low, high }: Interval) => low > -STALL_CHANGE && high < STALL_CHANGE;

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
  const whole = config !== null && isWholeSet(tasks, config, series.get('eval/all_tasks')?.lastValue);
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
  const sampledValues = sampled && sampledCurve ? Array.from(sampledCurve.points.y) : [];
  if (whole) {
    // all tasks are evaluated, so chance lies only in which updates were evaluated
    const claimFor = (curveValues: readonly number[]): Claim => {
      const { gain } = compareEnds(curveValues);
      return !gain || !excludesZero(gain) ? 'unclear' : gain.low > 0 ? 'more' : 'less';
    };
    const [changed, sampledChanged] = [claimFor(values), claimFor(sampledValues)];
    return { ...common, interval: null, changed, sampledChanged, fell: hasFallen(values) };
  }
  const pValue = (from: number, to: number) =>
    fisherTest(Math.round(from * tasks), tasks, Math.round(to * tasks), tasks);
  const claimFor = (from: number, to: number): Claim =>
    pValue(from, to) >= SIGNIFICANCE_LEVEL ? 'unclear' : to > from ? 'more' : 'less';
  return {
    ...common,
    interval: shareInterval(Math.round(now * tasks), tasks),
    changed: claimFor(before, now),
    sampledChanged: sampled ? claimFor(sampled.before, sampled.now) : 'unclear',
    fell: pValue(best, now) < BEST_SIGNIFICANCE,
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

const mean = (values: readonly number[]) => summaryOf(values).mean;
