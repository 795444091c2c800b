/** What a helper runs: `help(block, thread)` of the module, over the memory. */
export interface HelperTask {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly block: number;
  readonly thread: number;
}

/** A thread beside the one that asked for it. */
export interface Helper {
  /** Resolves once it is about to help, or cannot: whether it does. */
  readonly begun: Promise<boolean>;
  /** Ends it, wherever it is. */
  readonly end: () => void;
}

/** The threads that a place gives a model. */
export interface Threads {
  readonly count: number; // that compute together, the caller's own among them
  readonly why: string; // there are no more; '' where nothing stands in the way
  readonly start: (task: HelperTask) => Helper;
  readonly least?: number; // multiply-adds below which a call is not cut; default: from where cutting was measured to pay
}

/** More of them wait for memory more than they compute. */
const MOST = 8;

/**
 * How many of `cores` compute: all, up to eight, but one where there are more than two, which the page draws itself on while the others are busy.
 * Of two the page gets what it needs from the system, for it needs little.
 */
export function threadsFor(cores: number): number {
  return Math.max(1, Math.min(MOST, cores > 2 ? cores - 1 : cores));
}

/** One thread, which is the default. */
export const oneThread = (why: string): Threads => ({
  count: 1,
  why,
  start: () => {
    throw new Error('There are no threads here. Use a team of one.');
  },
});

/** What arithmetic in so many threads is called. */
export function nameOf({ count, why }: Pick<Threads, 'count' | 'why'>): string {
  if (count > 1) return `WebAssembly SIMD, ${count} threads`;
  return why === '' ? 'WebAssembly SIMD' : `WebAssembly SIMD, 1 thread (${why})`;
}
