import type { Random } from '../base/rng.ts';

/** Stands for a word for which no slot is left. */
export const UNNAMED = '…';

// What a reader sees of a word it does not know: a capital, a figure, neither.
const KINDS = ['name', 'number', 'word'] as const;
type Kind = (typeof KINDS)[number];
const SHAPES: Readonly<Record<Kind, RegExp>> = { name: /^\p{Lu}/u, number: /^\p{N}/u, word: /^/ };

/** Slots by the kind of words they can stand for. */
export type EntitySlotWords = Readonly<Record<Kind, readonly string[]>>;

/** The words slots are written as, so many of each kind. */
export function entitySlotWords(counts: Readonly<Record<Kind, number>>): EntitySlotWords {
  const some = (kind: Kind) => Array.from({ length: counts[kind] }, (_, i) => `${kind}${i}`);
  return { name: some('name'), number: some('number'), word: some('word') };
}

/** Which slot stands for which word in one episode; it grows as words are read. */
export interface EntitySlots {
  readonly names: ReadonlyMap<string, string>; // slot → the word, as it was first read
  readonly order: EntitySlotWords; // as they are handed out, the last first
  /** What a text is written as: words of the vocabulary as they are, others by a slot of their kind, a new one the first time. */
  readonly write: (words: readonly string[]) => readonly string[];
  /** What was written; a slot that stands for nothing yet is left out. */
  readonly read: (written: readonly string[]) => readonly string[];
}

/** No slots: words are themselves, for who reads text. */
export const PLAIN_WORDS: EntitySlots = {
  names: new Map(),
  order: { name: [], number: [], word: [] },
  write: (words) => words,
  read: (words) => words,
};

/**
 * Slots without names, handed out in random order, so that no slot tells anything by its number. Words that `keyOf` makes equal
 * are one word; without it, case does not tell words apart.
 */
export function emptyEntitySlots(
  own: ReadonlySet<string>,
  slots: EntitySlotWords,
  draw: Random,
  keyOf = (word: string) => word.toLowerCase(),
): EntitySlots {
  const free = {
    name: draw.shuffle([...slots.name]),
    number: draw.shuffle([...slots.number]),
    word: draw.shuffle([...slots.word]),
  };
  const order = { name: [...free.name], number: [...free.number], word: [...free.word] };
  const isSlot = new Set(KINDS.flatMap((kind) => slots[kind]));
  const names = new Map<string, string>();
  const slotOf = new Map<string, string>();
  const name = (word: string): string => {
    const key = keyOf(word);
    if (own.has(key)) return key;
    const known = slotOf.get(key);
    if (known !== undefined) return known;
    const kind = KINDS.find((each) => SHAPES[each].test(word)) ?? 'word';
    const slot = free[kind].pop();
    if (slot === undefined) return UNNAMED;
    names.set(slot, word);
    slotOf.set(key, slot);
    return slot;
  };
  return {
    names,
    order,
    write: (words) => words.map(name),
    read: (written) => written.flatMap((word) => names.get(word) ?? (isSlot.has(word) ? [] : [word])),
  };
}
