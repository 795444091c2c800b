import { ENVIRONMENTS } from '../../config/environments.ts';
import type { RunConfig } from '../../config/fields.ts';
import {
  CHANCE,
  differenceInterval,
  fisherTest,
  shareInterval,
  slopesToEnd,
  type Interval,
} from '../../base/inference.ts';
import { type EvaluationSet, evaluationSetOf, isWholeSet } from '../../domain/evaluationSet.ts';
import type { MetricName } from '../../domain/metrics.ts';
import type { Health } from '../../domain/health.ts';
import { firstFrom } from '../../runs/buckets.ts';
import type { Series } from '../../runs/series.ts';

/**
 * How a run goes. `trapped` and `watched` are the monitor's word, before all others; `unclear`: the numbers allow no word yet.
 * `finished` goes beside the others.
 */
export type CourseState = 'trapped' | 'falling' | 'apart' | 'watched' | 'solved' | 'stalled' | 'learning' | 'unclear';

/** What is known of a run's course, from its curves and its monitor alone. */
export interface Course {
  readonly state: CourseState;
  readonly updates: number;
  readonly success: { readonly before: number; readonly now: number }; // of training rollouts: opening and end of the smoothed curve
  readonly gain: Gain | null; // null: too few to say
  readonly trend: Trend | null; // the same
  readonly flat: Trend | null; // the longest stretch up to now over which it has stalled; null: none
  readonly best: number; // largest mean of as many updates so far
  readonly heldOut: HeldOut | null; // null: solved less than twice
}

/** Success of training rollouts over the first and the last updates, each update weighing alike, and what lies between. */
export interface Gain {
  readonly first: number; // mean
  readonly last: number;
  readonly width: number; // updates that each is the mean of
  readonly interval: Interval; // of last less first
}

/** How success of training rollouts moves at the end of a run: a straight line through its last updates. */
export interface Trend {
  readonly updates: number; // that the line goes through
  readonly change: number; // of success, in `per` updates
  readonly per: number; // `STRETCH`, or all updates where there are fewer
  readonly interval: Interval; // of `change`, 95 %
}

/** Success on evaluated tasks, first and now, and the tasks that it was measured on. */
export interface HeldOut {
  readonly before: number;
  readonly now: number;
  readonly best: number;
  readonly tasks: number; // different ones
  readonly kind: EvaluationSet;
  readonly whole: boolean; // all tasks there are
  readonly interval: Interval | null; // of `now`, exact, for that many tasks; null: all tasks there are, so none is sampled
  readonly changed: 'more' | 'less' | 'unclear'; // by Fisher's test; of all tasks there are, by the first evaluations and the last
  readonly fell: boolean; // from its best
}

const ENOUGH = 3; // updates before anything is said
const WINDOW = 10; // updates whose mean is compared
const STRETCH = 30; // updates over which the trend is given, and the fewest that can show a stall
const FLAT = 0.05; // of success in a stretch: a run has stalled where the interval of its trend holds no more, up or down
const SOLVED = 0.9;
const NOTABLE = 0.1; // of success: smaller changes are not called a fall or a movement
const CHANCE_OF_BEST = 0.01; // the best of several is picked for being large

/** How a run is going; null before there is enough data. If the monitor sees trouble, nothing good is said. */
export function courseOf(
  series: ReadonlyMap<MetricName, Series>,
  health: Health | null,
  config: RunConfig | null,
): Course | null {
  const success = series.get('rollout/success');
  const [before, now] = [success?.opening, success?.smooth];
  if (!success || before === undefined || now === undefined || success.length < ENOUGH) return null;
  const { x, y } = success.points;
  const values = Array.from(y);
  const { width, last, peak, gain } = endsOf(values);
  const heldOut = heldOutOf(series, config);
  const trendOf = trendsOf(x, y);
  const trend = trendOf(STRETCH);
  const known = {
    ...{ updates: x.at(-1) ?? values.length, success: { before, now }, heldOut, trend, best: mean(peak) },
    gain: gain && { first: mean(values.slice(0, width)), last: mean(last), width, interval: gain },
    flat: trend && trend.interval.low <= 0 && trend.interval.high >= 0 ? flatOf(trendOf, x) : null,
  };
  return { ...known, state: stateOf() };

  function stateOf(): CourseState {
    if (health?.state === 'trap') return 'trapped';
    const rises = gain !== null && gain.low > 0;
    if (heldOut && (heldOut.changed === 'less' || heldOut.fell)) return rises ? 'apart' : 'falling';
    if (hasFallen(values)) return 'falling';
    if (health?.state === 'watch') return 'watched';
    if (mean(last) >= SOLVED) return 'solved';
    if (known.flat) return 'stalled';
    const whole = trend?.per === STRETCH;
    if (whole && trend.interval.high < 0) return 'falling';
    if (rises || (whole && trend.interval.low > 0)) return 'learning';
    return heldOut?.changed === 'more' ? 'learning' : 'unclear';
  }
}

