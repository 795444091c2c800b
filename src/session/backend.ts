import type { RunConfig } from '../config/config.ts';
import { findKernelSet } from '../config/kernelChoice.ts';
import type { ToolEnv } from '../envs/env.ts';
import { NoGpuError } from '../gpu/gpuAdapter.ts';
import type { BaseCheckpoint } from '../checkpoints/baseCheckpoint.ts';
import { adapterConfig } from '../model/adapterKnobs.ts';
import { createCpuPolicy } from '../model/cpu/cpuPolicy.ts';
import { BackendError, type Policy } from '../model/policy.ts';
import { learningMath } from '../rl/plainLearningMath.ts';
import type { RunEvent } from '../wire/commands.ts';
import { deviceLost } from './errorEvent.ts';
import type { Host } from './host.ts';
import { policySpec } from './policySpec.ts';

const NO_WEBGPU = 'There is no WebGPU here.';
const NO_WEBGPU_REMEDY = 'Set backend to auto or cpu, or use a browser and driver with WebGPU.';

interface OpenOptions {
  readonly savedKernels: string | undefined; // name of the kernel set that a resumed run was saved with
  readonly base: BaseCheckpoint | null; // the checkpoint that the run trains adapters for
  readonly onProgress: (done: number, total: number) => void; // gets the progress of a stage that takes minutes
}

/** With 'auto' the host chooses the backend: the CPU if there is no usable GPU. */
export async function openPolicy(
  config: RunConfig,
  env: ToolEnv,
  host: Host,
  onEvent: (event: RunEvent) => void,
  { savedKernels, base, onProgress }: OpenOptions,
): Promise<Policy> {
  const spec = { ...policySpec(config, env, base), teacher: config.teacher !== 'none' };
  const { seed, backend, kernels, storage } = config;
  if (base) return openAdaptedPolicy(config, env, host, onEvent, { base, onProgress });
  const onCpu = (reason: string) => {
    if (storage === 'f32') return createCpuPolicy(spec, learningMath, { seed, reason, threads: host.threads });
    const message = ['Storage f16 is for WebGPU; on the CPU all numbers are f32.', reason].join(' ').trim();
    throw new BackendError(message, 'Set storage to f32.', ['storage', 'backend']);
  };
  if (backend === 'cpu') return onCpu('');
  const savedSet = findKernelSet(savedKernels);
  const kernelsRemoved =
    savedKernels && !savedSet
      ? `The run began with kernels ${savedKernels}, which no longer exist. Others round differently.`
      : '';
  const { gpu, openGpuPolicy } = host;
  let reason = NO_WEBGPU;
  if (gpu && openGpuPolicy) {
    try {
      const choice =
        backend === 'auto' && storage === 'f32' ? await host.chooseBackend?.(gpu, spec, host.threads) : undefined;
      if (choice?.kind === 'cpu') return onCpu(choice.reason);
      return await openGpuPolicy(gpu, spec, {
        seed,
        storage,
        reason: [choice?.reason, kernelsRemoved].filter(Boolean).join(' '),
        ...(savedSet && { resumedKernels: savedSet }),
        ...(kernels !== 'auto' && { kernels }),
        onLost: (message) => onEvent(deviceLost(message, true)),
        progress: (done, total) => onEvent({ type: 'phase', phase: 'compiling', update: 0, done, total }),
      });
    } catch (error) {
      // a model that is too large for the GPU is refused. Only a missing or unusable GPU leads to the CPU
      if (!(error instanceof NoGpuError)) throw error;
      reason = error.message;
    }
  }
  if (backend === 'auto') return onCpu(reason);
  throw new BackendError(reason, NO_WEBGPU_REMEDY, ['backend']);
}

/** With 'auto' it takes the GPU if there is one, it's faster, and the run fits; otherwise the CPU, and says why. */
async function openAdaptedPolicy(
  config: RunConfig,
  env: ToolEnv,
  host: Host,
  onEvent: (event: RunEvent) => void,
  { base, onProgress }: Pick<OpenOptions, 'onProgress'> & { readonly base: BaseCheckpoint },
): Promise<Policy> {
  const adapters = adapterConfig(config);
  const spec = policySpec(config, env, base);
  const { seed, backend } = config;
  const yieldToEvents = host.yieldOrWait ?? host.yieldToEvents;
  const between = (done: number, total: number) => {
    onProgress(done, total);
    return yieldToEvents();
  };
  const onCpu = async (reason: string) => {
    // imported only here, because it has kernels that only adapters need
    const { openCpuAdaptedPolicy } = await import('../model/cpu/adapters/cpuAdaptedPolicy.ts');
    const { checkFits, trainingPlan } = await import('./trainingMemory.ts');
    if (config.critic !== 'separate') checkFits(await trainingPlan(config, base, env));
    return openCpuAdaptedPolicy(spec, base.weights, adapters, learningMath, {
      ...{ seed, reason, reportProgress: between, yieldToEvents },
      ...(host.threads && { threads: host.threads }),
    });
  };
  if (backend === 'cpu') return onCpu('');
  const { gpu } = host;
  if (!gpu) {
    if (backend === 'auto') return onCpu(NO_WEBGPU);
    throw new BackendError(NO_WEBGPU, NO_WEBGPU_REMEDY, ['backend']);
  }
  let reason: string;
  try {
    const choice = backend === 'auto' ? await host.chooseBackend?.(gpu, spec, host.threads) : undefined;
    if (choice?.kind !== 'cpu') {
      const { openGpuAdaptedPolicy } = await import('../model/gpu/adapters/openGpuAdaptedPolicy.ts');
      return await openGpuAdaptedPolicy(gpu, spec, base.weights, adapters, learningMath, {
        ...{ seed, reason: choice?.reason ?? '', reportProgress: between },
        onLost: (message) => onEvent(deviceLost(message, true)),
        compiling: (done, total) => onEvent({ type: 'phase', phase: 'compiling', update: 0, done, total }),
      });
    }
    ({ reason } = choice);
  } catch (error) {
    if (!(error instanceof NoGpuError || error instanceof BackendError)) throw error;
    if (backend !== 'auto') {
      throw error instanceof BackendError ? error : new BackendError(error.message, NO_WEBGPU_REMEDY, ['backend']);
    }
    reason = error.message;
  }
  return onCpu(reason);
}
