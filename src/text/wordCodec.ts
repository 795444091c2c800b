import type { Codec } from './codec.ts';
import { tokenFinder, overlaps } from './textFinder.ts';

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
  const wordsOfIds = (ids: readonly number[]) => ids.map((wordId) => words[wordId] ?? '');
  const specials = special.flatMap((word) => byWord.get(word) ?? []);
  const turnEnds = stops.length > 0 ? [...new Set(stops)] : TURN_ENDS.map(id).filter((wordId) => wordId !== null);
  const control = new Set([...specials, ...turnEnds]);
  const findSpecials = tokenFinder(
    specials.map((wordId) => ({ id: wordId, content: words[wordId] ?? '', control: true })),
  );
  return {
    kind: 'words',
    size: words.length,
    special: new Set(specials),
    stops: turnEnds,
    encode: (text, outside = []) =>
      findSpecials(text, outside).flatMap((part) => {
        if (part.id !== null) return [part.id];
        return Array.from(part.text.matchAll(WORD), ({ 0: word, index }) => {
          const wordId = byWord.get(word) ?? unknown;
          const start = part.from + index;
          return wordId !== null && control.has(wordId) && overlaps(outside, start, start + word.length)
            ? unknown
            : wordId;
        }).filter((wordId) => wordId !== null);
      }),
    decode: (ids) => wordsOfIds(ids.filter((wordId) => wordId >= 0 && wordId < words.length)).join(' '),
    pieces: (ids) => {
      const first = ids.findIndex((wordId) => wordId >= 0 && wordId < words.length);
      return wordsOfIds(ids).map((word, i) => (i <= first || word === '' ? word : ` ${word}`));
    },
    bytes: (wordId) => new TextEncoder().encode(words[wordId] ?? ''),
    id,
  };
}
