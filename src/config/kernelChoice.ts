/**
 * The two sets of kernels of the WebGPU engine. Both compute the same results; a run uses one of them. They differ in
 * the kernels for matrix products and for reductions along a token's row. Barriers are cheap on GPUs and very expensive
 * on software adapters.
 */
export const KERNEL_SETS = {
  plain: 'no thread waits for another',
  shared:
    'threads share what they load: in tiles of workgroup memory, on a CPU behind WebGPU within subgroups of eight lanes',
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

/** The tuner's measurements of a set. */
export interface MeasuredKernelSet {
  readonly set: string;
  readonly ms: number | null; // shortest time of a training step; null: not timed
  readonly error: number | null; // largest relative error against the reference; null: it computed no numbers
  readonly refused: string; // why it can't be used, in a sentence; '' if it can
  readonly taken: boolean; // whether this set was chosen
}

/** `default`: nothing is measured yet. `forced`: by a knob. `measured`: by the tuner, on this adapter. `resumed`: as the run began. */
export type ChoiceReason = 'default' | 'forced' | 'measured' | 'resumed';

/** The kernels of a run, the reason for the choice, and the measurements, if there are any. */
export interface KernelReport {
  readonly choice: KernelSet;
  readonly why: ChoiceReason;
  readonly tried: readonly MeasuredKernelSet[];
}
