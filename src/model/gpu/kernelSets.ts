import type { Gpu } from '../../gpu/device.ts';
import type { KernelReport, KernelSet } from '../../config/kernelChoice.ts';
import type { GpuPolicyOptions } from './options.ts';

/** Not at all, in tiles of workgroup memory, or within subgroups of eight lanes. */
export type Sharing = 'none' | 'tiles' | 'subgroups';

/** For matrix products, for attention over whole rows, and for reductions over one token's row (norms, sums over its logits). */
export interface KernelVariants {
  readonly products: Sharing;
  readonly attention: Exclude<Sharing, 'tiles'>;
  readonly reductions: Exclude<Sharing, 'subgroups'>;
}

// attention has one thread per query, and those are enough to keep a GPU busy without sharing
const TILES: KernelVariants = { products: 'tiles', attention: 'none', reductions: 'tiles' };
const SUBGROUPS: KernelVariants = { products: 'subgroups', attention: 'subgroups', reductions: 'none' };
const UNSHARED: KernelVariants = { products: 'none', attention: 'none', reductions: 'none' };

/** On a software adapter barriers are very slow, and sharing within subgroups of eight lanes makes a step five times as fast. */
export function variantsOf({ software, lanes }: Pick<Gpu, 'software' | 'lanes'>, set: KernelSet): KernelVariants {
  if (set === 'shared') return TILES;
  return software && lanes >= 8 ? SUBGROUPS : UNSHARED;
}

/** The set for this kind of WebGPU adapter. */
export function defaultSet({ software }: Pick<Gpu, 'software'>): KernelSet {
  return software ? 'plain' : 'shared';
}

/** The first that exists: the set asked for, the one its run began with, the adapter's default. */
export function chooseKernels(
  gpu: Pick<Gpu, 'software'>,
  { kernels, resumedKernels }: Pick<GpuPolicyOptions, 'kernels' | 'resumedKernels'>,
): KernelReport {
  if (kernels) return { choice: kernels, why: 'forced' };
  return resumedKernels ? { choice: resumedKernels, why: 'resumed' } : { choice: defaultSet(gpu), why: 'default' };
}
