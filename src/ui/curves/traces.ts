import type { MetricName } from '../../domain/metrics.ts';
import { firstFrom, type Trace } from '../../runs/buckets.ts';
import type { Series } from '../../runs/series.ts';
import { smoothed } from '../../runs/smoothing.ts';
import { live } from '../run/liveStore.ts';

interface Kept {
  readonly version: number; // of the series
  readonly weight: number;
  readonly trace: Trace;
}

const NOTHING: Trace = { x: [], y: [], smooth: [] };
/** The last trace of each series: who points at a curve asks for it many times a second. */
const traceCache = new WeakMap<Series, Kept>();

/** Every point of a curve of the live run and its course, smoothed by a weight; null: by whichever it was last. */
export function traceOf(name: MetricName, weight: number | null): Trace {
  const series = live.series.get(name);
  if (!series) return NOTHING;
  const last = traceCache.get(series);
  if (last?.version === series.version && (weight === null || last.weight === weight)) return last.trace;
  const { x, y } = series.points;
  const own = weight ?? last?.weight ?? 0;
  const trace = { x, y, smooth: smoothed(y, own) };
  traceCache.set(series, { version: series.version, weight: own, trace });
  return trace;
}

/** What was measured closest to an update, and the smoothed curve there. */
export interface ReadAt {
  readonly update: number;
  readonly value: number;
  readonly smooth: number;
}

/** A curve read at an update: of two points equally close the earlier; undefined of a curve without points. */
export function readAt({ x, y, smooth }: Trace, update: number): ReadAt | undefined {
  const after = firstFrom(x, update);
  const nearer = after > 0 && (after === x.length || update - x[after - 1]! <= x[after]! - update) ? after - 1 : after;
  if (nearer >= x.length) return undefined;
  return { update: x[nearer]!, value: y[nearer]!, smooth: smooth[nearer]! };
}
