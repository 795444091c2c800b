import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import { alignUp, type Tensor } from '../../gpu/tensor.ts';
import type { ModelConfig } from '../architecture.ts';

/** The weights of a layer that act on heads. Null: the model has none. */
export interface HeadWeights {
  readonly qkvBias: Tensor | null; // (W)
  readonly headNorms: Tensor | null; // (D) of q, and from scalar `kNorm` on of k
  readonly kNorm: number;
}

/** First scalar of k's heads in `unnormed`, after q's heads of N tokens. */
export const unnormedKeysAt = ({ num_attention_heads: H, head_dim: D }: ModelConfig, N: number) => alignUp(N * H * D);

function sizes(m: ModelConfig, N: number, { kNorm }: HeadWeights) {
  const [H, G, D] = [m.num_attention_heads, m.num_key_value_heads, m.head_dim];
  return { N, H, G, D, k_norm: kNorm, k_at: unnormedKeysAt(m, N) };
}

/**
 * Records the biases, norms and rotation of qkv (N,W), in place. `unnormed` keeps q and k from before their norms.
 * Without norms it is a tensor that stands in for it, and isn't written.
 */
export function recordHeads(
  plan: Plan,
  m: ModelConfig,
  { qkv, unnormed, positions, table }: Readonly<Record<'qkv' | 'unnormed' | 'positions' | 'table', Tensor>>,
  weights: HeadWeights,
  N: number,
): void {
  const { qkvBias: bias, headNorms: norms } = weights;
  // something must stand in for missing weights, from a buffer that is not written
  const operands = { bias: bias ?? norms ?? table, norms: norms ?? bias ?? table };
  const constants = { EPS: m.rms_norm_eps, BIAS: bias ? 1 : 0, NORM: norms ? 1 : 0 };
  plan.dispatch(kernels.rotary, { qkv, unnormed, positions, table, ...operands }, sizes(m, N, weights), constants);
}

/** Records the gradients of q and k before their norms, in place in dqkv. `unnormed` becomes the summands of the gradients of the norms' weights. */
export function recordHeadsBackward(
  plan: Plan,
  m: ModelConfig,
  { dqkv, unnormed }: Readonly<Record<'dqkv' | 'unnormed', Tensor>>,
  weights: HeadWeights,
  N: number,
): void {
  if (!weights.headNorms) return;
  const tensors = { norms: weights.headNorms, unnormed, dqkv };
  plan.dispatch(kernels.headNormsBackward, tensors, sizes(m, N, weights), { EPS: m.rms_norm_eps });
}
