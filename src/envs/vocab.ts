import { TAGS } from '../text/tags.ts';

export const ERROR_WORD = 'error';
export const FAILURE_WORD = 'none'; // observation after a failed tool call

export interface Vocabulary {
  readonly words: readonly string[]; // id → word
  readonly id: (word: string) => number; // throws on an unknown word
  readonly ids: (words: readonly string[]) => number[];
  readonly word: (id: number) => string; // throws on an unknown id
  readonly nonTagIds: readonly number[]; // ids of all words that are not tags
}

/** The tags, the error and failure words, and the environment's own. Throws if a word is given twice. */
export function buildVocabulary(ownWords: readonly string[]): Vocabulary {
  const words: readonly string[] = [...TAGS, ERROR_WORD, FAILURE_WORD, ...ownWords];
  const byWord = new Map(words.map((word, id) => [word, id]));
  if (byWord.size !== words.length) {
    const duplicates = words.filter((word, id) => byWord.get(word) !== id);
    throw new Error(`vocabulary: ${duplicates.join(', ')} is given twice.`);
  }
  const id = (word: string): number => {
    const found = byWord.get(word);
    if (found === undefined)
      throw new RangeError(`vocabulary: it has no word ${word}. Its words are ${words.join(' ')}.`);
    return found;
  };
  const word = (at: number): string => {
    const found = words[at];
    if (found === undefined)
      throw new RangeError(`vocabulary: id ${at} is out of range: ids go from 0 to ${words.length - 1}.`);
    return found;
  };
  return {
    words,
    id,
    ids: (list) => list.map(id),
    word,
    nonTagIds: words.map((_, at) => at).slice(TAGS.length),
  };
}
