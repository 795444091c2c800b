import type { ToolFace } from '../text/toolSchema.ts';
import type { CallValues, WrittenTurn } from '../text/turnFormat.ts';

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
  /** The words of a call with these arguments, which are of the types that `tool` names. */
  readonly callWords: (values: CallValues) => readonly string[] | Wrong;
  /** The arguments of a call in words. */
  readonly values: (words: readonly string[]) => CallValues;
  readonly answerWords: (text: string) => readonly string[] | Wrong;
  readonly answerText: (words: readonly string[]) => string;
  readonly observation: (words: readonly string[]) => string;
  /** The longest there are, or some of which one is the longest: what an episode needs room for is measured on them. */
  readonly longest: {
    readonly questions: readonly string[];
    readonly turns: readonly WrittenTurn[];
    readonly observations: readonly string[];
  };
}
