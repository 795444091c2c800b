import { ERROR_WORD, type Vocabulary } from './vocab.ts';
import type { BodyRange } from '../domain/tokens.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import type { RetokenizedSpan } from '../text/retokenization.ts';
import { readTags, type TaggedTurn } from '../text/tags.ts';

/** The agent speaks in text through a chat tokenizer, or in words. In words, turns may begin with a thought. */
export interface AgentLanguage {
  readonly chatTokenizer: ChatTokenizer | null; // null: each word is a token
  readonly think: boolean; // whether turns may hold a thought; only used without a chat tokenizer
  readonly observes?: boolean; // true: the agent reads what a class’s `observe` returns instead of the tools' answers
}

/** A turn that the environment cannot read, with the observation that reports the mistake. */
export interface Mistake {
  readonly kind: 'mistake';
  readonly observation: readonly string[]; // the observation, as words
}

export const PLAIN_MISTAKE: Mistake = { kind: 'mistake', observation: [ERROR_WORD] };

/** An environment and its tasks use words, an agent token ids, so one environment works with any `TurnCodec`. */
export interface TurnCodec {
  /** Returns the prompt of a task as ids, from its words and its readable question. */
  readonly prompt: (words: readonly string[], question: string) => readonly number[];
  readonly read: (action: readonly number[]) => ParsedTurn | Mistake;
  /** Returns the observation after the turn `action` as ids, up to the point where the agent draws again. */
  readonly observation: (words: readonly string[], action: readonly number[]) => readonly number[];
  /** The place of the words in the ids that `observation` returned. */
  readonly bodyOf: (observation: readonly number[]) => BodyRange;
  /** Returns the ids of a turn that is given as tags and words (`<call> w </call>`), as an agent would draw them. */
  readonly action: (words: readonly string[]) => readonly number[];
  /** The number of tokens with which every call or answer begins: its tag. 0 in text. */
  readonly tagTokens: number;
  /** Maps each slot's token id to the name that it stands for in the episode. Throws if a word is not in the vocabulary. */
  readonly names: (names: ReadonlyMap<string, string>) => ReadonlyMap<number, string>;
  /** See `retokenizer`. Absent if tokens are words, which stay as they are. */
  readonly retokenize?: (action: readonly number[]) => readonly RetokenizedSpan[];
}

export type ParsedTurn = TaggedTurn;

/** Reads one turn of tags and words. Returns null if it is malformed. */
export function parseTurn(action: readonly number[], vocabulary: Vocabulary, think: boolean): ParsedTurn | null {
  return readTags(action.map(vocabulary.word), think);
}

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
