import type { Codec } from './codec.ts';
import { finder, touches } from './textFinder.ts';

/** A word-level vocabulary. */
export interface WordVocabulary {
  readonly words: readonly string[]; // id → word
  readonly unknown: number | null; // the id of any other word; null: a file that names none, so text may not have one
  readonly special: readonly string[]; // words that are found inside others and left out of text by readers
}

/** What ends a turn of a word-level agent. */
const ENDS = ['</call>', '</answer>'];
const WORD = /\P{White_Space}+/gu;

/**
 * The codec of a word-level vocabulary: text is cut at blanks (White_Space of Unicode) and at special words, each word is a token, ids are
 * words joined by one blank. A word that is not there is left out where the vocabulary has no id for it. `stops` are the ids that a file names; without them the closing tags of a call and of an answer.
 */
export function wordCodec({ words, unknown, special }: WordVocabulary, stops: readonly number[] = []): Codec {
  const byWord = new Map(words.map((word, id) => [word, id]));
  const id = (word: string) => byWord.get(word) ?? null;
  const known = (list: readonly number[]) => list.map((at) => words[at] ?? '');
  const specials = special.flatMap((word) => byWord.get(word) ?? []);
  const ends = stops.length > 0 ? [...new Set(stops)] : ENDS.map(id).filter((at) => at !== null);
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
    decode: (list) => known(list.filter((at) => at >= 0 && at < words.length)).join(' '),
    pieces: (list) => {
      const first = list.findIndex((at) => at >= 0 && at < words.length);
      return known(list).map((word, i) => (i <= first || word === '' ? word : ` ${word}`));
    },
    bytes: (at) => new TextEncoder().encode(words[at] ?? ''),
    id,
  };
}
