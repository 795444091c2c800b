import type { RunConfig } from '../config/config.ts';
import type { KernelSet } from '../config/kernelChoice.ts';
import type { BackendChoice } from './chooseBackend.ts';
import type { Threads } from '../model/cpu/team/threads.ts';
import type { Policy, PolicySpec } from '../model/policy.ts';
import type { ToolEnv } from '../envs/env.ts';
import type { AgentLanguage } from '../envs/turnCodec.ts';

export interface Host {
  readonly gpu: GPU | undefined;
  readonly openGpuPolicy?: OpenGpuPolicy;
  /**
   * Chooses the backend when the knob says `auto`. `threads` are the threads the CPU backend would use, one if left
   * out. Without this function, `auto` takes a GPU if there is an adapter. Throws NoGpuError.
   */
  readonly chooseBackend?: (gpu: GPU, spec: PolicySpec, threads?: Threads) => Promise<BackendChoice>;
  readonly threads?: Threads; // threads that compute on the CPU; one if left out
  /** Bytes of a file under public/, such as warm/x.safetensors, or null if there is no such file. */
  readonly shippedFile: (path: string) => Promise<ArrayBuffer | null>;
  /** The environment that a person wrote and wants to train on; absent if there is none. Throws if it is faulty. */
  readonly ownEnvironment?: (speaking: AgentLanguage) => Promise<ToolEnv>;
  /** Bytes of QuickJS, in which folders for other programs run an environment. Absent where nothing is handed over. */
  readonly quickjsWasm?: () => Promise<Uint8Array>;
  readonly now: () => number; // ms
  readonly yieldToEvents: () => Promise<void>; // lets the event loop run
  /** Called within a stage of minutes: lets the event loop run, waits while the run is paused, throws if it was replaced. */
  readonly yieldOrWait?: () => Promise<void>;
  readonly fenced?: () => boolean; // true: each stage of an update waits until the device is done
}

/** Opens the WebGPU backend. Throws BackendError if `spec` doesn't fit on the GPU. */
export type OpenGpuPolicy = (
  gpu: GPU,
  spec: PolicySpec,
  options: {
    readonly seed: number;
    readonly storage: RunConfig['storage'];
    readonly reason: string; // why this backend was chosen; '' if there was nothing to choose
    readonly kernels?: KernelSet; // the set to use, without any choice
    readonly resumedKernels?: KernelSet; // the set that a resumed run was saved with
    readonly onLost?: (message: string) => void;
    readonly progress?: (done: number, total: number) => void; // gets the number of compiled pipelines
  },
) => Promise<Policy>;
