import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import type { ModelConfig } from '../architecture.ts';
import { qkvWidth } from './activations.ts';
import type { KernelVariants } from './kernelSets.ts';

const BARRIER_FREE = {
  forward: kernels.attentionForward,
  query: kernels.attentionBackwardQuery,
  keyValue: kernels.attentionBackwardKeyValue,
};
/** For heads whose size 8 doesn't divide. */
const SCALARS = {
  forward: kernels.attentionForwardScalars,
  query: kernels.attentionBackwardQueryScalars,
  keyValue: kernels.attentionBackwardKeyValueScalars,
};
const SHARED_ROWS = {
  forward: kernels.attentionForwardSharedRows,
  query: kernels.attentionBackwardQuerySharedRows,
  keyValue: kernels.attentionBackwardKeyValueSharedRows,
};

/** Largest head of the shared-rows kernels, in which eight lanes hold four scalars each of a row. */
const MAX_SHARED_HEAD = 32;

function kernelsFor(variant: KernelVariants['attention'], D: number) {
  if (variant === 'subgroups' && D <= MAX_SHARED_HEAD) return SHARED_ROWS;
  return D % 8 === 0 ? BARRIER_FREE : SCALARS;
}

/** Kernels, dims and constants of attention over N nodes. `keys` is the average number of keys per query, to estimate costs. */
function kernelsAndSizes(m: ModelConfig, N: number, keys: number, variant: KernelVariants['attention']) {
  const [H, G, D] = [m.num_attention_heads, m.num_key_value_heads, m.head_dim];
  return { ...kernelsFor(variant, D), dims: { N, H, G, D, W: qkvWidth(m), keys }, constants: { HEAD: D } };
}

/** Records out = attention over the paths of nodes, from rotated qkv. Also writes lse for the backward pass. */
export function attention(
  plan: Plan,
  variant: KernelVariants['attention'],
  m: ModelConfig,
  tensors: { readonly qkv: Tensor; readonly nodes: Tensor; readonly out: Tensor; readonly lse: Tensor },
  N: number,
  keys: number,
): void {
  const { forward, dims, constants } = kernelsAndSizes(m, N, keys, variant);
  plan.dispatch(forward, tensors, dims, constants);
}

/** Records the gradients of the unrotated queries, keys and values, in two dispatches. */
export function attentionBackward(
  plan: Plan,
  variant: KernelVariants['attention'],
  m: ModelConfig,
  tensors: {
    readonly qkv: Tensor;
    readonly nodes: Tensor;
    readonly out: Tensor;
    readonly dout: Tensor;
    readonly lse: Tensor;
    readonly table: Tensor;
    readonly delta: Tensor;
    readonly dqkv: Tensor;
  },
  N: number,
  keys: number,
): void {
  const { query, keyValue, dims, constants } = kernelsAndSizes(m, N, keys, variant);
  const { out, ...inputsAndGradients } = tensors;
  plan.dispatch(query, { ...inputsAndGradients, out }, dims, constants);
  plan.dispatch(keyValue, inputsAndGradients, dims, constants);
}
