import type { KernelReport } from '../config/kernelChoice.ts';

/** What a run computes on. */
export interface BackendInfo {
  readonly kind: 'gpu' | 'cpu';
  readonly adapter: string; // as a person would name it
  readonly software: boolean; // a GPU adapter that is really a CPU
  readonly storage: 'f32' | 'f16'; // of what forward passes read and keep
  readonly reason: string; // why this backend, in a sentence; '' when it was asked for and given
  readonly kernels?: KernelReport; // of a GPU: which of several that compute the same, and why
}
