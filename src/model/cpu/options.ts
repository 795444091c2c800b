import type { Precision } from './real.ts';

/** How a CPU backend is made. */
export interface CpuPolicyOptions {
  readonly precision: Precision; // f32 to train, f64 to test against
  readonly seed: number; // of the initial weights
  readonly simd?: boolean; // false keeps an f32 policy off WebAssembly SIMD; else it is used where there is any
  readonly reason: string; // why not a GPU, in a sentence; '' when the CPU was asked for
}
