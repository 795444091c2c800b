import type { MetricName } from '../domain/metrics.ts';
import { firstFrom } from './buckets.ts';
import type { Run } from './run.ts';
import type { Points } from './series.ts';

const NO_POINTS: Points = { x: new Uint32Array(), y: new Float64Array() };

/** Updates on either side of a change that are looked at: the nearest. Those far behind it tell more of all that was learned since. */
export const UPDATES_EACH_SIDE = 10;

/** What the curves were right before knobs were changed, and right after. */
export interface BeforeAfter {
  readonly before: number; // updates that the means are over: at most `AROUND`, none from beyond the change before
  readonly after: number; // the same, none from beyond the change after
  readonly means: readonly Means[]; // of curves with a point on both sides
}
export interface Means {
  readonly metric: MetricName;
  readonly before: number;
  readonly after: number;
}

/**
 * The curves on both sides of change `index` of a run, as plain means: they tell what happened, not what the change did, as a run
 * that learns moves without one. Changes that began to act at one update are one.
 */
export function beforeAndAfter(
  { changes, series }: Pick<Run, 'changes' | 'series'>,
  index: number,
  metrics: readonly MetricName[],
): BeforeAfter {
  const { update } = changes[index] ?? { update: 0 };
  const from = changes.findLast((change) => change.update < update)?.update ?? 1;
  const end = changes.find((change) => change.update > update)?.update ?? Infinity;
  let [before, after] = [0, 0];
  const means = metrics.flatMap((metric) => {
    const { x, y } = series.get(metric)?.points ?? NO_POINTS;
    const at = firstFrom(x, update);
    const was = y.subarray(Math.max(firstFrom(x, from), at - UPDATES_EACH_SIDE), at);
    const is = y.subarray(at, Math.min(firstFrom(x, end), at + UPDATES_EACH_SIDE));
    [before, after] = [Math.max(before, was.length), Math.max(after, is.length)];
    return was.length > 0 && is.length > 0 ? [{ metric, before: mean(was), after: mean(is) }] : [];
  });
  return { before, after, means };
}

const mean = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / values.length;
