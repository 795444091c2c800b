import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import { slice, type Tensor } from '../../gpu/tensor.ts';
import type { ModelConfig } from '../architecture.ts';
import type { KernelVariants } from './kernelSets.ts';
import { BROADCAST_ROWS, tileFor } from './layers.ts';
import { startOfGroup, type ParameterLayout } from './networkTensors.ts';

/** Whether a model allows fused kernels, which compute norms, rotary and SwiGLU together with a matrix product. They don't normalise heads. */
export function canFuse(m: ModelConfig): boolean {
  return !m.qk_norm && m.head_dim % 8 === 0 && m.hidden_size % 4 === 0 && m.intermediate_size % 4 === 0;
}

/** A norm, the projection after it, and the operation after the projection. */
export interface NormProjection {
  readonly norm: string; // parameter group
  readonly projection: string; // parameter group
  readonly columns: number; // M
  readonly followedBy: 'rotary' | 'swiglu'; // rotary for queries, keys and values; swiglu for gates and ups
  readonly save: boolean; // also writes xhat, inv and the projection itself, for a backward pass
}

/** Each variant's kernel, and the rows that a thread owns. */
const KERNELS = {
  none: { kernel: kernels.normProjectBlocks, block: 8 },
  tiles: { kernel: kernels.normProjectTiles, block: 4 },
  subgroups: { kernel: kernels.normProjectBroadcast, block: BROADCAST_ROWS },
} as const;

/** Records a norm, the projection after it, and rotary or SwiGLU after that, in one dispatch. */
export function normProject(
  plan: Plan,
  variant: KernelVariants['products'],
  m: ModelConfig,
  layout: ParameterLayout,
  { norm, projection, columns: M, followedBy, save }: NormProjection,
  tensors: {
    readonly weights: Tensor;
    readonly x: Tensor;
    readonly positions: Tensor;
    readonly table: Tensor;
    readonly p: Tensor;
    readonly act: Tensor;
    readonly xhat: Tensor;
    readonly inv: Tensor;
  },
  N: number,
): void {
  const rotary = followedBy === 'rotary';
  const bias = rotary && m.attention_bias;
  const { kernel, block } = KERNELS[variant];
  const { dims, constants } = tileFor(N, M);
  plan.dispatch(
    kernel,
    { ...tensors, weights: slice(tensors.weights, 'weights', 0, [layout.size]) },
    {
      N,
      C: m.hidden_size,
      M,
      half: rotary ? m.head_dim / 2 : M / 2,
      turned: rotary ? m.num_attention_heads + m.num_key_value_heads : 0,
      norm_at: startOfGroup(layout, norm),
      projection_at: startOfGroup(layout, projection),
      bias_at: bias ? startOfGroup(layout, projection.replace('weight', 'bias')) : 0,
      save: save ? 1 : 0,
      block,
      swiglu: followedBy === 'swiglu' ? 1 : 0,
      bias: bias ? 1 : 0,
      tileRows: dims.tileRows,
    },
    { EPS: m.rms_norm_eps, ...(variant === 'tiles' && { ROWS: constants.ROWS }) },
  );
}
