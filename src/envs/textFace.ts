import type { ToolFace } from '../text/toolSchema.ts';
import type { CallValues, Quote, WrittenTurn } from '../text/turnFormat.ts';

/** What is wrong with arguments or an answer, in words for the agent: what was got and what is wanted. */
export interface Wrong {
  readonly wrong: string;
}

/**
 * How an environment reads and writes text. Its task knows words alone: a face says what its words are to a reader, and what a reader's
 * arguments and answers are in its words.
 */
export interface TextFace {
  readonly system: string; // what the agent is to do, in a sentence or two
  readonly tool: ToolFace;
  /** How a task is asked, from its words and its question as people read it. */
  readonly question: (words: readonly string[], question: string) => string;
  /** The words of a call with these arguments, which are of the types that `tool` names. What is wrong repeats the agent's words by `quote` alone. */
  readonly callWords: (values: CallValues, quote: Quote) => readonly string[] | Wrong;
  /** The arguments of a call in words. */
  readonly values: (words: readonly string[]) => CallValues;
  readonly answerWords: (text: string, quote: Quote) => readonly string[] | Wrong;
  readonly answerText: (words: readonly string[]) => string;
  readonly observation: (words: readonly string[]) => string;
  /** The longest there are by their tokens, or some of which one is the longest: the room of an episode is measured on them. */
  readonly longest: (tokens: TokenCount) => {
    readonly questions: readonly string[];
    readonly turns: readonly WrittenTurn[];
    readonly observations: readonly string[];
  };
}

/** How many tokens a text is. */
export type TokenCount = (text: string) => number;

/** The text of the most tokens, the first of them; '' if there is none. Each is counted as it stands within a sentence, after a blank. */
export function longestOf(texts: readonly string[], tokens: TokenCount): string {
  let [longest, most] = ['', -1];
  for (const text of texts) {
    const count = tokens(` ${text}`);
    if (count > most) [longest, most] = [text, count];
  }
  return longest;
}
