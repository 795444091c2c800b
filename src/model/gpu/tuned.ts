import type { KernelSet, TriedSet } from '../../config/kernelChoice.ts';

/** The fastest set that was right, and what was measured, what waits to be included: where a tuning ends and the next goes on. */
export interface Tuned {
  readonly choice: KernelSet;
  readonly tried: readonly TriedSet[];
}

/** What so many boxes closed on while nothing else was measured in them is out: every run would begin with it. */
const MOST_BOXES = 2;

/** The sets that are still to be held against the one chosen. */
export function waiting(sets: readonly KernelSet[], { choice, tried }: Tuned): KernelSet[] {
  const done = tried.filter(({ waits }) => waits === null).map(({ set }) => set);
  return sets.filter((set) => set !== choice && !done.includes(set));
}

/** A row for each set: those there are, then those that were not tried, the chosen one before its rivals. */
export function everyRow(sets: readonly KernelSet[], { choice, tried }: Tuned): TriedSet[] {
  const none = { ms: null, error: null, refused: '', waits: 0 };
  const rest = sets.filter((set) => !tried.some((row) => row.set === set));
  const sorted = rest.toSorted((a, b) => Number(b === choice) - Number(a === choice));
  return [...tried, ...sorted.map((set) => ({ set, taken: set === choice, ...none }))];
}

/** What is known after a box of so many ms that closed before anything was compared: the set it began with is out before long. */
export function missed(sets: readonly KernelSet[], tuned: Tuned, boxMs: number): Tuned {
  const [first] = waiting(sets, tuned);
  const tried = tuned.tried.map((row) => {
    if (row.set !== first) return row;
    const waits = (row.waits ?? 0) + 1;
    if (waits < MOST_BOXES) return { ...row, waits };
    return { ...row, waits: null, refused: `It was not measured within ${boxMs / 1000} s, ${MOST_BOXES} times.` };
  });
  return { ...tuned, tried };
}
