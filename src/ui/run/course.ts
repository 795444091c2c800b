import { ENVIRONMENTS } from '../../config/environments.ts';
import type { RunConfig } from '../../config/fields.ts';
import { differenceInterval, fisherTest, shareInterval, type Interval } from '../../base/inference.ts';
import { type Evaluated, evaluatedIn } from '../../domain/evaluated.ts';
import type { MetricName } from '../../domain/metrics.ts';
import type { Health } from '../../domain/health.ts';
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

/** Success on evaluated tasks, first and now, with what it was counted on. */
export interface HeldOut {
  readonly before: number;
  readonly now: number;
  readonly best: number;
  readonly tasks: number; // different ones
  readonly kind: Evaluated;
  readonly interval: Interval; // of `now`, exact, for that many tasks
  readonly changed: 'more' | 'less' | 'unclear'; // by Fisher's test
  readonly fell: boolean; // from its best
}

const ENOUGH = 3; // updates before anything is said
const WINDOW = 10; // updates whose mean is compared
const SETTLED = 3 * WINDOW; // updates before a run can be said to stall
const SOLVED = 0.9;
const NOTABLE = 0.1; // of success: less is not spoken of as a fall, or as movement
const CHANCE = 0.05;
const CHANCE_OF_BEST = 0.01; // the best of several is picked for being large

/** How a run goes; null while there is too little to speak of. The monitor has a veto over every good word. */
export function courseOf(
  series: ReadonlyMap<MetricName, Series>,
  health: Health | null,
  config: RunConfig | null,
): Course | null {
  const success = series.get('rollout/success');
  const [before, now] = [success?.opening, success?.smooth];
  if (!success || before === undefined || now === undefined || success.length < ENOUGH) return null;
  const values = Array.from(success.points.y);
  const width = Math.min(WINDOW, Math.floor(values.length / 2));
  const [first, last] = [values.slice(0, width), values.slice(-width)];
  const interval = width < 3 ? null : differenceInterval(first, last);
  const gain = interval && { first: mean(first), last: mean(last), width, interval };
  const peak = highest(values, width);
  const heldOut = heldOutOf(series, config);
  const known = { updates: success.points.x.at(-1) ?? values.length, success: { before, now }, gain, heldOut };
  return { ...known, best: mean(peak), state: stateOf() };

  function stateOf(): CourseState {
    if (health?.state === 'trap') return 'trapped';
    const rises = interval !== null && interval.low > 0;
    const drop = width < 3 ? null : differenceInterval(peak, last);
    if (heldOut && (heldOut.changed === 'less' || heldOut.fell)) return rises ? 'apart' : 'falling';
    if (drop && drop.high < 0 && mean(peak) - mean(last) > NOTABLE) return 'falling';
    if (health?.state === 'watch') return 'watched';
    if (mean(last) >= SOLVED) return 'solved';
    if (stands(values)) return 'stalled';
    if (rises) return 'learning';
    return heldOut?.changed === 'more' ? 'learning' : 'unclear';
  }
}

/** Whether the last thirty updates moved by less than is spoken of: the halves lie half as far apart as the ends. */
function stands(values: readonly number[]): boolean {
  if (values.length < SETTLED) return false;
  const half = SETTLED / 2;
  const moved = differenceInterval(values.slice(-SETTLED, -half), values.slice(-half));
  if (moved === null || moved.low < -NOTABLE || moved.high > NOTABLE) return false;
  return Math.abs(moved.low + moved.high) < NOTABLE;
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
  const best = Math.max(...curve.points.y);
  const p = fisherTest(Math.round(before * tasks), tasks, Math.round(now * tasks), tasks);
  return {
    ...{
      kind: config ? evaluatedIn(config) : 'mixed',
      before,
      now,
      best,
      tasks,
      interval: shareInterval(now * tasks, tasks),
    },
    changed: p >= CHANCE ? 'unclear' : now > before ? 'more' : 'less',
    fell: fisherTest(Math.round(best * tasks), tasks, Math.round(now * tasks), tasks) < CHANCE_OF_BEST,
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
