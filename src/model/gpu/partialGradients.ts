import type { Gpu } from '../../gpu/device.ts';
import { slice, type Arena, type Dimension, type Tensor } from '../../gpu/tensor.ts';

/**
 * The gradients of all parameters of a network, S times over, in one tensor; kernels call each of the S a slab. A
 * weight's gradient is a sum over all tokens, but the weight is small, so one workgroup for each of its tiles would
 * leave a GPU idle. Sums over tokens are therefore split into up to S parts. Part s adds to partial gradient s, and one
 * more dispatch adds them all, in order, into partial gradient 0. Without atomics, so the bits are always the same.
 */
export interface PartialGradients {
  readonly tensor: Tensor; // (S, P)
  readonly size: number; // P: scalars of all parameters, padding included
  readonly count: number; // S
  readonly alwaysSplit: boolean; // split every sum into S parts, even small ones
}

/** Maximum number of partial gradients, and maximum bytes of all of them together. */
const LIMITS = { partials: 16, bytes: 64 * 1024 * 1024 };
/** Workgroups needed to fill a GPU, and minimum tokens per part of a sum. */
const SPLIT_THRESHOLDS = { workgroups: 512, tokens: 128 };

/** The number of partial gradients, and whether every sum is split into that many parts. */
export type PartialsCount = Pick<PartialGradients, 'count' | 'alwaysSplit'>;

/** Depends on P scalars and N summed tokens; `forced` overrides it. Software adapters get one: few workgroups fill all their lanes. */
export function partialsFor(
  { device, software }: Pick<Gpu, 'device' | 'software'>,
  P: number,
  N: number,
  forced?: number,
): PartialsCount {
  if (forced !== undefined) return { count: forced, alwaysSplit: true };
  if (software) return { count: 1, alwaysSplit: false };
  const { maxStorageBufferBindingSize, maxBufferSize } = device.limits;
  const bytes = Math.min(LIMITS.bytes, maxStorageBufferBindingSize, maxBufferSize);
  const count = Math.min(LIMITS.partials, Math.floor(N / SPLIT_THRESHOLDS.tokens), Math.floor(bytes / (4 * P)));
  return { count: Math.max(1, count), alwaysSplit: false };
}

export function declarePartials(
  arena: Arena,
  name: string,
  P: number,
  sizes: readonly Dimension[],
  { count, alwaysSplit }: PartialsCount,
): PartialGradients {
  return { tensor: arena.declare(name, [count, P], sizes), size: P, count, alwaysSplit };
}

/** How a sum is split: the number of parts, and the terms per part, a multiple of 16. */
export interface Split {
  readonly parts: number;
  readonly chunk: number;
}

/** A sum of K terms in one part. */
export const unsplit = (K: number): Split => ({ parts: 1, chunk: 16 * Math.ceil(K / 16) });

/** How to split a sum over K tokens that would take `workgroups` workgroups if it were not split. */
export function splitOf({ count, alwaysSplit }: PartialGradients, K: number, workgroups: number): Split {
  const partsToFill = Math.min(
    count,
    Math.ceil(SPLIT_THRESHOLDS.workgroups / workgroups),
    Math.floor(K / SPLIT_THRESHOLDS.tokens),
  );
  const chunk = 16 * Math.ceil(K / (16 * Math.max(1, alwaysSplit ? count : partsToFill)));
  return { parts: alwaysSplit ? count : Math.ceil(K / chunk), chunk };
}

/** Adjacent parameters: `tensor[i]` in the first partial gradient corresponds to `tensor[s·P + i]` in partial gradient s. */
export interface GradientRange {
  readonly partials: PartialGradients;
  readonly tensor: Tensor;
}

/** `size` scalars of the gradients from scalar `start` on; by default all from there on. */
export function gradientRange(
  partials: PartialGradients,
  name: string,
  start: number,
  size = partials.size - start,
): GradientRange {
  return { partials, tensor: slice(partials.tensor, name, start, [(partials.count - 1) * partials.size + size]) };
}

/** Adds in the order in which the device does. Changes and returns `words`, which then begin with the sums. */
export function sumPartials(
  { size: P, count }: PartialGradients,
  words: Uint32Array<ArrayBuffer>,
): Uint32Array<ArrayBuffer> {
  const scalars = new Float32Array(words.buffer, words.byteOffset, words.length);
  for (let s = 1; s < count; s++) for (let i = 0; i < P; i++) scalars[i] = scalars[i]! + scalars[s * P + i]!;
  return words;
}
