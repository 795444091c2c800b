import * as kernels from '../../gpu/kernels/index.ts';
import { STEP_STATS } from '../../gpu/kernels/stepStats.ts';
import { Plan, type Recorder } from '../../gpu/plan.ts';
import type { Scalar, Tensor } from '../../gpu/tensor.ts';
import type { DeviceBatch } from './deviceBatch.ts';
import type { Heads } from './finalNorm.ts';
import { CLOSING_GROUPS, type Pools } from './pools.ts';

/** Tensors and sizes for recording the opening and closing of optimizer steps. */
export interface StepParts {
  readonly recorder: Recorder;
  readonly batch: DeviceBatch;
  readonly minibatch: Tensor; // (M) batch rows; 0xffffffff: no row
  readonly knobs: Tensor; // uniform
  readonly B: number;
  readonly T: number;
}

/**
 * Records the opening of a step: clears the gradients and, with `weighs`, computes each token's weights in the loss.
 */
export function recordOpening(
  { recorder, batch, minibatch, knobs, B, T }: StepParts,
  pools: Pools,
  label: string,
  weighs: boolean,
): Plan {
  const plan = new Plan(recorder, label);
  plan.clear(pools.grads.pool);
  const { masks, weights } = batch;
  if (weighs) plan.dispatch(kernels.lossWeights, { minibatch, masks, weights, knobs }, { M: rowsOf(minibatch), T, B });
  return plan;
}

function rowsOf({ shape }: Tensor): number {
  return shape[0] ?? 0;
}

/**
 * Records the closing of a step: gradient norm, clipping, the check for non-finite numbers, the log line and AdamW.
 * With `frozen` it only writes the log line: weights, moments and Adam's step count stay as they are.
 */
export function recordClosing(
  { recorder, batch, minibatch, knobs, B, T }: StepParts,
  pools: Pools,
  heads: Heads,
  label: string,
  frozen = false,
): Plan {
  const plan = new Plan(recorder, label);
  const { weights, shadow, grads, first, second, sums, stats, statsAt, ledger, logAt, layout } = pools;
  const { coefficients } = batch;
  const halves = shadow.scalar === 'f16';
  const P = layout.size;
  const groups = CLOSING_GROUPS[recorder.gpu.software ? 'software' : 'hardware'];
  const stretches = { groups, chunk: Math.ceil(P / 64 / groups) };
  if (grads.count > 1) plan.dispatch(kernels.sumSlabs, { grads: grads.pool }, { P, slabs: grads.count });
  const constants = { LARGEST: largest(shadow.scalar) };
  plan.dispatch(kernels.gradientNorm, { grads: grads.pool, weights, sums }, { P, ...stretches }, constants);
  const firstStat = heads.language ? 0 : STEP_STATS.indexOf('valueLoss');
  const sizes = { M: rowsOf(minibatch), T, B, first: firstStat };
  plan.dispatch(kernels.stepStats, { minibatch, coefficients, stats }, sizes);
  plan.dispatch(kernels.adamCorrections, { ledger, knobs }, { threads: 2 });
  plan.dispatch(
    kernels.adamw,
    // with f32 storage there is no shadow, and coefficients stand in
    { weights, grads: grads.pool, first, second, shadow: halves ? shadow : coefficients, sums, ledger, knobs },
    { P: frozen ? 0 : P, decayed: layout.decayed, ...stretches, log_at: logAt, stats_at: statsAt },
    { SHADOW: halves ? 1 : 0 },
  );
  return plan;
}

/** The largest finite number of a type, as the bits of an f32. */
function largest(scalar: Scalar): number {
  return scalar === 'f16' ? 0x477fe000 : 0x7f7fffff; // 65,504 and 3.4e38
}

/**
 * Records the rounding of newly written weights to the f16 copies that forward passes read. The plan is empty if they
 * read the weights themselves.
 */
export function recordRounding(recorder: Recorder, networks: readonly Pools[]): Plan {
  const plan = new Plan(recorder, 'rounding');
  for (const { weights, shadow, layout } of networks) {
    if (shadow !== weights) plan.dispatch(kernels.roundWeights, { weights, shadow }, { P: layout.size });
  }
  return plan;
}
