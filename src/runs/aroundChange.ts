import type { MetricName } from '../domain/metrics.ts';
import { firstFrom } from './buckets.ts';
import type { Run } from './run.ts';
import type { Points } from './series.ts';

const NO_POINTS: Points = { x: new Uint32Array(), y: new Float64Array() };

/** Updates on either side of a change that are looked at, the nearest before it and the newest since. */
export const AROUND = 10;

/** What the curves were before knobs were changed, and have been since. */
export interface Around {
  readonly before: number; // updates that the means are over: at most `AROUND`, none from beyond the change before
  readonly since: number; // the same, none from beyond the change after
  readonly means: readonly Means[]; // of curves with a point on both sides
}
export interface Means {
  readonly metric: MetricName;
  readonly before: number;
  readonly since: number;
}

/**
 * The curves on both sides of change `index` of a run, as plain means: they tell what happened, not what the change did, as a run
 * that learns moves without one. Changes that began to act at one update are one.
 */
export function aroundChange(
  { changes, series }: Pick<Run, 'changes' | 'series'>,
  index: number,
  metrics: readonly MetricName[],
): Around {
  const { update } = changes[index] ?? { update: 0 };
  const from = changes.findLast((change) => change.update < update)?.update ?? 1;
  const end = changes.find((change) => change.update > update)?.update ?? Infinity;
  let [before, since] = [0, 0];
  const means = metrics.flatMap((metric) => {
    const { x, y } = series.get(metric)?.points ?? NO_POINTS;
    const newest = (low: number, high: number) => {
      const stop = firstFrom(x, high);
      return y.subarray(Math.max(firstFrom(x, low), stop - AROUND), stop);
    };
    const [was, is] = [newest(from, update), newest(update, end)];
    [before, since] = [Math.max(before, was.length), Math.max(since, is.length)];
    return was.length > 0 && is.length > 0 ? [{ metric, before: mean(was), since: mean(is) }] : [];
  });
  return { before, since, means };
}

const mean = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / values.length;
