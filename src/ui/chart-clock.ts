import type { MetricName } from '../metrics.ts';
import { live } from './live-store.ts';

const ROUND_MS = 250; // each chart at most this often

interface Watcher {
  readonly version: () => number;
  readonly draw: () => void;
  drawn: number;
}

const watchers = new Set<Watcher>();
let queue: Watcher[] = [];
let timer: ReturnType<typeof setInterval> | undefined;

/**
 * Calls `draw` when `version` has moved, at most four times a second. Charts take turns: one is drawn at a time, so that a
 * page of charts never makes one long task. Returns a function that stops it.
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
  if (document.hidden) return;
  for (let tries = watchers.size; tries > 0; tries--) {
    if (queue.length === 0) queue = [...watchers];
    const next = queue.shift();
    if (!next || !watchers.has(next)) continue;
    const version = next.version();
    if (version === next.drawn) continue;
    next.drawn = version;
    next.draw();
    return;
  }
}
