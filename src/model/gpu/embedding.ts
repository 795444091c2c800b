import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import type { Arena, Tensor } from '../../gpu/tensor.ts';
import type { GradientRange } from './partialGradients.ts';

/** Token rows that token_places.wgsl sorts by token at once. Each of V + 1 threads reads all of them twice. */
const SPAN_ROWS = 512;

/**
 * Declares the table of N token rows, sorted by token within each span, and of where the rows of each of V tokens begin
 * there; see token_places.wgsl.
 */
export function declareRowsByToken(arena: Arena, N: number, V: number): Tensor {
  return arena.declare('places of tokens', [N + Math.ceil(N / SPAN_ROWS) * (V + 1)], ['rows', 'length']);
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

/** Records the sorting of the micro-batch's token rows by token, span by span, for the backward pass. */
export function recordRowsByToken(
  plan: Plan,
  tensors: Readonly<Record<'record' | 'rows' | 'places', Tensor>>,
  { N, T, V }: Pick<Sizes, 'N' | 'T' | 'V'>,
): void {
  plan.dispatch(kernels.tokenPlaces, tensors, { N, T, V, span: SPAN_ROWS });
}

/** dtable (V,C) += for each token its rows of dx (N,C), in as many parts as the numbers of partial gradients and spans allow. */
export function embedBackward(
  plan: Plan,
  rowsByToken: Tensor,
  dx: Tensor,
  { tensor: dtable, partials }: GradientRange,
  { N, C, V }: Sizes,
): void {
  const parts = Math.min(partials.count, Math.ceil(N / SPAN_ROWS));
  plan.dispatch(
    kernels.embeddingBackward,
    { places: rowsByToken, dx, dtable },
    { N, C, V, span: SPAN_ROWS, parts, slab: partials.size },
  );
}
