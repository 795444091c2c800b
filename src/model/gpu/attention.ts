import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import type { KernelChoice } from '../../kernelChoice.ts';
import type { ModelConfig } from '../architecture.ts';
import { qkvWidth } from './activations.ts';
import { broadcasts } from './kernelSets.ts';

/** Sizes and constants of an attention dispatch over whole rows of T tokens, and whether heads split into vectors of four. */
function sizes(m: ModelConfig, N: number, T: number, variant: KernelChoice['attention']) {
  const [H, G, D] = [m.num_attention_heads, m.num_key_value_heads, m.head_dim];
  const wide = D % 8 === 0 ? broadcasts(variant) : null;
  return {
    wide,
    dims: { N, T, H, G, D, W: qkvWidth(m), quarter: D / 4 },
    constants: wide ? { HEAD: D, ...wide } : { HEAD: D },
  };
}

/** Records out = attention over whole rows of rotated qkv; keeps lse for the backward pass. */
export function attention(
  plan: Plan,
  variant: KernelChoice['attention'],
  m: ModelConfig,
  tensors: { readonly qkv: Tensor; readonly out: Tensor; readonly lse: Tensor },
  N: number,
  T: number,
): void {
  const { wide, dims, constants } = sizes(m, N, T, variant);
  const tiled = variant === 'workgroup' ? kernels.attentionForwardTiles : kernels.attentionForward;
  if (wide) plan.dispatch(kernels.attentionForwardBroadcast, tensors, dims, constants);
  else plan.dispatch(tiled, tensors, dims, constants);
}

/** Records the gradients of the unrotated queries, keys and values; two dispatches. */
export function attentionBackward(
  plan: Plan,
  variant: KernelChoice['attention'],
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
  const { wide, dims, constants } = sizes(m, N, T, variant);
  const { out, ...rest } = tensors;
  const [query, keyValue] = wide
    ? [kernels.attentionBackwardQueryBroadcast, kernels.attentionBackwardKeyValueBroadcast]
    : variant === 'workgroup'
      ? [kernels.attentionBackwardQueryTiles, kernels.attentionBackwardKeyValueTiles]
      : [kernels.attentionBackwardQuery, kernels.attentionBackwardKeyValue];
  plan.dispatch(query, { ...rest, out }, dims, constants);
  plan.dispatch(keyValue, rest, dims, constants);
}
