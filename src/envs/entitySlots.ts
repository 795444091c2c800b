import type { Random } from '../base/rng.ts';

/** The word written if no slot is left. */
export const UNNAMED = '…';

// types of words by what their first character shows: a capital letter, a digit, or neither
const KINDS = ['name', 'number', 'word'] as const;
type Kind = (typeof KINDS)[number];
const SHAPES: Readonly<Record<Kind, RegExp>> = { name: /^\p{Lu}/u, number: /^\p{N}/u, word: /^/ };

/** Slots by the type of words that they can stand for. */
export type EntitySlotWords = Readonly<Record<Kind, readonly string[]>>;

/** Returns the words of the slots, as many of each type as `counts` says. */
export function entitySlotWords(counts: Readonly<Record<Kind, number>>): EntitySlotWords {
  const slotsOfKind = (kind: Kind) => Array.from({ length: counts[kind] }, (_, i) => `${kind}${i}`);
  return { name: slotsOfKind('name'), number: slotsOfKind('number'), word: slotsOfKind('word') };
}

/** The assignment of slots to words in one episode. It grows as words are read. */
export interface EntitySlots {
  readonly names: ReadonlyMap<string, string>; // slot → its word, as it was first read
  readonly order: EntitySlotWords; // the slots of each type in the order of assignment, last first
  /**
   * Writes a text: words of the vocabulary stay as they are, others become a slot of their type, a new one the first
   * time.
   */
  readonly write: (words: readonly string[]) => readonly string[];
  /** Reads written words back. A slot without a word is left out. */
  readonly read: (written: readonly string[]) => readonly string[];
}

/** No slots: words stay as they are. For agents that read text. */
export const PLAIN_WORDS: EntitySlots = {
  names: new Map(),
  order: { name: [], number: [], word: [] },
  write: (words) => words,
  read: (words) => words,
};

/**
 * Makes unassigned slots. They are assigned in random order, so that a slot's number tells nothing. Words with the same
 * `keyOf` are one word; the default ignores case.
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
  const slotFor = (word: string): string => {
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
    write: (words) => words.map(slotFor),
    read: (written) => written.flatMap((word) => names.get(word) ?? (isSlot.has(word) ? [] : [word])),
  };
}
