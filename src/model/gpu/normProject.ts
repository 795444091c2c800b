import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import { scalarBytes, type Tensor } from '../../gpu/tensor.ts';
import type { ModelConfig } from '../architecture.ts';
import type { KernelVariants } from './kernelSets.ts';
import { BROADCAST_ROWS, tileFor } from './layers.ts';
import type { Matrix } from './matrices.ts';

/** Whether a model allows fused kernels, which compute norms, rotary and SwiGLU together with a matrix product. They don't normalise heads. */
export function canFuse(m: ModelConfig): boolean {
  return !m.qk_norm && m.head_dim % 8 === 0 && m.hidden_size % 4 === 0 && m.intermediate_size % 4 === 0;
}

/** A norm, the projection after it, and the operation after the projection. */
export interface NormProjection {
  readonly norm: Tensor;
  readonly matrix: Matrix;
  readonly bias: Tensor | null;
  readonly followedBy: 'rotary' | 'swiglu'; // rotary for queries, keys and values; swiglu for gates and ups
}

/** Each variant's kernel, and the rows that a thread owns. */
const KERNELS = {
  none: { kernel: kernels.normProjectBlocks, block: 8 },
  tiles: { kernel: kernels.normProjectTiles, block: 4 },
  subgroups: { kernel: kernels.normProjectBroadcast, block: BROADCAST_ROWS },
} as const;

/**
 * Records a norm, the projection after it, and rotary or SwiGLU after that, in one dispatch. The weights of all are
 * slices of `weights`. `save` also writes xhat, inv and the projection itself, for a backward pass.
 */
export function normProject(
  plan: Plan,
  variant: KernelVariants['products'],
  m: ModelConfig,
  { norm, matrix, bias, followedBy }: NormProjection,
  save: boolean,
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
  const M = matrix.rows;
  const { weights } = tensors;
  const startOf = ({ offset }: Tensor) => (offset - weights.offset) / scalarBytes(weights.scalarType);
  const { kernel, block } = KERNELS[variant];
  const { dims, constants } = tileFor(N, M);
  plan.dispatch(
    kernel,
    tensors,
    {
      N,
      C: m.hidden_size,
      M,
      half: rotary ? m.head_dim / 2 : M / 2,
      turned: rotary ? m.num_attention_heads + m.num_key_value_heads : 0,
      norm_at: startOf(norm),
      projection_at: startOf(matrix.parts[0]!.weights),
      bias_at: bias ? startOf(bias) : 0,
      save: save ? 1 : 0,
      block,
      swiglu: followedBy === 'swiglu' ? 1 : 0,
      bias: bias ? 1 : 0,
      tileRows: dims.tileRows,
    },
    { EPS: m.rms_norm_eps, ...(variant === 'tiles' && { ROWS: constants.ROWS }) },
  );
}
