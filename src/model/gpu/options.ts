import type { CompileProgress } from '../../gpu/compile.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { Scalar } from '../../gpu/tensor.ts';
import type { Weights } from '../architecture.ts';
import type { KernelReport, KernelSet } from '../../config/kernelChoice.ts';

/** What a policy is opened for: `decode`; `credit`; `score`, `learn` and `gradients`. */
export const WORK = ['drawing', 'crediting', 'learning'] as const;
export type Work = (typeof WORK)[number];

/** How to open a GPU policy. */
export interface GpuPolicyOptions {
  readonly seed: number; // of the initial weights
  readonly weights?: () => Weights; // to begin with instead; asked for while shaders compile
  readonly kernels?: KernelSet; // these and no others; BackendError where the adapter cannot run them
  readonly resumed?: KernelSet; // the run began with them; taken where the adapter runs them
  readonly tuned?: (gpu: Gpu) => Promise<KernelReport | null>; // what was measured earlier; without, see defaultSet
  readonly storage?: Scalar; // of what forward passes read and keep; default f32
  readonly microRows?: number; // most rows of a micro-batch; default: what memory allows
  readonly slabs?: number; // parts of every sum over tokens; default: see slabsFor
  readonly reason?: string; // why a GPU and not the CPU, in a sentence; default ''
  readonly alone?: boolean; // on a device of its own; default: on the one a page's runs share
  readonly onLost?: (message: string) => void; // the device is gone for good
  readonly work?: readonly Work[]; // all it will do: no other is compiled for it, and calls that need more throw; default: everything
  readonly progress?: CompileProgress; // of pipelines
}
