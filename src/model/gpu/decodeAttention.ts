import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import { alignUp, slice, type Tensor } from '../../gpu/tensor.ts';
import type { PolicySpec } from '../policy.ts';
import { qkvWidth } from './activations.ts';

/** Scalars of one layer's cache: keys and values of all rows, padded so that the next layer's cache is aligned. */
export function cacheSlot({ rows: B, length: T, model: m }: PolicySpec): number {
  return alignUp(2 * B * T * m.num_key_value_heads * m.head_dim);
}

export function layerCache(cache: Tensor, spec: PolicySpec, layer: number): Tensor {
  const size = cacheSlot(spec);
  return slice(cache, `cache ${layer}`, layer * size, [size]);
}

/** Covers the first N slots, and caches their new keys and values. `positions` is (2, B). */
export function recordDecodeAttention(
  plan: Plan,
  { rows: B, length: T, model: m }: PolicySpec,
  tensors: { readonly qkv: Tensor; readonly positions: Tensor; readonly cache: Tensor; readonly out: Tensor },
  N: number,
): void {
  const { num_attention_heads: H, num_key_value_heads: G, head_dim: D } = m;
  plan.dispatch(
    D % 4 === 0 ? kernels.decodeAttention4 : kernels.decodeAttention,
    tensors,
    { N, B, T, H, G, D, W: qkvWidth(m) },
    { HEAD: D },
  );
}
