// What a stretch of work took of the machine: by the clock, of processors, of memory.
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';

/**
 * @typedef {{ s: number, cpuS: number }} Took seconds by the clock and of processors, all threads together
 * @typedef {() => Promise<unknown> | void} Run
 */

/** The load of the last minute. */
export const load = () => loadavg()[0] ?? NaN;

/** A clock of both kinds: what went by since it was started. */
export function stopwatch() {
  const began = performance.now();
  const before = process.cpuUsage();
  /** @returns {Took} */
  return () => {
    const { user, system } = process.cpuUsage(before);
    return { s: (performance.now() - began) / 1000, cpuS: (user + system) / 1e6 };
  };
}

/** @param {Run} run @returns {Promise<Took>} */
export async function took(run) {
  const passed = stopwatch();
  await run();
  return passed();
}

/** @param {readonly Took[]} parts @returns {Took} */
export const together = (parts) =>
  parts.reduce((sum, { s, cpuS }) => ({ s: sum.s + s, cpuS: sum.cpuS + cpuS }), { s: 0, cpuS: 0 });

/** Bytes this process holds now, and has held at most; null where the system does not say. */
export function resident() {
  try {
    const status = readFileSync('/proc/self/status', 'utf8');
    const of = (/** @type {string} */ key) => 1024 * Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1] ?? NaN);
    return { now: of('VmRSS'), most: of('VmHWM') };
  } catch {
    return { now: process.memoryUsage().rss, most: 1024 * process.resourceUsage().maxRSS };
  }
}
