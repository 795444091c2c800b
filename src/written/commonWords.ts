import { isTag } from '../text/tags.ts';
import type { ToolFace } from '../text/toolSchema.ts';
import { argumentPlaces } from './argumentPlaces.ts';
import { answersOf, type MeasuredTexts } from './measuredTexts.ts';
import { textWords, valueWords } from './valueWords.ts';

/** Most words of an environment that get a token. Each one makes the embedding and the softmax larger. */
const MOST_WORDS = 400;
/** A word that occurs in a smaller share of the episodes gets no token of its own. */
const COMMON = 0.01;
/** The form of a slot's name. */
const LIKE_SLOTS = /^(?:name|number|word)\d+$/;

/**
 * The words of an environment that are tokens of their own, sorted. They are the words of its tools, words in arguments that the player had not read before,
 * and words that occur in at least one of a hundred measured episodes. If there are too many, the most frequent ones are taken.
 */
export function commonWords({ plays, shown, moves }: MeasuredTexts, tools: readonly ToolFace[]): readonly string[] {
  const needed = new Set([
    ...tools.map(({ name }) => name),
    ...tools.flatMap((tool) => argumentPlaces(tool, moves).flatMap(({ words, fixed }) => (fixed ? words : []))),
    '?',
  ]);
  const counts = new Map<string, number>();
  const count = (words: Iterable<string>) => {
    for (const word of new Set(words)) counts.set(word, (counts.get(word) ?? 0) + 1);
  };
  for (const play of plays) count([play.prompt, ...answersOf(play)].flatMap(textWords));
  for (const { prompt, moves: own, replies } of shown) {
    const heard = new Set(textWords(prompt));
    for (const [turn, move] of own.entries()) {
      const values = 'answer' in move ? [move.answer] : Object.values(move.values);
      for (const word of values.flatMap(valueWords)) if (!heard.has(word)) needed.add(word);
      const { text, refused } = replies[turn] ?? {};
      for (const word of textWords(text ?? refused ?? '')) heard.add(word);
    }
  }
  const enough = COMMON * plays.length;
  const often = [...counts].filter(([word, times]) => times >= enough && !needed.has(word));
  const frequent = often.toSorted(([a, m], [b, n]) => n - m || byLetters(a, b)).map(([word]) => word);
  const own = [...needed, ...frequent].filter((word) => !isTag(word) && !LIKE_SLOTS.test(word));
  return own.slice(0, MOST_WORDS).toSorted(byLetters);
}

const byLetters = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
