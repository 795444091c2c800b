import type { MetricName } from '../../domain/metrics.ts';
import { firstFrom, type Trace } from '../../runs/buckets.ts';
import type { Series } from '../../runs/series.ts';
import { smoothed } from '../../runs/smoothing.ts';
import { live } from '../run/liveStore.ts';

interface CachedTrace {
  readonly version: number; // of the series
  readonly weight: number;
  readonly trace: Trace;
}

const EMPTY_TRACE: Trace = { x: [], y: [], smooth: [] };
/** The last trace of each series. Cached because pointing at a curve asks for it many times a second. */
const traceCache = new WeakMap<Series, CachedTrace>();

/** Every point of a curve of the live run, measured and smoothed with `weight`. Null: the weight of the last call. */
export function traceOf(name: MetricName, weight: number | null): Trace {
  const series = live.series.get(name);
  if (!series) return EMPTY_TRACE;
  const last = traceCache.get(series);
  if (last?.version === series.version && (weight === null || last.weight === weight)) return last.trace;
  const { x, y } = series.points;
  const usedWeight = weight ?? last?.weight ?? 0;
  const trace = { x, y, smooth: smoothed(y, usedWeight) };
  traceCache.set(series, { version: series.version, weight: usedWeight, trace });
  return trace;
}

/** The measurement closest to an update, and the smoothed value there. */
export interface CurvePoint {
  readonly update: number;
  readonly value: number;
  readonly smooth: number;
}

/**
 * The point of a curve closest to an update, the earlier of two equally close. Undefined if the curve has no points.
 */
export function readAt({ x, y, smooth }: Trace, update: number): CurvePoint | undefined {
  const after = firstFrom(x, update);
  const nearest = after > 0 && (after === x.length || update - x[after - 1]! <= x[after]! - update) ? after - 1 : after;
  if (nearest >= x.length) return undefined;
  return { update: x[nearest]!, value: y[nearest]!, smooth: smooth[nearest]! };
}
