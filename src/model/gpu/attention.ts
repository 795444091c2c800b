import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import type { ModelConfig } from '../architecture.ts';
import { qkvWidth } from './activations.ts';
import { broadcasts, type Variant } from './layers.ts';

/** Sizes and constants of an attention dispatch over whole rows of T tokens, and whether heads split into vectors of four. */
function sizes(m: ModelConfig, N: number, T: number, variant: Variant) {
  const [H, G, D] = [m.num_attention_heads, m.num_key_value_heads, m.head_dim];
  const wide = D % 8 === 0 ? broadcasts(variant) : null;
  return {
    broadcast: wide !== null,
    dims: { N, T, H, G, D, W: qkvWidth(m) },
    constants: wide ? { HEAD: D, ...wide } : { HEAD: D },
  };
}

/** Records out = attention over whole rows of rotated qkv; keeps lse for the backward pass. */
export function attention(
  plan: Plan,
  variant: Variant,
  m: ModelConfig,
  tensors: { readonly qkv: Tensor; readonly out: Tensor; readonly lse: Tensor },
  N: number,
  T: number,
): void {
  const { broadcast, dims, constants } = sizes(m, N, T, variant);
  plan.dispatch(broadcast ? kernels.attentionForwardBroadcast : kernels.attentionForward, tensors, dims, constants);
}

/** Records the gradients of the unrotated queries, keys and values; two dispatches. */
export function attentionBackward(
  plan: Plan,
  variant: Variant,
  m: ModelConfig,
  tensors: {
    readonly qkv: Tensor;
    readonly out: Tensor;
    readonly dout: Tensor;
    readonly lse: Tensor;
    readonly table: Tensor;
    readonly delta: Tensor;
    readonly dqkv: Tensor;
  },
  N: number,
  T: number,
): void {
  const { broadcast, dims, constants } = sizes(m, N, T, variant);
  const { out, ...rest } = tensors;
  const query = broadcast ? kernels.attentionBackwardQueryBroadcast : kernels.attentionBackwardQuery;
  const keyValue = broadcast ? kernels.attentionBackwardKeyValueBroadcast : kernels.attentionBackwardKeyValue;
  plan.dispatch(query, { ...rest, out }, dims, constants);
  plan.dispatch(keyValue, rest, dims, constants);
}
