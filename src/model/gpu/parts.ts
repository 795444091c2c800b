import { validated, type Gpu } from '../../gpu/device.ts';
import { Pipelines } from '../../gpu/pipelines.ts';
import { ShapeUniforms, type Recorder } from '../../gpu/plan.ts';
import { Arena } from '../../gpu/tensor.ts';
import type { BackendInfo } from '../../domain/backendInfo.ts';
import { initialWeights, type Weights } from '../architecture.ts';
import type { PolicySpec } from '../policy.ts';
import { variantsOf, chooseKernels } from './kernelSets.ts';
import { type GpuPolicyOptions, WORK_KINDS } from './options.ts';
import { nodeCapacity } from './microBatchTokens.ts';
import { compilePlans, plansOf, recordPlans, type Plans } from './plans.ts';
import { partialsFor } from './partialGradients.ts';
import { declareTensors, microRows, supportedStorage, writeConstants, type DeviceTensors } from './deviceTensors.ts';
import { drawsTurns } from './turnPlan.ts';
import { memoryByPurpose, Profiler } from './workProfile.ts';

/** Parts of a GPU policy: all plans are recorded, and all tensors allocated. */
export interface PolicyParts {
  readonly gpu: Gpu;
  readonly spec: PolicySpec;
  readonly tensors: DeviceTensors;
  readonly plans: Plans;
  readonly profiler: Profiler;
  readonly backend: BackendInfo;
  readonly sharePrefixes: boolean; // whether a beginning that rows share is computed once
}

/**
 * Checks the limits, allocates, records and compiles. Also returns the initial weights. Throws LimitError if the
 * adapter cannot hold the policy.
 */
export async function makeParts(
  gpu: Gpu,
  spec: PolicySpec,
  options: GpuPolicyOptions,
): Promise<{ readonly parts: PolicyParts; readonly weights: Weights }> {
  const kernels = chooseKernels(gpu, options);
  const arena = new Arena(gpu);
  const storage = supportedStorage(gpu, options.storage);
  const R = microRows(gpu, spec, storage, options.microRows);
  const partialsCount = (P: number) => partialsFor(gpu, P, nodeCapacity(R, spec.length), options.partials);
  const variants = variantsOf(gpu, kernels.choice);
  const turns = drawsTurns(gpu, variants, spec, storage);
  const tensors = declareTensors(arena, spec, R, storage, partialsCount, turns);
  await arena.allocate();
  const recorder: Recorder = { gpu, pipelines: Pipelines.forDevice(gpu), shapes: new ShapeUniforms(gpu) };
  const { plans, weights } = await validated(gpu, 'the recorded plans', async () => {
    const plans = recordPlans(recorder, variants, spec, tensors);
    const compiling = compilePlans(recorder, plans, options);
    const weights = options.weights?.() ?? initialWeights(spec.model, options.seed); // while shaders compile
    await compiling;
    return { plans, weights };
  });
  writeConstants(gpu, tensors, spec);
  const { adapter, software } = gpu;
  const backend = { kind: 'gpu', adapter, software, storage, reason: options.reason ?? '', kernels } as const;
  const recorded = WORK_KINDS.flatMap((work) => plansOf(plans, work));
  const profiler = new Profiler(gpu, () => recorded, kernels.choice, memoryByPurpose(arena));
  const { sharePrefixes = true } = options;
  return { parts: { gpu, spec, tensors, plans, profiler, backend, sharePrefixes }, weights };
}
