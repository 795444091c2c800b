import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import type { KernelChoice } from '../../kernelChoice.ts';
import type { ModelConfig } from '../architecture.ts';
import { qkvWidth } from './activations.ts';
import { broadcasts } from './kernelSets.ts';

/** Largest head whose row eight lanes hold in four scalars each. */
const EIGHTS = 32;

/** Sizes and constants of an attention dispatch over whole rows of T tokens, and whether its kernels broadcast. */
function sizes(m: ModelConfig, N: number, T: number, variant: KernelChoice['attention']) {
  const [H, G, D] = [m.num_attention_heads, m.num_key_value_heads, m.head_dim];
  const lanes = broadcasts(variant);
  const eights = lanes?.WIDE === 1 && D <= EIGHTS; // four lanes need no constant
  return {
    broadcast: lanes !== null,
    dims: { N, T, H, G, D, W: qkvWidth(m), keys: eights ? 8 : 16 },
    constants: lanes && !eights ? {} : { HEAD: D, ...lanes },
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
  const { broadcast, dims, constants } = sizes(m, N, T, variant);
  const tiled = variant === 'workgroup' ? kernels.attentionForwardTiles : kernels.attentionForward;
  if (broadcast) plan.dispatch(kernels.attentionForwardBroadcast, tensors, dims, constants);
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
  const { broadcast, dims, constants } = sizes(m, N, T, variant);
  const { out, ...rest } = tensors;
  const [query, keyValue] = broadcast
    ? [kernels.attentionBackwardQueryBroadcast, kernels.attentionBackwardKeyValueBroadcast]
    : variant === 'workgroup'
      ? [kernels.attentionBackwardQueryTiles, kernels.attentionBackwardKeyValueTiles]
      : [kernels.attentionBackwardQuery, kernels.attentionBackwardKeyValue];
  plan.dispatch(query, { ...rest, out }, dims, constants);
  plan.dispatch(keyValue, rest, dims, constants);
}
