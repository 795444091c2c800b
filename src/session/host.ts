import type { RunConfig } from '../config/config.ts';
import type { KernelSet } from '../config/kernelChoice.ts';
import type { BackendChoice } from '../model/chooseBackend.ts';
import type { Threads } from '../model/cpu/team/threads.ts';
import type { Policy, PolicySpec } from '../model/policy.ts';

/** What a session needs of the place it runs in: a worker or Node. */
export interface Host {
  readonly gpu: GPU | undefined;
  readonly openGpuPolicy?: OpenGpuPolicy;
  /** The backend that `auto` takes, `threads` being those that a CPU would have, one where nothing is said; without, a GPU wherever there is an adapter. Throws NoGpuError. */
  readonly chooseBackend?: (gpu: GPU, spec: PolicySpec, threads?: Threads) => Promise<BackendChoice>;
  readonly threads?: Threads; // that large models compute in on the CPU; one where nothing is said
  /** Bytes of a file under public/, such as warm/x.safetensors, or null when there is none. */
  readonly shippedFile: (path: string) => Promise<ArrayBuffer | null>;
  readonly now: () => number; // ms
  readonly breathe: () => Promise<void>; // lets the event loop run
  /** Between two pieces of a stage that may take minutes: lets the event loop run, waits while the run is paused, throws when it is over. */
  readonly between?: () => Promise<void>;
  readonly fenced?: () => boolean; // whether each stage of an update waits for the device
}

/** Opens the WebGPU backend. Throws BackendError when it cannot hold `spec`. */
export type OpenGpuPolicy = (
  gpu: GPU,
  spec: PolicySpec,
  options: {
    readonly seed: number;
    readonly storage: RunConfig['storage'];
    readonly reason: string; // why this backend; '' where nothing had to be decided
    readonly kernels?: KernelSet; // these and no others
    readonly resumed?: KernelSet; // those a run that goes on began with
    readonly tune: boolean; // kernels measured on the adapter may be taken, and measured for a later run
    readonly onLost?: (message: string) => void;
    readonly progress?: (done: number, total: number) => void; // pipelines compiled
  },
) => Promise<Policy>;
