import type { RunConfig } from '../config/fields.ts';
import type { MemoryShare } from '../domain/modelCard.ts';
import { NoGpuError, offersSoftwareOnly } from '../gpu/gpuAdapter.ts';
import { shareGpu } from '../gpu/sharedDevice.ts';
import { Arena, LimitError } from '../gpu/tensor.ts';
import { adapterConfig } from '../model/adapterKnobs.ts';
import { adapterParameters } from '../model/loraAdapters.ts';
import { createTrained } from '../model/learning/trainedTensors.ts';
import { declareAdapted } from '../model/gpu/adapters/adaptedTensors.ts';
import { BackendError } from '../model/policy.ts';
import { policySpec, type RolloutSize } from './policySpec.ts';
import type { SizedBase } from './trainingMemory.ts';

/**
 * The GPU memory of a run that trains adapters for `base`, computed by the code that declares its buffers; nothing is
 * allocated. Null if there is no usable GPU, if the run doesn't fit, or if the backend is `auto` and there are only
 * software adapters.
 */
export async function gpuTrainingParts(
  gpu: GPU,
  config: RunConfig,
  base: SizedBase,
  env: RolloutSize,
): Promise<readonly MemoryShare[] | null> {
  const spec = policySpec(config, env, base);
  const adapters = adapterConfig(config);
  try {
    // a software adapter runs WebGPU on the CPU, which is slower than the CPU backend
    if (config.backend === 'auto' && (await offersSoftwareOnly(gpu))) return null;
    const part = await shareGpu(gpu);
    try {
      const learned = createTrained(adapterParameters(spec.model, adapters), {
        reals: (size) => new Float32Array(size),
      });
      return declareAdapted(new Arena(part), part, spec, base.weights, adapters, learned, {}).memory;
    } finally {
      part.close();
    }
  } catch (error) {
    if (error instanceof NoGpuError || error instanceof LimitError || error instanceof BackendError) return null;
    throw error;
  }
}
