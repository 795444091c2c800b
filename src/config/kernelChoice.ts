/**
 * The two sets of kernels of the WebGPU engine: one for GPUs, one for software adapters. Both compute the same results
 * up to rounding; a run uses one of them. They differ in the kernels for matrix products, for attention and for
 * reductions along a token's row. Barriers are cheap on GPUs and very expensive on software adapters.
 */
export const KERNEL_SETS = {
  plain:
    'for CPUs behind WebGPU: no thread waits for another; threads share what they load within subgroups of eight lanes, if there are any',
  shared: 'for GPUs: threads share what they load in tiles of workgroup memory',
} as const;

export type KernelSet = keyof typeof KERNEL_SETS;

export const KERNEL_SET_NAMES = Object.keys(KERNEL_SETS) as readonly KernelSet[];

export function findKernelSet(name: string | undefined): KernelSet | undefined {
  return KERNEL_SET_NAMES.find((set) => set === name);
}

/** The set with this name. Throws RangeError if there is none. */
export function kernelSetNamed(name: string): KernelSet {
  const match = findKernelSet(name);
  if (match) return match;
  throw new RangeError(`There are no kernels called ${name}. Use one of ${KERNEL_SET_NAMES.join(', ')}.`);
}

/** `default`: the set for this kind of adapter. `forced`: by a knob. `resumed`: as the run began. */
export type ChoiceReason = 'default' | 'forced' | 'resumed';

export interface KernelReport {
  readonly choice: KernelSet;
  readonly why: ChoiceReason;
}
