import type { Random } from '../rng.ts';

/** Stands for a word for which no slot is left. */
export const UNNAMED = '…';

/** The words slots are written as. */
export function slotWords(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `w${i}`);
}

/** Which slot stands for which word in one episode; it grows as words are read. */
export interface Slots {
  readonly names: ReadonlyMap<string, string>; // slot → the word, as it was first read
  /** What a text is written as: words of the vocabulary as they are, others by their slot, a new one the first time. */
  readonly write: (words: readonly string[]) => readonly string[];
  /** What was written; a slot that stands for nothing yet is left out. */
  readonly read: (written: readonly string[]) => readonly string[];
}

/** Slots without names, handed out in random order, so that no slot tells anything by its number. Case does not count. */
export function emptySlots(own: ReadonlySet<string>, slots: readonly string[], draw: Random): Slots {
  const free = draw.shuffle([...slots]);
  const isSlot = new Set(slots);
  const names = new Map<string, string>();
  const slotOf = new Map<string, string>();
  const name = (word: string): string => {
    const key = word.toLowerCase();
    if (own.has(key)) return key;
    const known = slotOf.get(key);
    if (known !== undefined) return known;
    const slot = free.pop();
    if (slot === undefined) return UNNAMED;
    names.set(slot, word);
    slotOf.set(key, slot);
    return slot;
  };
  return {
    names,
    write: (words) => words.map(name),
    read: (written) => written.flatMap((word) => names.get(word) ?? (isSlot.has(word) ? [] : [word])),
  };
}
