import { useEffect, useState } from 'react';
import type { MetricName } from '../../domain/metrics.ts';
import { live, useLive } from '../run/liveStore.ts';
import { axisEnd } from './axes.ts';
import { LINES } from './curves.ts';

const ROUND_MS = 250; // shortest time between two drawings of a chart
const REST_FACTOR = 3; // after drawing a chart, no chart is drawn for this many times the time that it took

interface Watcher {
  readonly version: () => number;
  readonly draw: () => void;
  drawnVersion: number;
}

const watchers = new Set<Watcher>();
let queue: Watcher[] = [];
let timer: ReturnType<typeof setInterval> | undefined;
let restUntil = 0;
/** Larger than the number of points of any curve, so that the curves of another run always have another version. */
const CURVES_STRIDE = 1e9;

/**
 * The version of a metric's chart that is to be drawn; 0 before the first. It changes when it is the chart's turn,
 * while `on`: at most four times a second, and less often if drawing would take more than a quarter of the page's time.
 * One chart is drawn at a time, so many charts never block the page for long.
 */
export function useTurn(metric: MetricName, on = true): number {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    if (!on) return;
    const names = LINES[metric] ?? [metric];
    const watcher: Watcher = {
      version: () => chartVersion(names),
      draw: () => setVersion(chartVersion(names)),
      drawnVersion: -1,
    };
    watchers.add(watcher);
    restartTimer();
    return () => {
      watchers.delete(watcher);
      restartTimer();
    };
  }, [metric, on]);
  return version;
}

/** A number that changes whenever a chart of these metrics would look different. */
export function chartVersion(names: readonly MetricName[]): number {
  const base = useLive.getState().curvesVersion * CURVES_STRIDE + live.flags.length + lastUpdate();
  return names.reduce((sum, name) => sum + (live.series.get(name)?.version ?? 0), base);
}

/** The last update with a measurement; 0 before the first. */
export function newestUpdate(): number {
  let last = 0;
  for (const series of live.series.values()) last = Math.max(last, series.last ?? 0);
  return last;
}

/** The end of the axis of updates in all charts: `newestUpdate` rounded up, so that the axis grows in steps. */
export function lastUpdate(): number {
  return axisEnd(newestUpdate());
}

/** The next chart that has to be drawn again; undefined if all are up to date. */
function nextStale(): Watcher | undefined {
  for (let tries = watchers.size; tries > 0; tries--) {
    if (queue.length === 0) queue = [...watchers];
    const next = queue.shift();
    const version = next && watchers.has(next) ? next.version() : undefined;
    if (!next || version === undefined || version === next.drawnVersion) continue;
    next.drawnVersion = version;
    return next;
  }
  return undefined;
}

function restartTimer(): void {
  clearInterval(timer);
  timer = watchers.size > 0 ? setInterval(tick, Math.max(16, ROUND_MS / watchers.size)) : undefined;
}

function tick(): void {
  if (document.hidden || performance.now() < restUntil) return;
  const next = nextStale();
  if (!next) return;
  const began = performance.now();
  restUntil = Infinity;
  next.draw();
  // React renders right after this task, so the time is read after that
  setTimeout(() => (restUntil = (1 + REST_FACTOR) * performance.now() - REST_FACTOR * began));
}
