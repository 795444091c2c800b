import type { Gpu } from '../../gpu/device.ts';
import type { KernelReport, KernelSet } from '../../config/kernelChoice.ts';
import type { GpuPolicyOptions } from './options.ts';

/** How threads share what they load: not at all, in tiles of workgroup memory, or within subgroups of eight lanes. */
export type Sharing = 'none' | 'tiles' | 'subgroups';

/** What a set takes for matrix products, for attention over whole rows, and for reductions along a token's row. */
export interface SetParts {
  readonly products: Sharing;
  readonly attention: Exclude<Sharing, 'tiles'>;
  readonly reductions: Exclude<Sharing, 'subgroups'>;
}

const PLAIN: SetParts = { products: 'none', attention: 'none', reductions: 'none' };
// many queries are parallel enough, the tiles of a small model's weights are not
const TILED: SetParts = { products: 'tiles', attention: 'none', reductions: 'tiles' };
const SUBGROUPS: SetParts = { products: 'subgroups', attention: 'subgroups', reductions: 'none' };

/** Whether an adapter is a CPU that shares best within subgroups: barriers are very dear there. */
function sharesInSubgroups({ software, lanes }: Pick<Gpu, 'software' | 'lanes'>): boolean {
  return software && lanes >= 8;
}

/** What a set consists of on an adapter. */
export function partsOf(gpu: Pick<Gpu, 'software' | 'lanes'>, set: KernelSet): SetParts {
  if (set === 'plain') return PLAIN;
  return sharesInSubgroups(gpu) ? SUBGROUPS : TILED;
}

/** The set for an adapter on which nothing has been measured. */
export function defaultSet(gpu: Pick<Gpu, 'software' | 'lanes'>): KernelSet {
  return !gpu.software || sharesInSubgroups(gpu) ? 'shared' : 'plain';
}

/** The kernels of a policy: those asked for, those its run began with, those measured on this adapter, or its default. */
export async function settleKernels(gpu: Gpu, { kernels, resumed, tuned }: GpuPolicyOptions): Promise<KernelReport> {
  if (kernels) return { choice: kernels, why: 'forced', tried: [] };
  if (resumed) return { choice: resumed, why: 'resumed', tried: [] };
  return (await tuned?.(gpu)) ?? { choice: defaultSet(gpu), why: 'default', tried: [] };
}
