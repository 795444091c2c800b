import type { CompileProgress } from '../../gpu/compile.ts';
import type { ScalarType } from '../../gpu/tensor.ts';
import type { Weights } from '../architecture.ts';
import type { DeviceOptions } from './onDevice.ts';
import type { KernelSet } from '../../config/kernelChoice.ts';

/** Kinds of work, in this order: `decode`; `credit`; `score`, `learn`, `gradients` and `load` with supplied credit. */
export const WORK_KINDS = ['drawing', 'crediting', 'learning'] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

export interface GpuPolicyOptions extends DeviceOptions {
  readonly seed: number; // of the initial weights
  readonly weights?: () => Weights; // initial weights to use instead; called while shaders compile
  readonly kernels?: KernelSet; // the set to use, whatever `resumedKernels` says
  readonly resumedKernels?: KernelSet; // the set that the resumed run began with; without, see defaultSet
  readonly storage?: ScalarType; // type of the numbers that forward passes read and keep; default f32
  readonly microRows?: number; // maximum rows of a micro-batch; default: what memory allows
  readonly sharePrefixes?: boolean; // compute a beginning that rows of a micro-batch share once; default true
  readonly partials?: number; // parts of every sum over tokens; default: see partialsFor
  readonly reason?: string; // why a GPU and not the CPU, in one sentence; default ''
  readonly work?: readonly WorkKind[]; // compiles only for this work, other calls throw; default: all work
  readonly progress?: CompileProgress; // of compiling the pipelines
}
