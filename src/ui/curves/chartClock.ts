import type { MetricName } from '../../domain/metrics.ts';
import { live } from '../run/liveStore.ts';

const ROUND_MS = 250; // each chart at most this often
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

/**
 * Calls `draw` when `version` has moved, at most four times a second, seldomer where drawing would fill more than a quarter of
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
  return names.reduce((sum, name) => sum + (live.series.get(name)?.version ?? 0), live.flags.length);
}

function retime(): void {
  clearInterval(timer);
  timer = watchers.size > 0 ? setInterval(tick, Math.max(16, ROUND_MS / watchers.size)) : undefined;
}

function tick(): void {
  if (document.hidden || performance.now() < restUntil) return;
  for (let tries = watchers.size; tries > 0; tries--) {
    if (queue.length === 0) queue = [...watchers];
    const next = queue.shift();
    if (!next || !watchers.has(next)) continue;
    const version = next.version();
    if (version === next.drawn) continue;
    next.drawn = version;
    const began = performance.now();
    restUntil = Infinity;
    next.draw();
    // what React makes of it comes right after this task
    setTimeout(() => (restUntil = (1 + REST) * performance.now() - REST * began));
    return;
  }
}
