import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import type { Arena, Tensor } from '../../gpu/tensor.ts';
import type { SlabTensor } from './slabs.ts';

/** Tokens of a batch that are sorted together; each of its V + 1 threads passes over them twice. */
const SPAN = 512;

/** Declares where each of V tokens stands among N token rows: see embedding_forward.wgsl. */
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

type Embedded = 'record' | 'rows' | 'table' | 'x' | 'places' | 'minibatch' | 'masks' | 'weights' | 'knobs';

/**
 * Records x (N,C) from `table` (V,C); for a learner also the places of the tokens for the backward pass and the weights of the M rows
 * of the minibatch.
 */
export function embed(
  plan: Plan,
  tensors: Readonly<Record<Embedded, Tensor>>,
  { N, T, C, V, B }: Sizes & { readonly B: number },
  learns: boolean,
): void {
  const M = tensors.minibatch.shape[0] ?? 0;
  const more = learns ? { V, M } : { V: 0, M: 0 };
  plan.dispatch(kernels.embeddingForward, tensors, { N, C, T, B, ...more, span: SPAN });
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
