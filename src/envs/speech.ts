import { ERROR_WORD } from './vocab.ts';
import type { ParsedTurn } from './turn.ts';

/** A turn that says nothing the environment knows, and what is said of it. */
export interface Mistake {
  readonly kind: 'mistake';
  readonly said: readonly string[]; // words, as an observation
}

/** What is said of a mistake where nothing better is known. */
export const MISTAKE: Mistake = { kind: 'mistake', said: [ERROR_WORD] };

/**
 * How an environment and its agent speak: words on the environment's side, ids of a model on the agent's. Tasks know words alone, so
 * another way of writing them needs no other environment.
 */
export interface Speech {
  /** The ids a task opens with, from its words and its question as people read it. */
  readonly prompt: (words: readonly string[], question: string) => readonly number[];
  /** A turn as the agent drew it. */
  readonly read: (action: readonly number[]) => ParsedTurn | Mistake;
  /** The ids that tell the agent what came of its turn `action`, up to where it draws again. */
  readonly observation: (words: readonly string[], action: readonly number[]) => readonly number[];
  /** A turn of tags and words (`<call> w </call>`) as an agent would draw it. */
  readonly action: (words: readonly string[]) => readonly number[];
  /** What each id stands for in an episode, from what its words do. Throws on a name for what is no word. */
  readonly names: (names: ReadonlyMap<string, string>) => ReadonlyMap<number, string>;
}
