/**
 * Whole sets of kernels of the WebGPU engine that compute the same; a run uses one. They differ in matrix products, attention over
 * whole rows, and reductions along a token's row. Barriers are cheap on GPUs and very dear on software adapters.
 */
export const KERNEL_SETS = {
  'barrier-free': 'no thread waits for another',
  workgroup: 'threads share tiles in workgroup memory, of attention too',
  'workgroup-products': 'products and reductions share tiles, a thread has a query to itself',
  'broadcast-8': 'subgroups of eight lanes or more share what they load',
} as const;

/** A set of kernels by its name. */
export type KernelSet = keyof typeof KERNEL_SETS;

/** Names of all sets. */
export const KERNEL_SET_NAMES = Object.keys(KERNEL_SETS) as readonly KernelSet[];

/** The set that older pages wrote family by family, and with which hardware began. */
const WRITTEN_OUT: ReadonlyMap<string, KernelSet> = new Map([
  ['workgroup+barrier-free+workgroup+slabs', 'workgroup-products'],
]);

/** The set of that name, also as older pages wrote it; undefined for any other text, and for sets that are gone. */
export function findKernelSet(name: string | undefined): KernelSet | undefined {
  return KERNEL_SET_NAMES.find((set) => set === name) ?? WRITTEN_OUT.get(name ?? '');
}

/** Families and parts that names of sets were put together from, once. */
const ONCE = ['barrier-free', 'workgroup', 'broadcast-4', 'broadcast-8', 'slabs', 'persistent'];

/** What the knob `kernels` of an older page means: a set, auto where that one is gone; undefined for what was never a name. */
export function knobOfOldName(name: string): KernelSet | 'auto' | undefined {
  return findKernelSet(name) ?? (name.split('+').every((part) => ONCE.includes(part)) ? 'auto' : undefined);
}

/** The set of that name. Throws RangeError for any other text. */
export function kernelSetNamed(name: string): KernelSet {
  const found = findKernelSet(name);
  if (found) return found;
  throw new RangeError(`kernels: got ${name}; want one of ${KERNEL_SET_NAMES.join(', ')}.`);
}

/** What a tuner knows of a set. */
export interface TriedSet {
  readonly set: string;
  readonly ms: number | null; // least of a training step; null where it was not timed
  readonly error: number | null; // worst relative distance from the reference; null where it gave no numbers
  readonly refused: string; // why it is out, a sentence; '' where it is not
  readonly taken: boolean;
  readonly waits: number | null; // for a later run: how often time ran out on it; null once it was measured, or is out
}

/** Why a run uses its kernels: nothing is measured yet, a knob says so, a tuner measured them on this adapter, or the run began with them. */
export type ChoiceReason = 'default' | 'forced' | 'measured' | 'resumed';

/** The kernels of a run, why, and the measurements where there are some. */
export interface KernelReport {
  readonly choice: KernelSet;
  readonly why: ChoiceReason;
  readonly tried: readonly TriedSet[];
}
