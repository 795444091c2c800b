import type { MetricName } from '../../domain/metrics.ts';
import { firstIndexFrom, type SmoothedCurve } from '../../runs/buckets.ts';
import type { Series } from '../../runs/series.ts';
import { smoothCurve } from '../../runs/smoothing.ts';
import { useLive } from './liveStore.ts';
import { BASELINES } from '../../domain/baselines.ts';
import { percent } from '../words/numberText.ts';

interface CachedTrace {
  readonly version: number; // of the series
  readonly weight: number;
  readonly trace: SmoothedCurve;
}

const EMPTY_TRACE: SmoothedCurve = { x: [], y: [], smooth: [] };
/** The last trace of each series. Cached because pointing at a curve asks for it many times a second. */
const traceCache = new WeakMap<Series, CachedTrace>();

/** Every point of a curve of the live run, measured and smoothed with `weight`. Null: the weight of the last call. */
export function traceOf(name: MetricName, weight: number | null): SmoothedCurve {
  const series = useLive.getState().series.get(name);
  if (!series) return EMPTY_TRACE;
  const cached = traceCache.get(series);
  if (cached?.version === series.version && (weight === null || cached.weight === weight)) return cached.trace;
  const { x, y } = series.points;
  const usedWeight = weight ?? cached?.weight ?? 0;
  const trace = { x, y, smooth: smoothCurve(y, usedWeight) };
  traceCache.set(series, { version: series.version, weight: usedWeight, trace });
  return trace;
}

/** The measurement closest to an update, and the smoothed value there. */
export interface CurvePoint {
  readonly update: number;
  readonly value: number;
  readonly smooth: number;
}

/** The point of a curve closest to an update, the earlier of two equally close. Undefined if the curve has no points. */
export function pointNear({ x, y, smooth }: SmoothedCurve, update: number): CurvePoint | undefined {
  const nextIndex = firstIndexFrom(x, update);
  const nearestIndex =
    nextIndex > 0 && (nextIndex === x.length || update - x[nextIndex - 1]! <= x[nextIndex]! - update)
      ? nextIndex - 1
      : nextIndex;
  if (nearestIndex >= x.length) return undefined;
  return { update: x[nearestIndex]!, value: y[nearestIndex]!, smooth: smooth[nearestIndex]! };
}

export interface Baseline {
  readonly label: string;
  readonly share: number;
}

const SUCCESS_CURVES: readonly MetricName[] = ['rollout/success', 'eval/success'];

/** The baselines of a success curve, highest first, measured before the run's first update. Empty for other curves. */
export function baselinesOf(metric: MetricName): readonly Baseline[] {
  if (!SUCCESS_CURVES.includes(metric)) return [];
  return BASELINES.flatMap(({ label, metric: baselineMetric }) => {
    const share = useLive.getState().series.get(baselineMetric)?.firstValue;
    return share === undefined ? [] : [{ label, share }];
  }).sort((a, b) => b.share - a.share);
}

export function baselineSentence(metric: MetricName): string {
  const labels = baselinesOf(metric).map(({ label, share }) => `${label} ${percent(share)}`);
  return labels.length > 0 ? `To compare with: ${labels.join(', ')}.` : '';
}
