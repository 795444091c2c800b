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

/** Names that older pages wrote for the same kernels. */
const FORMER: ReadonlyMap<string, KernelSet> = new Map([
  ['barrier-free', 'plain'],
  ['workgroup-products', 'shared'],
  ['workgroup+barrier-free+workgroup+slabs', 'shared'],
  ['broadcast-8', 'shared'], // only a CPU behind WebGPU took it by itself
]);

/** The set of that name, also as older pages wrote it; undefined for any other text, and for sets that are gone. */
export function findKernelSet(name: string | undefined): KernelSet | undefined {
  return KERNEL_SET_NAMES.find((set) => set === name) ?? FORMER.get(name ?? '');
}

/** Families and parts that names of sets were put together from, once. */
const ONCE = ['barrier-free', 'workgroup', 'broadcast-4', 'broadcast-8', 'slabs', 'persistent'];

/** What the knob `kernels` of an older page means: a set, auto where that one is gone; undefined for what was never a name. */
export function knobOfOldName(name: string): KernelSet | 'auto' | undefined {
  if (name === 'workgroup') return 'shared'; // the same tiles; attention shared some as well
  return FORMER.get(name) ?? (name.split('+').every((part) => ONCE.includes(part)) ? 'auto' : undefined);
}

/** The set of that name. Throws RangeError for any other text. */
export function kernelSetNamed(name: string): KernelSet {
  const found = findKernelSet(name);
  if (found) return found;
  throw new RangeError(`kernels: got ${name}; want one of ${KERNEL_SET_NAMES.join(', ')}.`);
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
