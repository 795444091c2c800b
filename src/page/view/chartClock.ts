import { useEffect, useState } from 'react';
import type { MetricName } from '../../domain/metrics.ts';
import { useLive } from './liveStore.ts';
import { axisEnd } from '../curves/axes.ts';
import { CHART_LINES } from '../curves/curves.ts';
import type { XRange } from '../curves/xRange.ts';

const MIN_REDRAW_MS = 250; // shortest time between two redraws of a chart
const PAUSE_FACTOR = 3; // after redrawing a chart, no chart is redrawn for this many times the time that this took

interface ScheduledChart {
  readonly version: () => number;
  readonly redraw: () => void;
  shownVersion: number;
}

const charts = new Set<ScheduledChart>();
let queue: ScheduledChart[] = [];
let timer: ReturnType<typeof setInterval> | undefined;
let pauseUntil = 0;
/** Larger than the number of points of any curve, so that the curves of another run always have another version. */
const CURVES_STRIDE = 1e9;

/**
 * The version of a metric's chart to show; 0 before the first. While `enabled`, it changes when it is the chart's turn:
 * at most four times a second, and less often if redrawing would take more than a quarter of the page's time. Charts
 * are redrawn one at a time, so many charts never block the page for long.
 */
export function useChartVersion(metric: MetricName, enabled = true): number {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    if (!enabled) return;
    const names = CHART_LINES[metric] ?? [metric];
    const chart: ScheduledChart = {
      version: () => chartVersion(names),
      redraw: () => setVersion(chartVersion(names)),
      shownVersion: -1,
    };
    charts.add(chart);
    restartTimer();
    return () => {
      charts.delete(chart);
      restartTimer();
    };
  }, [metric, enabled]);
  return version;
}

/** A number that changes whenever a chart of these metrics would look different. */
export function chartVersion(names: readonly MetricName[]): number {
  const base = useLive.getState().curvesVersion * CURVES_STRIDE + useLive.getState().flags.length + updateAxis().to;
  return names.reduce((sum, name) => sum + (useLive.getState().series.get(name)?.version ?? 0), base);
}

/** The last update with a measurement; 0 before the first. */
export function newestUpdate(): number {
  let last = 0;
  for (const series of useLive.getState().series.values()) last = Math.max(last, series.lastUpdate ?? 0);
  return last;
}

/** The axis of updates in all charts: to `newestUpdate` rounded up, so that the axis grows in steps. */
export function updateAxis(): XRange {
  return { from: 0, to: axisEnd(newestUpdate()) };
}

/** The next chart that has to be redrawn; undefined if all are up to date. */
function nextOutdatedChart(): ScheduledChart | undefined {
  for (let tries = charts.size; tries > 0; tries--) {
    if (queue.length === 0) queue = [...charts];
    const next = queue.shift();
    const version = next && charts.has(next) ? next.version() : undefined;
    if (!next || version === undefined || version === next.shownVersion) continue;
    next.shownVersion = version;
    return next;
  }
  return undefined;
}

function restartTimer(): void {
  clearInterval(timer);
  timer = charts.size > 0 ? setInterval(tick, Math.max(16, MIN_REDRAW_MS / charts.size)) : undefined;
}

function tick(): void {
  if (document.hidden || performance.now() < pauseUntil) return;
  const next = nextOutdatedChart();
  if (!next) return;
  const began = performance.now();
  pauseUntil = Infinity;
  next.redraw();
  // React renders right after this task, so the time is read after that
  setTimeout(() => (pauseUntil = (1 + PAUSE_FACTOR) * performance.now() - PAUSE_FACTOR * began));
}
