import type { Gpu } from '../../gpu/device.ts';
import { KERNEL_SET_NAMES, type KernelReport, type KernelSet } from '../../config/kernelChoice.ts';
import { BackendError } from '../policy.ts';
import type { GpuPolicyOptions } from './options.ts';

/** How a kernel shares work: not at all, through workgroup memory, or within subgroups of eight lanes. */
type Sharing = 'barrier-free' | 'workgroup' | 'broadcast-8';

/** What a set takes for matrix products, for attention over whole rows, and for reductions along a token's row. */
export interface SetParts {
  readonly products: Sharing;
  readonly attention: Sharing;
  readonly reductions: Exclude<Sharing, 'broadcast-8'>;
}

const PARTS: Readonly<Record<KernelSet, SetParts>> = {
  'barrier-free': { products: 'barrier-free', attention: 'barrier-free', reductions: 'barrier-free' },
  workgroup: { products: 'workgroup', attention: 'workgroup', reductions: 'workgroup' },
  'workgroup-products': { products: 'workgroup', attention: 'barrier-free', reductions: 'workgroup' },
  'broadcast-8': { products: 'broadcast-8', attention: 'broadcast-8', reductions: 'barrier-free' },
};

/** What a set consists of. */
export function partsOf(set: KernelSet): SetParts {
  return PARTS[set];
}

/** Whether an adapter runs a set. */
function runs({ lanes }: Pick<Gpu, 'lanes'>, set: KernelSet): boolean {
  return set !== 'broadcast-8' || lanes >= 8;
}

/** Every set that runs on an adapter. */
export function setsFor(gpu: Pick<Gpu, 'lanes'>): readonly KernelSet[] {
  return KERNEL_SET_NAMES.filter((set) => runs(gpu, set));
}

/** The set for an adapter on which nothing has been measured. */
export function defaultSet({ software, lanes }: Pick<Gpu, 'software' | 'lanes'>): KernelSet {
  // many queries are parallel enough, the tiles of a small model's weights are not
  if (!software) return 'workgroup-products';
  return lanes >= 8 ? 'broadcast-8' : 'barrier-free';
}

/** The kernels of a policy: those asked for, those its run began with, those measured on this adapter, or its default. Throws BackendError for ones it cannot run. */
export async function settleKernels(gpu: Gpu, { kernels, resumed, tuned }: GpuPolicyOptions): Promise<KernelReport> {
  if (kernels && !runs(gpu, kernels)) {
    throw new BackendError(
      `Kernels ${kernels} share loads among more threads than a subgroup has here: ${gpu.lanes}.`,
      'Set kernels to auto, safe, workgroup or barrier-free.',
      ['kernels'],
    );
  }
  if (kernels) return { choice: kernels, why: 'forced', tried: [] };
  if (resumed && runs(gpu, resumed)) return { choice: resumed, why: 'resumed', tried: [] };
  return (await tuned?.(gpu)) ?? { choice: defaultSet(gpu), why: 'default', tried: [] };
}
