import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import type { Arena, Tensor } from '../../gpu/tensor.ts';
import type { SlabTensor } from './slabs.ts';

/** Token rows that token_places.wgsl sorts by token at once. Each of V + 1 threads reads all of them twice. */
const SPAN_ROWS = 512;

/** Declares the positions of each of V tokens among N token rows; see token_places.wgsl. */
export function declarePlaces(arena: Arena, N: number, V: number, knobs: readonly string[]): Tensor {
  return arena.declare('places of tokens', [N + Math.ceil(N / SPAN_ROWS) * (V + 1)], knobs);
}

/** Sizes of an embedding: N token rows, T tokens per batch row, V tokens of width C. */
interface Sizes {
  readonly N: number;
  readonly T: number;
  readonly C: number;
  readonly V: number;
}

/** Records x (N,C): for each token of the micro-batch its row of `table` (V,C). */
export function embed(
  plan: Plan,
  tensors: Readonly<Record<'record' | 'rows' | 'table' | 'x', Tensor>>,
  { N, T, C }: Pick<Sizes, 'N' | 'T' | 'C'>,
): void {
  plan.dispatch(kernels.embeddingForward, tensors, { N, C, T });
}

/** Records the search for each token's positions in the micro-batch, for the backward pass. */
export function placeTokens(
  plan: Plan,
  tensors: Readonly<Record<'record' | 'rows' | 'places', Tensor>>,
  { N, T, V }: Pick<Sizes, 'N' | 'T' | 'V'>,
): void {
  plan.dispatch(kernels.tokenPlaces, tensors, { N, T, V, span: SPAN_ROWS });
}

/**
 * Records dtable (V,C) += for each token the sum of its rows of dx (N,C), split into as many parts as slabs and spans
 * allow.
 */
export function embedBackward(
  plan: Plan,
  places: Tensor,
  dx: Tensor,
  { tensor: dtable, slabs }: SlabTensor,
  { N, C, V }: Sizes,
): void {
  const parts = Math.min(slabs.count, Math.ceil(N / SPAN_ROWS));
  plan.dispatch(
    kernels.embeddingBackward,
    { places, dx, dtable },
    { N, C, V, span: SPAN_ROWS, parts, slab: slabs.size },
  );
}
