import { FAMILIES, type KernelChoice, type KernelFamily, type TriedVariant } from '../../config/kernelChoice.ts';
import type { VariantSets } from './kernelSets.ts';

/** The fastest choice that was right, and what was measured, what waits to be included: where a tuning ends and the next goes on. */
export interface Tuned {
  readonly choice: KernelChoice;
  readonly tried: readonly TriedVariant[];
}

/** What so many boxes closed on while nothing else was measured in them is out: every run would begin with it. */
const MOST_BOXES = 2;

/** The variants of a family that are still to be held against the one chosen. */
export function waiting(
  family: KernelFamily,
  sets: VariantSets,
  { choice, tried }: Tuned,
): KernelChoice[KernelFamily][] {
  const done = tried.filter((row) => row.family === family && row.waits === null).map(({ variant }) => variant);
  return sets[family].filter((variant) => variant !== choice[family] && !done.includes(variant));
}

/** Whether nothing is left to try. */
export function isWhole(sets: VariantSets, tuned: Tuned): boolean {
  return FAMILIES.every((family) => waiting(family, sets, tuned).length === 0);
}

/** A row for each variant that has rivals: those there are, then those that were not tried, the chosen one before its rivals. */
export function everyRow(sets: VariantSets, { choice, tried }: Tuned): TriedVariant[] {
  const none = { ms: null, error: null, refused: '', waits: 0 };
  return FAMILIES.flatMap((family) => {
    const known = tried.filter((row) => row.family === family);
    const rest = sets[family].length < 2 ? [] : sets[family].filter((v) => !known.some((row) => row.variant === v));
    const sorted = rest.toSorted((a, b) => Number(b === choice[family]) - Number(a === choice[family]));
    return [...known, ...sorted.map((variant) => ({ family, variant, taken: variant === choice[family], ...none }))];
  });
}

/** What is known after a box of so many ms that closed before anything was compared: the variant it began with is out before long. */
export function missed(sets: VariantSets, tuned: Tuned, boxMs: number): Tuned {
  const family = FAMILIES.find((each) => waiting(each, sets, tuned).length > 0);
  const [variant] = family ? waiting(family, sets, tuned) : [];
  const tried = tuned.tried.map((row) => {
    if (row.family !== family || row.variant !== variant) return row;
    const waits = (row.waits ?? 0) + 1;
    if (waits < MOST_BOXES) return { ...row, waits };
    const refused = `It was not measured within ${boxMs / 1000} s, ${MOST_BOXES} times.`;
    return { ...row, waits: null, refused };
  });
  return { ...tuned, tried };
}
