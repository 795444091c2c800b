import { flushSync } from 'react-dom';
import type { MetricName } from '../../domain/metrics.ts';
import { live, useLive } from '../run/liveStore.ts';
import { roundUp, WHOLE_STEPS } from './axes.ts';

const ROUND_MS = 250; // each chart at most this often
const MIN_END = 10; // updates: a run has at least as many places
const REST = 3; // after a chart the page is left alone for so many times what drawing it took

interface Watcher {
  readonly version: () => number;
  readonly draw: () => void;
  drawn: number;
}

const watchers = new Set<Watcher>();
let queue: Watcher[] = [];
let timer: ReturnType<typeof setInterval> | undefined;
let restUntil = 0;
let looks = 0; // how often the reader asked to see something else
let hurrying = false;
let settling: ReturnType<typeof setTimeout> | undefined;
const SETTLED_MS = 160; // without a move of what is in view
const OTHER_CURVES = 1e9; // more than the points of any: curves of another run look different, be they as long
const FRAME_MS = 8; // of a frame that drawing in a hurry may begin another chart in

/**
 * Calls `draw` when `version` has moved, at most four times a second, less often where drawing would fill more than a quarter of
 * the page's time. Charts take turns: one is drawn at a time, so that a page of charts never makes one long task. Returns a
 * function that stops it.
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

/** A number that moves whenever a chart of these metrics would look different. */
export function chartVersion(names: readonly MetricName[]): number {
  const own = useLive.getState().curvesVersion * OTHER_CURVES + live.flags.length + looks + lastUpdate();
  return names.reduce((sum, name) => sum + (live.series.get(name)?.version ?? 0), own);
}

/** The last update that anything was measured at; 0 before the first. */
export function newestUpdate(): number {
  let last = 0;
  for (const series of live.series.values()) last = Math.max(last, series.last ?? 0);
  return last;
}

/** Where the axes of all charts end: at that update or behind it, in steps. */
export function lastUpdate(): number {
  return roundUp(Math.max(MIN_END, newestUpdate()), WHOLE_STEPS);
}

/**
 * Draws all charts again, without pauses, once the reader has stopped zooming or panning; until then they are sketched. Draws one or
 * more charts before each paint.
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
  // what React makes of it comes right after this task
  setTimeout(() => (restUntil = (1 + REST) * performance.now() - REST * began));
}
