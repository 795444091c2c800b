import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import type { Arena, Tensor } from '../../gpu/tensor.ts';
import type { SlabTensor } from './slabs.ts';

/** Tokens of a batch that are sorted together; each of its V + 1 threads passes over them twice. */
const SPAN = 512;

/** Declares where each of V tokens stands among N token rows: see token_places.wgsl. */
export function declarePlaces(arena: Arena, N: number, V: number, knobs: readonly string[]): Tensor {
  return arena.declare('places of tokens', [N + Math.ceil(N / SPAN) * (V + 1)], knobs);
}

/** Sizes of an embedding: N token rows, rows of T tokens, V tokens of width C. */
interface Sizes {
  readonly N: number;
  readonly T: number;
  readonly C: number;
  readonly V: number;
}

/** Records x (N,C), the rows of `table` (V,C) for the tokens of the micro-batch. */
export function embed(
  plan: Plan,
  tensors: Readonly<Record<'record' | 'rows' | 'table' | 'x', Tensor>>,
  { N, T, C }: Pick<Sizes, 'N' | 'T' | 'C'>,
): void {
  plan.dispatch(kernels.embeddingForward, tensors, { N, C, T });
}

/** Records where each token of the micro-batch stands, for the backward pass. */
export function placeTokens(
  plan: Plan,
  tensors: Readonly<Record<'record' | 'rows' | 'places', Tensor>>,
  { N, T, V }: Pick<Sizes, 'N' | 'T' | 'V'>,
): void {
  plan.dispatch(kernels.tokenPlaces, tensors, { N, T, V, span: SPAN });
}

/** Records dtable (V,C) += the rows of dx (N,C) of each token, in as many parts as there are slabs and spans. */
export function embedBackward(
  plan: Plan,
  places: Tensor,
  dx: Tensor,
  { tensor: dtable, slabs }: SlabTensor,
  { N, C, V }: Sizes,
): void {
  const parts = Math.min(slabs.count, Math.ceil(N / SPAN));
  plan.dispatch(kernels.embeddingBackward, { places, dx, dtable }, { N, C, V, span: SPAN, parts, slab: slabs.size });
}
