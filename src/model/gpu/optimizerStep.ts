import * as kernels from '../../gpu/kernels/index.ts';
import { STEP_STATS } from '../../gpu/kernels/stepStats.ts';
import { Plan, type Recorder } from '../../gpu/plan.ts';
import type { ScalarType, Tensor } from '../../gpu/tensor.ts';
import type { DeviceBatch } from './deviceBatch.ts';
import { hasTeacher } from './learner.ts';
import type { OutputHeads } from './agentNetwork.ts';
import { CLOSING_WORKGROUPS, type GpuNetworkTensors } from './networkTensors.ts';

export interface StepParts {
  readonly recorder: Recorder;
  readonly batch: DeviceBatch;
  readonly minibatch: Tensor; // (M) batch rows; 0xffffffff: no row
  readonly knobs: Tensor; // uniform
  readonly B: number;
  readonly T: number;
}

/** Clears the gradients and, with `computesLossWeights`, computes each token's weights in the loss. */
export function recordOpening(
  { recorder, batch, minibatch, knobs, B, T }: StepParts,
  networkTensors: GpuNetworkTensors,
  label: string,
  computesLossWeights: boolean,
): Plan {
  const plan = new Plan(recorder, label);
  plan.clear(networkTensors.grads.tensor);
  const { masks, rewards, corrections, lossWeights: weights } = batch;
  const inputs = { minibatch, masks, rewards, corrections, weights, knobs };
  if (computesLossWeights)
    plan.dispatch(kernels.lossWeights, inputs, { M: rowsOf(minibatch), T, B }, { TEACHER: hasTeacher(batch) });
  return plan;
}

function rowsOf({ shape }: Tensor): number {
  return shape[0] ?? 0;
}

/** Gradient norm, clipping, check for non-finite numbers, log line, AdamW. `frozen` only logs: weights, moments and step count stay. */
export function recordClosing(
  { recorder, batch, minibatch, knobs, B, T }: StepParts,
  networkTensors: GpuNetworkTensors,
  outputHeads: OutputHeads,
  label: string,
  frozen = false,
): Plan {
  const plan = new Plan(recorder, label);
  const {
    weights,
    passWeights,
    grads,
    adamM,
    adamV,
    stepSums,
    stepStats,
    statsStart,
    optimizerState,
    logStart,
    layout,
  } = networkTensors;
  const { coefficients } = batch;
  const float16 = passWeights.scalarType === 'f16';
  const P = layout.size;
  const workgroups = CLOSING_WORKGROUPS[recorder.gpu.software ? 'software' : 'hardware'];
  const workgroupSizes = { groups: workgroups, chunk: Math.ceil(P / 64 / workgroups) };
  if (grads.count > 1) plan.dispatch(kernels.sumSlabs, { grads: grads.tensor }, { P, slabs: grads.count });
  const constants = { LARGEST: largestFinite(passWeights.scalarType) };
  plan.dispatch(
    kernels.gradientNorm,
    { grads: grads.tensor, weights, sums: stepSums },
    { P, ...workgroupSizes },
    constants,
  );
  const firstStat = outputHeads.language ? 0 : STEP_STATS.indexOf('valueLoss');
  const sizes = { M: rowsOf(minibatch), T, B, first: firstStat };
  plan.dispatch(kernels.stepStats, { minibatch, coefficients, stats: stepStats }, sizes);
  plan.dispatch(kernels.adamCorrections, { ledger: optimizerState, knobs }, { threads: 2 });
  plan.dispatch(
    kernels.adamw,
    // with f32 storage there is no f16 copy of the weights to write, and coefficients are bound in its place
    {
      weights,
      grads: grads.tensor,
      first: adamM,
      second: adamV,
      shadow: float16 ? passWeights : coefficients,
      sums: stepSums,
      ledger: optimizerState,
      knobs,
    },
    { P: frozen ? 0 : P, decayed: layout.decayed, ...workgroupSizes, log_at: logStart, stats_at: statsStart },
    { SHADOW: float16 ? 1 : 0 },
  );
  return plan;
}

/** The largest finite number of a type, as the bits of an f32. */
function largestFinite(scalarType: ScalarType): number {
  return scalarType === 'f16' ? 0x477fe000 : 0x7f7fffff; // 65,504 and 3.4e38
}

/** Rounds newly written weights to the f16 copies that forward passes read; empty if they read the weights themselves. */
export function recordRounding(recorder: Recorder, networks: readonly GpuNetworkTensors[]): Plan {
  const plan = new Plan(recorder, 'rounding');
  for (const { weights, passWeights, layout } of networks) {
    if (passWeights !== weights)
      plan.dispatch(kernels.roundWeights, { weights, shadow: passWeights }, { P: layout.size });
  }
  return plan;
}
