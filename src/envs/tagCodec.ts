import { PLAIN_MISTAKE, type TurnCodec } from './turnCodec.ts';
import { parseTurn } from './turn.ts';
import type { Vocabulary } from './vocab.ts';

/** Each word of the environment is one token. Tags mark a call, an answer and an observation. */
export function tagCodec(vocabulary: Vocabulary, think: boolean): TurnCodec {
  return {
    prompt: (words) => vocabulary.ids(words),
    read: (action) => parseTurn(action, vocabulary, think) ?? PLAIN_MISTAKE,
    observation: (words) => vocabulary.ids(['<obs>', ...words, '</obs>']),
    bodyOf: ({ length }) => [1, length - 1],
    action: (words) => vocabulary.ids(words),
    tagTokens: 1,
    names: (names) => new Map(Array.from(names, ([word, name]) => [vocabulary.id(word), name])),
  };
}
