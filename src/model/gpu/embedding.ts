import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import type { Arena, Tensor } from '../../gpu/tensor.ts';
import type { GradientRange } from './partialGradients.ts';

/** Nodes that token_places.wgsl sorts by token at once. Each of V + 1 threads reads all of them twice. */
const SPAN_NODES = 512;

/**
 * Declares the table of N nodes, sorted by token within each span, and of where the nodes of each of V tokens begin
 * there; see token_places.wgsl.
 */
export function declareNodesByToken(arena: Arena, N: number, V: number): Tensor {
  return arena.declare('places of tokens', [N + Math.ceil(N / SPAN_NODES) * (V + 1)], ['rows', 'length']);
}

/** Sizes of an embedding: N nodes, V tokens of width C. */
interface Sizes {
  readonly N: number;
  readonly C: number;
  readonly V: number;
}

/** Records x (N,C): for each node its token's row of `table` (V,C). */
export function embed(
  plan: Plan,
  tensors: Readonly<Record<'nodes' | 'table' | 'x', Tensor>>,
  { N, C }: Pick<Sizes, 'N' | 'C'>,
): void {
  plan.dispatch(kernels.embeddingForward, tensors, { N, C });
}

/** Records the sorting of the micro-batch's nodes by token, span by span, for the backward pass. */
export function recordNodesByToken(
  plan: Plan,
  tensors: Readonly<Record<'nodes' | 'places', Tensor>>,
  { N, V }: Pick<Sizes, 'N' | 'V'>,
): void {
  plan.dispatch(kernels.tokenPlaces, tensors, { N, V, span: SPAN_NODES });
}

/** dtable (V,C) += for each token its nodes' rows of dx (N,C), in as many parts as the numbers of partial gradients and spans allow. */
export function embedBackward(
  plan: Plan,
  nodesByToken: Tensor,
  dx: Tensor,
  { tensor: dtable, partials }: GradientRange,
  { N, C, V }: Sizes,
): void {
  const parts = Math.min(partials.count, Math.ceil(N / SPAN_NODES));
  plan.dispatch(
    kernels.embeddingBackward,
    { places: nodesByToken, dx, dtable },
    { N, C, V, span: SPAN_NODES, parts, slab: partials.size },
  );
}
