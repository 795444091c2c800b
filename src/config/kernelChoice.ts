/**
 * Sets of kernels of the WebGPU engine that compute the same; a run uses one. They differ in matrix products and in reductions
 * along a token's row. Barriers are cheap on GPUs and very dear on software adapters.
 */
export const KERNEL_SETS = {
  plain: 'no thread waits for another',
  shared:
    'threads share what they load: in tiles of workgroup memory, on a CPU behind WebGPU within subgroups of eight lanes',
} as const;

/** A set of kernels by its name. */
export type KernelSet = keyof typeof KERNEL_SETS;

/** Names of both sets. */
export const KERNEL_SET_NAMES = Object.keys(KERNEL_SETS) as readonly KernelSet[];

/** The set of that name; undefined for any other text. */
export function findKernelSet(name: string | undefined): KernelSet | undefined {
  return KERNEL_SET_NAMES.find((set) => set === name);
}

/** The set of that name. Throws RangeError for any other text. */
export function kernelSetNamed(name: string): KernelSet {
  const found = findKernelSet(name);
  if (found) return found;
  throw new RangeError(`There are no kernels called ${name}. Use one of ${KERNEL_SET_NAMES.join(', ')}.`);
}

/** What the tuner knows of a set. */
export interface TriedSet {
  readonly set: string;
  readonly ms: number | null; // least of a training step; null where it was not timed
  readonly error: number | null; // worst relative distance from the reference; null where it gave no numbers
  readonly refused: string; // why it is out, a sentence; '' where it is not
  readonly taken: boolean;
}

/** Why a run uses its kernels: nothing is measured yet, a knob says so, a tuner measured them on this adapter, or the run began with them. */
export type ChoiceReason = 'default' | 'forced' | 'measured' | 'resumed';

/** The kernels of a run, why, and the measurements where there are some. */
export interface KernelReport {
  readonly choice: KernelSet;
  readonly why: ChoiceReason;
  readonly tried: readonly TriedSet[];
}
