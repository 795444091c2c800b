import { ERROR_WORD } from './vocab.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import type { ParsedTurn } from './turn.ts';

/** How an agent speaks with an environment that a person wrote: in text, with a chat tokenizer, or in words, with or without thoughts. */
export interface Speaking {
  readonly chatTokenizer: ChatTokenizer | null; // null: each word is a token
  readonly think: boolean; // in words only
}

/** A turn that the environment cannot read, and the observation that says so. */
export interface Mistake {
  readonly kind: 'mistake';
  readonly said: readonly string[]; // words, as an observation
}

/** The mistake without an explanation. */
export const MISTAKE: Mistake = { kind: 'mistake', said: [ERROR_WORD] };

/**
 * Translates between an environment, which uses words, and an agent, which uses token ids. Tasks use only words, so another way of
 * writing them needs no other environment.
 */
export interface Speech {
  /** The prompt of a task, as ids, from its words and its readable question. */
  readonly prompt: (words: readonly string[], question: string) => readonly number[];
  /** Reads a turn that the agent drew. */
  readonly read: (action: readonly number[]) => ParsedTurn | Mistake;
  /** The observation after the turn `action`, as ids, up to where the agent draws again. */
  readonly observation: (words: readonly string[], action: readonly number[]) => readonly number[];
  /** A turn of tags and words (`<call> w </call>`) as an agent would draw it. */
  readonly action: (words: readonly string[]) => readonly number[];
  /** The name that each id stands for in an episode, from the names of words. Throws if a name belongs to no word of the vocabulary. */
  readonly names: (names: ReadonlyMap<string, string>) => ReadonlyMap<number, string>;
}
