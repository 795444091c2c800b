import type { Random } from '../base/rng.ts';

/** The word written for an unknown word if all slots of its type are taken. */
export const NO_SLOT_WORD = '…';

// types of words by what their first character shows: a capital letter, a digit, or neither
const SLOT_TYPES = ['name', 'number', 'word'] as const;
type SlotType = (typeof SLOT_TYPES)[number];
const TYPE_PATTERNS: Readonly<Record<SlotType, RegExp>> = { name: /^\p{Lu}/u, number: /^\p{N}/u, word: /^/ };

/** Slots by the type of words that they can stand for. */
export type EntitySlotWords = Readonly<Record<SlotType, readonly string[]>>;

export function entitySlotWords(counts: Readonly<Record<SlotType, number>>): EntitySlotWords {
  const slotsOfType = (type: SlotType) => Array.from({ length: counts[type] }, (_, i) => `${type}${i}`);
  return { name: slotsOfType('name'), number: slotsOfType('number'), word: slotsOfType('word') };
}

/** The assignment of slots to words in one episode. It grows as words are read. */
export interface EntitySlots {
  readonly names: ReadonlyMap<string, string>; // slot → its word, as it was first read
  /**
   * Writes words as the agent reads them. A word whose key (see `emptyEntitySlots`) is in the vocabulary becomes this
   * key. Any other word becomes a slot of its type: a new slot the first time, later the same one. If no slot is left,
   * it becomes `NO_SLOT_WORD`.
   */
  readonly encode: (words: readonly string[]) => readonly string[];
  /** Replaces each slot by its word. A slot that stands for no word is left out. All other words stay. */
  readonly decode: (encoded: readonly string[]) => readonly string[];
}

/** No slots: words stay as they are. For agents that read text. */
export const NO_SLOTS: EntitySlots = {
  names: new Map(),
  encode: (words) => words,
  decode: (words) => words,
};

/** None is assigned yet. Slots come in random order, so that their numbers tell nothing. Words with the same `keyOf` are one word. */
export function emptyEntitySlots(
  vocabularyWords: ReadonlySet<string>,
  slots: EntitySlotWords,
  draw: Random,
  keyOf = (word: string) => word.toLowerCase(),
): EntitySlots {
  const unassignedSlots = {
    name: draw.shuffle([...slots.name]),
    number: draw.shuffle([...slots.number]),
    word: draw.shuffle([...slots.word]),
  };
  const allSlots = new Set(SLOT_TYPES.flatMap((type) => slots[type]));
  const wordOfSlot = new Map<string, string>();
  const slotOf = new Map<string, string>();
  const slotFor = (word: string): string => {
    const key = keyOf(word);
    if (vocabularyWords.has(key)) return key;
    const known = slotOf.get(key);
    if (known !== undefined) return known;
    const slotType = SLOT_TYPES.find((each) => TYPE_PATTERNS[each].test(word)) ?? 'word';
    const slot = unassignedSlots[slotType].pop();
    if (slot === undefined) return NO_SLOT_WORD;
    wordOfSlot.set(slot, word);
    slotOf.set(key, slot);
    return slot;
  };
  return {
    names: wordOfSlot,
    encode: (words) => words.map(slotFor),
    decode: (encoded) => encoded.flatMap((word) => wordOfSlot.get(word) ?? (allSlots.has(word) ? [] : [word])),
  };
}
