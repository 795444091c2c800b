import type { Gpu } from '../../gpu/device.ts';
import { slice, type Arena, type Tensor } from '../../gpu/tensor.ts';

/**
 * S copies of the gradient pool, called slabs. A weight's gradient is a sum over all tokens, but the weight is small,
 * so one workgroup for each of its tiles would leave a GPU idle. Sums over tokens are therefore split into up to S
 * parts. Part s adds to slab s, and one more dispatch adds the slabs, in order, into slab 0. Without atomics, so the
 * bits are always the same.
 */
export interface Slabs {
  readonly pool: Tensor; // (S, P)
  readonly size: number; // P
  readonly count: number; // S
  readonly every: boolean; // split every sum into S parts, even small ones
}

/** Maximum number of slabs, and maximum bytes of all slabs together. */
const SLAB_LIMITS = { slabs: 16, bytes: 64 * 1024 * 1024 };
/** Workgroups needed to fill a GPU, and minimum tokens per part of a sum. */
const SPLIT_THRESHOLDS = { groups: 512, tokens: 128 };

/** The number of slabs, and whether every sum is split into that many parts. */
export type SlabCount = Pick<Slabs, 'count' | 'every'>;

/**
 * Number of slabs for sums over N tokens into a pool of P scalars; `forced` overrides it. Software adapters get one
 * slab, because few workgroups fill all their lanes.
 */
export function slabsFor(
  { device, software }: Pick<Gpu, 'device' | 'software'>,
  P: number,
  N: number,
  forced?: number,
): SlabCount {
  if (forced !== undefined) return { count: forced, every: true };
  if (software) return { count: 1, every: false };
  const { maxStorageBufferBindingSize, maxBufferSize } = device.limits;
  const bytes = Math.min(SLAB_LIMITS.bytes, maxStorageBufferBindingSize, maxBufferSize);
  const count = Math.min(SLAB_LIMITS.slabs, Math.floor(N / SPLIT_THRESHOLDS.tokens), Math.floor(bytes / (4 * P)));
  return { count: Math.max(1, count), every: false };
}

/** Declares the slabs for gradients of P scalars. */
export function declareSlabs(
  arena: Arena,
  name: string,
  P: number,
  knobs: readonly string[],
  { count, every }: SlabCount,
): Slabs {
  return { pool: arena.declare(name, [count, P], knobs), size: P, count, every };
}

/** How a sum is split: the number of parts, and the terms per part, a multiple of 16. */
export interface Split {
  readonly parts: number;
  readonly chunk: number;
}

/** A sum of K terms in one part. */
export const whole = (K: number): Split => ({ parts: 1, chunk: 16 * Math.ceil(K / 16) });

/** How to split a sum over K tokens that would take `groups` workgroups if it were not split. */
export function splitOf({ count, every }: Slabs, K: number, groups: number): Split {
  const filling = Math.min(count, Math.ceil(SPLIT_THRESHOLDS.groups / groups), Math.floor(K / SPLIT_THRESHOLDS.tokens));
  const chunk = 16 * Math.ceil(K / (16 * Math.max(1, every ? count : filling)));
  return { parts: every ? count : Math.ceil(K / chunk), chunk };
}

/** A range of the gradient pool, in all slabs: `tensor[i]` in slab 0 corresponds to `tensor[s·P + i]` in slab s. */
export interface SlabTensor {
  readonly slabs: Slabs;
  readonly tensor: Tensor;
}

/** `size` scalars of the gradient pool from `start` on, in all slabs; by default up to the end of the pool. */
export function inAllSlabs(slabs: Slabs, name: string, start: number, size = slabs.size - start): SlabTensor {
  return { slabs, tensor: slice(slabs.pool, name, start, [(slabs.count - 1) * slabs.size + size]) };
}

/**
 * Adds the slabs in words read back from the pool, in the order of the device. Changes and returns `words`; the
 * gradients are in slab 0.
 */
export function slabSum({ size: P, count }: Slabs, words: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const all = new Float32Array(words.buffer, words.byteOffset, words.length);
  for (let s = 1; s < count; s++) for (let i = 0; i < P; i++) all[i] = all[i]! + all[s * P + i]!;
  return words;
}
