import { compile, type CompileProgress } from '../../../gpu/compile.ts';
import type { Gpu } from '../../../gpu/device.ts';
import { Pipelines, type PipelineEntry } from '../../../gpu/pipelines.ts';
import { ShapeUniforms } from '../../../gpu/plan.ts';
import { Arena } from '../../../gpu/tensor.ts';
import { type AdapterConfig, adapterParameters } from '../../loraAdapters.ts';
import { createTrained } from '../../learning/trainedTensors.ts';
import type { LearningMath } from '../../learningMath.ts';
import { BackendError, type PolicySpec } from '../../policy.ts';
import type { WeightSource } from '../../weightSource.ts';
import { defaultSet } from '../kernelSets.ts';
import { openOnDevice, type DeviceOptions } from '../onDevice.ts';
import { loadText } from '../text/load.ts';
import { loadMatrix } from '../matrices.ts';
import { entriesOf, entriesOfPlans, passFor } from '../text/passes.ts';
import { type AdaptedPolicySettings, GpuAdaptedPolicy } from './adaptedPolicy.ts';
import { withFloats } from './adaptedLinears.ts';
import { type AdaptedCapacity, type AdaptedTensors, declareAdapted } from './adaptedTensors.ts';

export type { GpuAdaptedPolicy } from './adaptedPolicy.ts';

export interface GpuAdaptedOptions extends AdaptedPolicySettings, AdaptedCapacity, DeviceOptions {
  readonly compiling?: CompileProgress;
}

/**
 * Opens a `Policy` that trains adapters for a checkpoint on WebGPU. The device computes forward and backward passes and
 * draws the tokens. The CPU, which holds the batch, computes the objective, AdamW and the value head. The
 * state is the same as that of `openCpuAdaptedPolicy`, the numbers are the same up to rounding. Throws NoGpuError
 * without a GPU, BackendError if the model does not fit (before anything is allocated), ProblemError with file and
 * tensor if the checkpoint cannot be read, and DeviceLostError if the device is lost meanwhile.
 */
export async function openGpuAdaptedPolicy(
  gpu: GPU | undefined,
  spec: PolicySpec,
  source: WeightSource,
  adapters: AdapterConfig,
  math: LearningMath,
  options: GpuAdaptedOptions,
): Promise<GpuAdaptedPolicy> {
  if (spec.critic === 'separate') {
    const message = 'A separate critic would need a second copy of the checkpoint.';
    throw new BackendError(message, 'Set critic to none or shared.', ['critic']);
  }
  const open = async (device: Gpu) => {
    const arena = new Arena(device);
    const learned = createTrained(adapterParameters(spec.model, adapters), { reals: (size) => new Float32Array(size) });
    const tensors = declareAdapted(arena, device, spec, source, adapters, learned, options);
    await arena.allocate();
    const recorder = { gpu: device, pipelines: Pipelines.forDevice(device), shapes: new ShapeUniforms(device) };
    const parts = { recorder, spec, adapters, learned, tensors, math, kernels: defaultSet(device) };
    const policy = new GpuAdaptedPolicy(parts, options);
    await compile(recorder, options.compiling, neededPipelines(policy));
    await load(device, spec, source, adapters, tensors);
    policy.start(options.seed);
    return policy;
  };
  const remedy = 'Use fewer or shorter rollouts, a smaller model, or the CPU.';
  return openOnDevice(gpu, options, open, ({ message }) => new BackendError(message, remedy, ['rows', 'length', 'backend'])); // prettier-ignore
}

/** The passes up to the fewest seats that hold all rows; nothing lists likeliest tokens or scores single ones. */
function neededPipelines({ passes: recorded, rows, network }: GpuAdaptedPolicy): readonly PipelineEntry[] {
  const passesWithLogits = recorded.filter(({ toLogits }) => toLogits !== null);
  const passes = recorded.filter(
    (pass) => pass.toLogits === null || pass.seats <= passFor(passesWithLogits, rows).seats,
  );
  const unused = new Set(passes.flatMap(({ likeliest, score }) => entriesOfPlans([likeliest, score])));
  return [...new Set([...entriesOf(passes).filter((entry) => !unused.has(entry)), ...network.entries])];
}

/** Matrices with an adapter stay packed, for `merge` to add the adapters to. All others go where the passes read them. */
async function load(
  gpu: Gpu,
  { model, length }: PolicySpec,
  source: WeightSource,
  adapters: AdapterConfig,
  { text, adaptedLinears }: AdaptedTensors,
): Promise<void> {
  const adaptedNames = new Set(adaptedLinears.map(({ weightName }) => weightName));
  const matrices = text.matrices.filter(({ names }) => names.some((name) => !adaptedNames.has(name)));
  const otherTensors = { ...text, matrices };
  await loadText(gpu, model, withFloats(source, model, adapters), otherTensors, { length, progress: () => undefined });
  for (const { baseMatrix } of adaptedLinears) await loadMatrix(gpu, source, baseMatrix);
}
