/** The parameters of a helper thread: it runs `help(block, thread)` of the module with the memory. */
export interface HelperTask {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly block: number;
  readonly thread: number;
}

export interface Helper {
  /** Resolves to true when the thread has started, or to false if it can't start. */
  readonly started: Promise<boolean>;
  /** Ends the thread at once, whatever it is doing. */
  readonly end: () => void;
}

export interface Threads {
  readonly count: number; // threads that compute together, including the caller's own
  readonly reason: string; // why there aren't more; '' if nothing prevents them
  readonly start: (task: HelperTask) => Helper;
  readonly minWork?: number; // multiply-adds of the smallest call that threads share; default: MIN_SHARED_WORK
}

/** Largest number of threads that is worth it. More threads mostly wait for memory. */
const MAX_USEFUL_THREADS = 8;

/** All, up to eight. With more than two, one is left to the page for drawing; with two both compute, as the page needs little. */
export function threadsFor(cores: number): number {
  return Math.max(1, Math.min(MAX_USEFUL_THREADS, cores > 2 ? cores - 1 : cores));
}

/** Returns the default, a single thread. `why` says why there aren't more. */
export const oneThread = (why: string): Threads => ({
  count: 1,
  reason: why,
  start: () => {
    throw new Error('There are no threads here. Use a team of one.');
  },
});

export const SIMD_NAME = 'WebAssembly SIMD';

/** Returns '' if there is one thread and nothing prevents more. */
export function threadsText({ count, reason }: Pick<Threads, 'count' | 'reason'>): string {
  if (count > 1) return `${count} threads`;
  return reason === '' ? '' : `1 thread (${reason})`;
}

export const arithmeticName = (threads: Pick<Threads, 'count' | 'reason'>) =>
  [SIMD_NAME, threadsText(threads)].filter(Boolean).join(', ');
