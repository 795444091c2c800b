import type { Variant } from './layers.ts';

/** How to open a GPU policy. */
export interface GpuPolicyOptions {
  readonly seed: number; // of the initial weights
  readonly variant?: Variant; // default: see defaultVariant
  readonly microRows?: number; // most rows of a micro-batch; default: what memory allows
  readonly reason?: string; // why a GPU and not the CPU, in a sentence; default ''
  readonly onLost?: (message: string) => void; // the device is gone for good
  readonly progress?: (done: number, total: number) => void; // pipelines compiled
}
