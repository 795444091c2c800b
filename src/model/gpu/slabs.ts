import type { Gpu } from '../../gpu/device.ts';
import { slice, type Arena, type Tensor } from '../../gpu/tensor.ts';

/**
 * The gradient pool, S times over. A weight's gradient is a sum over all tokens while the weight itself is small, so one
 * workgroup for each of its tiles leaves a GPU idle. Sums over tokens are therefore cut into up to S parts; part s adds to
 * slab s, and one more dispatch adds the slabs, in order, into slab 0. No atomics: the same bits every time.
 */
export interface Slabs {
  readonly pool: Tensor; // (S, P)
  readonly size: number; // P
  readonly count: number; // S
  readonly every: boolean; // cut every sum into S parts, small ones too
}

/** Slabs at most, and bytes they may take together. */
const MOST = { slabs: 16, bytes: 64 * 1024 * 1024 };
/** Workgroups that fill a GPU, and tokens that are worth a part of their own. */
const FILL = { groups: 512, tokens: 128 };

/** How many slabs, and whether every sum is cut into as many. */
export type SlabCount = Pick<Slabs, 'count' | 'every'>;

/** Slabs for sums over N tokens into a pool of P scalars, or as many as they are forced to; one in software, where few workgroups fill all lanes. */
export function slabsFor(
  { device, software }: Pick<Gpu, 'device' | 'software'>,
  P: number,
  N: number,
  forced?: number,
): SlabCount {
  if (forced !== undefined) return { count: forced, every: true };
  if (software) return { count: 1, every: false };
  const { maxStorageBufferBindingSize, maxBufferSize } = device.limits;
  const bytes = Math.min(MOST.bytes, maxStorageBufferBindingSize, maxBufferSize);
  const count = Math.min(MOST.slabs, Math.floor(N / FILL.tokens), Math.floor(bytes / (4 * P)));
  return { count: Math.max(1, count), every: false };
}

/** Declares the gradients of P scalars. */
export function declareSlabs(
  arena: Arena,
  name: string,
  P: number,
  knobs: readonly string[],
  { count, every }: SlabCount,
): Slabs {
  return { pool: arena.declare(name, [count, P], knobs), size: P, count, every };
}

/** A sum of K terms in parts: how many, and the terms of each, a multiple of 16. */
export interface Split {
  readonly parts: number;
  readonly chunk: number;
}

/** A sum that is not cut. */
export const whole = (K: number): Split => ({ parts: 1, chunk: 16 * Math.ceil(K / 16) });

/** How a sum over K tokens is cut that would take `groups` workgroups in one piece. */
export function splitOf({ count, every }: Slabs, K: number, groups: number): Split {
  const filling = Math.min(count, Math.ceil(FILL.groups / groups), Math.floor(K / FILL.tokens));
  const chunk = 16 * Math.ceil(K / (16 * Math.max(1, every ? count : filling)));
  return { parts: every ? count : Math.ceil(K / chunk), chunk };
}

/** A part of the gradient pool, in all slabs: what is `tensor[i]` in slab 0 is `tensor[s·P + i]` in slab s. */
export interface SlabTensor {
  readonly slabs: Slabs;
  readonly tensor: Tensor;
}

/** `size` scalars of the gradient pool from `start` on, or all there are. */
export function inAllSlabs(slabs: Slabs, name: string, start: number, size = slabs.size - start): SlabTensor {
  return { slabs, tensor: slice(slabs.pool, name, start, [(slabs.count - 1) * slabs.size + size]) };
}

/** The gradients in words read back from the pool: the slabs added as the device adds them. */
export function slabSum({ size: P, count }: Slabs, words: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const all = new Float32Array(words.buffer, words.byteOffset, words.length);
  for (let s = 1; s < count; s++) for (let i = 0; i < P; i++) all[i] = all[i]! + all[s * P + i]!;
  return words;
}
