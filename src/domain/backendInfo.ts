import type { KernelReport } from '../config/kernelChoice.ts';

export interface BackendInfo {
  readonly kind: 'gpu' | 'cpu';
  readonly adapter: string; // its name, for people
  readonly threads?: string; // on the CPU: how many, and why no more. They don't change a result, so runs don't record them
  readonly software: boolean; // true: a GPU adapter that computes on the CPU
  readonly storage: 'f32' | 'f16'; // number format of the values that forward passes read and keep
  readonly reason: string; // why this backend was chosen, in a sentence; '' if it is the one that was asked for
  readonly kernels?: KernelReport; // only on a GPU: which set of equivalent kernels is used, and why
}
