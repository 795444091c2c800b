import type { Codec } from './codec.ts';
import { finder, touches } from './textFinder.ts';

/** A word-level vocabulary. */
export interface WordVocabulary {
  readonly words: readonly string[]; // the word of each id
  readonly unknown: number | null; // the id for all other words; null: other words are left out
  /** Words that are found even inside others; programs leave them out of decoded text. */
  readonly special: readonly string[];
}

/** The words that end a turn of a word-level agent. */
const TURN_ENDS = ['</call>', '</answer>'];
const WORD = /\P{White_Space}+/gu;

/**
 * The codec of a word-level vocabulary. Text is split at white space (Unicode's White_Space) and at special words, and
 * each word is a token. Decoding joins words by one space. Unknown words become `unknown`, or are left out if it is
 * null. `stops` are the ids that end a turn according to a file; by default the closing tags of calls and answers do.
 */
export function wordCodec({ words, unknown, special }: WordVocabulary, stops: readonly number[] = []): Codec {
  const byWord = new Map(words.map((word, id) => [word, id]));
  const id = (word: string) => byWord.get(word) ?? null;
  const wordsOf = (list: readonly number[]) => list.map((at) => words[at] ?? '');
  const specials = special.flatMap((word) => byWord.get(word) ?? []);
  const ends = stops.length > 0 ? [...new Set(stops)] : TURN_ENDS.map(id).filter((at) => at !== null);
  const control = new Set([...specials, ...ends]);
  const find = finder(specials.map((at) => ({ id: at, content: words[at] ?? '', control: true })));
  return {
    kind: 'words',
    size: words.length,
    special: new Set(specials),
    stops: ends,
    encode: (text, outside = []) =>
      find(text, outside).flatMap((part) => {
        if (part.id !== null) return [part.id];
        return Array.from(part.text.matchAll(WORD), ({ 0: word, index }) => {
          const at = byWord.get(word) ?? unknown;
          const from = part.from + index;
          return at !== null && control.has(at) && touches(outside, from, from + word.length) ? unknown : at;
        }).filter((at) => at !== null);
      }),
    decode: (list) => wordsOf(list.filter((at) => at >= 0 && at < words.length)).join(' '),
    pieces: (list) => {
      const first = list.findIndex((at) => at >= 0 && at < words.length);
      return wordsOf(list).map((word, i) => (i <= first || word === '' ? word : ` ${word}`));
    },
    bytes: (at) => new TextEncoder().encode(words[at] ?? ''),
    id,
  };
}
