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

const PLAIN: KernelVariants = { products: 'none', attention: 'none', reductions: 'none' };
// attention has one thread per query, and those are enough to keep a GPU busy without sharing
const TILED: KernelVariants = { products: 'tiles', attention: 'none', reductions: 'tiles' };
const SUBGROUPS: KernelVariants = { products: 'subgroups', attention: 'subgroups', reductions: 'none' };

/** A CPU with subgroups of at least eight lanes: barriers are very slow there, so sharing within subgroups is fastest. */
function sharesInSubgroups({ software, lanes }: Pick<Gpu, 'software' | 'lanes'>): boolean {
  return software && lanes >= 8;
}

export function variantsOf(gpu: Pick<Gpu, 'software' | 'lanes'>, set: KernelSet): KernelVariants {
  if (set === 'plain') return PLAIN;
  return sharesInSubgroups(gpu) ? SUBGROUPS : TILED;
}

/** The set for a WebGPU adapter with no measurements yet. */
export function defaultSet(gpu: Pick<Gpu, 'software' | 'lanes'>): KernelSet {
  return !gpu.software || sharesInSubgroups(gpu) ? 'shared' : 'plain';
}

/** The first that exists: the set asked for, the one its run began with, the one measured as faster here, the adapter's default. */
export async function chooseKernels(
  gpu: Gpu,
  { kernels, resumedKernels, tunedKernels }: GpuPolicyOptions,
): Promise<KernelReport> {
  if (kernels) return { choice: kernels, why: 'forced', tried: [] };
  if (resumedKernels) return { choice: resumedKernels, why: 'resumed', tried: [] };
  return (await tunedKernels?.(gpu)) ?? { choice: defaultSet(gpu), why: 'default', tried: [] };
}
