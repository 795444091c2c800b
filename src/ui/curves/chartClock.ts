import { flushSync } from 'react-dom';
import type { MetricName } from '../../domain/metrics.ts';
import { live, useLive } from '../run/liveStore.ts';
import { roundUp, WHOLE_STEPS } from './axes.ts';

const ROUND_MS = 250; // shortest time between two drawings of a chart
const MIN_END = 10; // the axis of updates reaches at least this far
const REST = 3; // after drawing a chart, no chart is drawn for this many times the time that it took

interface Watcher {
  readonly version: () => number;
  readonly draw: () => void;
  drawn: number;
}

const watchers = new Set<Watcher>();
let queue: Watcher[] = [];
let timer: ReturnType<typeof setInterval> | undefined;
let restUntil = 0;
let looks = 0; // counts the reader's changes of what the charts show, such as zooming
let hurrying = false;
let settling: ReturnType<typeof setTimeout> | undefined;
const SETTLED_MS = 160; // zooming or panning counts as ended after this time without another change
const OTHER_CURVES = 1e9; // larger than the number of points of any curve: curves of another run then always have another version, even with as many points
const FRAME_MS = 8; // in a hurry, another chart is begun only within this time of a frame

/**
 * Calls `draw` when `version` has changed. Does so at most four times a second, and less often if drawing would take more than a
 * quarter of the page's time. Charts take turns: one is drawn at a time, so many charts never block the page for long. Returns a
 * function that stops watching.
 */
export function watchChart(version: () => number, draw: () => void): () => void {
  const watcher = { version, draw, drawn: -1 };
  watchers.add(watcher);
  retime();
  return () => {
    watchers.delete(watcher);
    retime();
  };
}

/** A number that changes whenever a chart of these metrics would look different. */
export function chartVersion(names: readonly MetricName[]): number {
  const own = useLive.getState().curvesVersion * OTHER_CURVES + live.flags.length + looks + lastUpdate();
  return names.reduce((sum, name) => sum + (live.series.get(name)?.version ?? 0), own);
}

/** The last update with a measurement; 0 before the first. */
export function newestUpdate(): number {
  let last = 0;
  for (const series of live.series.values()) last = Math.max(last, series.last ?? 0);
  return last;
}

/** The end of the axis of updates in all charts: `newestUpdate` rounded up, so that the axis grows in steps. */
export function lastUpdate(): number {
  return roundUp(Math.max(MIN_END, newestUpdate()), WHOLE_STEPS);
}

/**
 * Redraws all charts, without pauses between them, once the reader has stopped zooming or panning. Until then they show a quick sketch.
 * Draws one or more charts before each paint.
 */
export function hurryCharts(): void {
  looks++;
  clearTimeout(settling);
  settling = setTimeout(() => {
    settling = undefined;
    if (hurrying || watchers.size === 0) return;
    hurrying = true;
    requestAnimationFrame(drawInAHurry);
  }, SETTLED_MS);
}

function drawInAHurry(): void {
  const began = performance.now();
  do {
    const next = settling === undefined ? stale() : undefined;
    if (!next) {
      hurrying = false;
      return;
    }
    flushSync(next.draw);
  } while (performance.now() - began < FRAME_MS);
  requestAnimationFrame(drawInAHurry);
}

/** The next chart that has to be drawn again; undefined if all are up to date. */
function stale(): Watcher | undefined {
  for (let tries = watchers.size; tries > 0; tries--) {
    if (queue.length === 0) queue = [...watchers];
    const next = queue.shift();
    const version = next && watchers.has(next) ? next.version() : undefined;
    if (!next || version === undefined || version === next.drawn) continue;
    next.drawn = version;
    return next;
  }
  return undefined;
}

function retime(): void {
  clearInterval(timer);
  timer = watchers.size > 0 ? setInterval(tick, Math.max(16, ROUND_MS / watchers.size)) : undefined;
}

function tick(): void {
  if (document.hidden || hurrying || settling !== undefined || performance.now() < restUntil) return;
  const next = stale();
  if (!next) return;
  const began = performance.now();
  restUntil = Infinity;
  next.draw();
  // React renders right after this task, so the time is read after that
  setTimeout(() => (restUntil = (1 + REST) * performance.now() - REST * began));
}
