import type { MetricName } from '../domain/metrics.ts';
import type { Points } from './series.ts';

/** Updates are ascending; the metrics of an update are in the order of the curves. */
export function byUpdate(
  curves: Iterable<readonly [MetricName, Points]>,
): readonly (readonly [update: number, values: readonly (readonly [MetricName, number])[]])[] {
  const updates = new Map<number, [MetricName, number][]>();
  for (const [name, { x, y }] of curves) {
    for (const [i, update] of x.entries()) {
      const values = updates.get(update) ?? [];
      updates.set(update, values);
      values.push([name, y[i]!]);
    }
  }
  return [...updates].toSorted(([a], [b]) => a - b);
}
