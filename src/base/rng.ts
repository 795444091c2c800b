/**
 * Counter-based random numbers. Every draw is a hash of its purpose and counters, not of the time at which it happens.
 * So results do not depend on batch order, chunk size or thread count. The hash is pcg4d (Jarzynski & Olano 2020, "Hash
 * Functions for GPU Rendering", JCGT 9(3)); `src/gpu/kernels/sample_tokens.wgsl` computes the same bits.
 */

/** The purpose of a draw. It is part of the draw's key, so that streams with different purposes are independent. */
export const Purpose = {
  weights: 1,
  trainTask: 2,
  trainSample: 3,
  evalTask: 4,
  evalSample: 5,
  shuffle: 6,
  demonstration: 7,
  environment: 8,
  preference: 9,
  rewardModel: 10,
  inputDependence: 11,
  branch: 12,
  baseline: 13,
  environmentSeed: 15,
  sweep: 16,
} as const;
export type Purpose = (typeof Purpose)[keyof typeof Purpose];

const PCG_MULTIPLIER = 1664525;
const PCG_INCREMENT = 1013904223;
const PURPOSE_STEP = 0x9e3779b9;

/** Hashes four 32-bit words to four words, and writes them into `out` as unsigned integers. */
export function pcg4d(x: number, y: number, z: number, w: number, out: Uint32Array): void {
  let a = (Math.imul(x, PCG_MULTIPLIER) + PCG_INCREMENT) | 0;
  let b = (Math.imul(y, PCG_MULTIPLIER) + PCG_INCREMENT) | 0;
  let c = (Math.imul(z, PCG_MULTIPLIER) + PCG_INCREMENT) | 0;
  let d = (Math.imul(w, PCG_MULTIPLIER) + PCG_INCREMENT) | 0;
  a = (a + Math.imul(b, d)) | 0;
  b = (b + Math.imul(c, a)) | 0;
  c = (c + Math.imul(a, b)) | 0;
  d = (d + Math.imul(b, c)) | 0;
  a ^= a >>> 16;
  b ^= b >>> 16;
  c ^= c >>> 16;
  d ^= d >>> 16;
  a = (a + Math.imul(b, d)) | 0;
  b = (b + Math.imul(c, a)) | 0;
  c = (c + Math.imul(a, b)) | 0;
  d = (d + Math.imul(b, c)) | 0;
  out[0] = a;
  out[1] = b;
  out[2] = c;
  out[3] = d;
}

/** Returns the first word of a key, from the run's seed and the purpose. */
export function streamKey(seed: number, purpose: Purpose): number {
  return (seed + Math.imul(purpose, PURPOSE_STEP)) >>> 0;
}

const scratch = new Uint32Array(4);

/** 24 bits, in [0, 1), for counter (a, b, c) of a stream. The sampler uses it with (update, rollout, position). */
export function uniform(key: number, a: number, b: number, c: number): number {
  pcg4d(key, a, b, c, scratch);
  return ((scratch[0] ?? 0) >>> 8) / 16777216;
}

/** A sequence of draws under one key. Its state is one counter. */
export interface Random {
  /** Uniform in [0, 1). */
  readonly next: () => number;
  /** Uniform integer in [0, n). */
  readonly int: (n: number) => number;
  /** One element, uniformly. Throws on an empty list. */
  readonly pick: <T>(items: readonly T[]) => T;
  /** A standard normal draw (Box–Muller). */
  readonly normal: () => number;
  /** Shuffles in place (Fisher–Yates) and returns its argument. */
  readonly shuffle: <T extends unknown[] | Int32Array>(items: T) => T;
}

/** Returns the stream of draws for (seed, purpose, a, b). */
export function random(seed: number, purpose: Purpose, a = 0, b = 0): Random {
  const key = streamKey(seed, purpose);
  let counter = 0;
  const next = () => uniform(key, a, b, counter++);
  const int = (n: number) => Math.min(n - 1, Math.floor(next() * n));
  return {
    next,
    int,
    pick(items) {
      const item = items[int(items.length)];
      if (item === undefined) throw new RangeError('random.pick: the list is empty.');
      return item;
    },
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    shuffle(items) {
      const list = items as unknown[];
      for (let i = list.length - 1; i > 0; i--) {
        const j = int(i + 1);
        [list[i], list[j]] = [list[j], list[i]];
      }
      return items;
    },
  };
}
