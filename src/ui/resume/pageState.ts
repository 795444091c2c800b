import type { RunConfig } from '../../fields.ts';
import { METRICS, type MetricName, type Metrics } from '../../metrics.ts';
import { type Flag, live } from '../live-store.ts';
import { currentRecord, type RunStart } from '../runs/recorder.ts';
import { type Points, Series } from '../series.ts';

/** What the page shows of a run and the worker does not know: its curves at full length, flags, and the record it goes on in. */
export interface PageState {
  readonly points: ReadonlyMap<string, Points>; // by metric
  readonly flags: readonly Flag[];
  readonly metrics: Metrics; // the newest
  readonly config: RunConfig | null; // they were measured under
  readonly record: RunStart | null;
}

/** The page as it is, copied. */
export function pageState(): PageState {
  return {
    points: new Map(Array.from(live.series, ([name, series]) => [name, series.points] as const)),
    flags: live.flags,
    metrics: live.metrics,
    config: live.config,
    record: currentRecord(),
  };
}

/** Curves drawn anew from their points; what is no metric any more is left out. Throws RangeError where points do not read. */
export function readSeries({ points }: PageState): Map<MetricName, Series> {
  if (!(points instanceof Map)) throw new RangeError('its curves are no set of curves.');
  const series = new Map<MetricName, Series>();
  for (const [name, { x, y }] of points as PageState['points']) {
    if (!(x instanceof Uint32Array && y instanceof Float64Array && x.length === y.length)) {
      throw new RangeError(`its curve ${name} is no list of points.`);
    }
    if (name in METRICS) series.set(name as MetricName, Series.of({ x, y }));
  }
  return series;
}
