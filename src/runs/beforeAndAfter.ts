import type { MetricName } from '../domain/metrics.ts';
import { firstIndexFrom } from './buckets.ts';
import type { Run } from './run.ts';
import type { Points } from './series.ts';

const NO_POINTS: Points = { x: new Uint32Array(), y: new Float64Array() };

/** Averaged before a change, and after it. More distant updates say more about training in general than about the change. */
export const UPDATES_EACH_SIDE = 10;

export interface BeforeAfter {
  /** Number of updates averaged before the change: at most `UPDATES_EACH_SIDE`, none before the previous change. */
  readonly before: number;
  /** Number of updates averaged after the change: at most `UPDATES_EACH_SIDE`, none from the next change on. */
  readonly after: number;
  readonly means: readonly MeansAroundChange[]; // only curves with points on both sides
}
export interface MeansAroundChange {
  readonly metric: MetricName;
  readonly before: number;
  readonly after: number;
}

/** A difference need not come from change `index`: a learning run's curves move anyway. Changes at the same update count as one. */
export function beforeAndAfter(
  { changes, series }: Pick<Run, 'changes' | 'series'>,
  index: number,
  metrics: readonly MetricName[],
): BeforeAfter {
  const { update } = changes[index] ?? { update: 0 };
  const previous = changes.findLast((change) => change.update < update)?.update ?? 1;
  const next = changes.find((change) => change.update > update)?.update ?? Infinity;
  let [before, after] = [0, 0];
  const means = metrics.flatMap((metric) => {
    const { x, y } = series.get(metric)?.points ?? NO_POINTS;
    const changeIndex = firstIndexFrom(x, update);
    const valuesBefore = y.subarray(
      Math.max(firstIndexFrom(x, previous), changeIndex - UPDATES_EACH_SIDE),
      changeIndex,
    );
    const valuesAfter = y.subarray(changeIndex, Math.min(firstIndexFrom(x, next), changeIndex + UPDATES_EACH_SIDE));
    [before, after] = [Math.max(before, valuesBefore.length), Math.max(after, valuesAfter.length)];
    return valuesBefore.length > 0 && valuesAfter.length > 0
      ? [{ metric, before: mean(valuesBefore), after: mean(valuesAfter) }]
      : [];
  });
  return { before, after, means };
}

const mean = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / values.length;