/** The two ends of a curve, each as wide as can be told, its highest stretch of that width, and the interval of last less first. */
function endsOf(values: readonly number[]) {
  const width = Math.min(WINDOW, Math.floor(values.length / 2));
  const [first, last] = [values.slice(0, width), values.slice(-width)];
  return { width, last, peak: highest(values, width), gain: width < 3 ? null : differenceInterval(first, last) };
}

/** Whether the end of a curve lies below its highest stretch, by more than chance makes and by more than is spoken of. */
function hasFallen(values: readonly number[]): boolean {
  const { width, last, peak } = endsOf(values);
  const drop = width < 3 ? null : differenceInterval(peak, last);
  return drop !== null && drop.high < 0 && mean(peak) - mean(last) > NOTABLE;
}

/** The trend of the last so many updates; null where they are too few. */
type TrendOf = (updates: number) => Trend | null;

function trendsOf(x: Uint32Array, y: Float64Array): TrendOf {
  const end = x.at(-1) ?? 0;
  const slopeFrom = slopesToEnd(x, y);
  return (updates) => {
    const from = firstFrom(x, end - updates + 1);
    const line = slopeFrom(from);
    if (!line) return null;
    const spanned = Math.min(updates, end - (x[from] ?? end) + 1);
    const per = Math.min(STRETCH, spanned);
    const { slope, interval } = line;
    return {
      updates: spanned,
      change: per * slope,
      per,
      interval: { low: per * interval.low, high: per * interval.high },
    };
  };
}

/**
 * The longest stretch up to now, of 30 updates and more, over which success has stalled: its trend may be none, and the interval leaves
 * no room for one of `FLAT`. A noisy curve needs a longer stretch for that than a quiet one, which is the test.
 */
function flatOf(trendOf: TrendOf, x: Uint32Array): Trend | null {
  const span = (x.at(-1) ?? 0) - (x[0] ?? 0) + 1;
  let found: Trend | null = null;
  for (let updates = STRETCH; updates <= span; updates += WINDOW) {
    const trend = trendOf(updates);
    if (!trend) continue;
    const { low, high } = trend.interval;
    if (low <= 0 && high >= 0 && low > -FLAT && high < FLAT) found = trend;
  }
  return found;
}

/** The stretch of `width` values with the largest mean. */
function highest(values: readonly number[], width: number): readonly number[] {
  let best = values.slice(0, width);
  for (let from = 1; from + width <= values.length; from++) {
    const here = values.slice(from, from + width);
    if (mean(here) > mean(best)) best = here;
  }
  return best;
}

function heldOutOf(series: ReadonlyMap<MetricName, Series>, config: RunConfig | null): HeldOut | null {
  const curve = series.get('eval/success');
  const [before, now] = [curve?.first, curve?.latest];
  if (!curve || curve.length < 2 || before === undefined || now === undefined) return null;
  const tasks = distinctTasks(series, config);
  const values = Array.from(curve.points.y);
  const whole = config !== null && isWholeSet(tasks, config);
  const best = Math.max(...values);
  const known = { kind: config ? evaluationSetOf(config) : 'mixed', before, now, best, tasks, whole } as const;
  if (whole) {
    // no task is sampled: what can be chance is which update was evaluated
    const { gain } = endsOf(values);
    const changed = !gain || (gain.low <= 0 && gain.high >= 0) ? 'unclear' : gain.low > 0 ? 'more' : 'less';
    return { ...known, interval: null, changed, fell: hasFallen(values) };
  }
  const chance = (from: number) => fisherTest(Math.round(from * tasks), tasks, Math.round(now * tasks), tasks);
  return {
    ...known,
    interval: shareInterval(Math.round(now * tasks), tasks),
    changed: chance(before) >= CHANCE ? 'unclear' : now > before ? 'more' : 'less',
    fell: chance(best) < CHANCE_OF_BEST,
  };
}

/**
 * How many different tasks an evaluation counts: greedy play of the same task twice is one observation. What the run itself
 * reported; of runs that did not, what their environment holds.
 */
export function distinctTasks(series: ReadonlyMap<MetricName, Series>, config: RunConfig | null): number {
  const reported = series.get('eval/tasks')?.latest;
  if (reported !== undefined) return reported;
  if (!config) return 1;
  return Math.min(config.evalTasks, ENVIRONMENTS[config.env].allTasks?.(config) ?? config.evalTasks);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, x) => sum + x, 0) / values.length;
}
