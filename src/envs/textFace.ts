import type { ToolFace } from '../text/toolSchema.ts';
import type { CallValues, Quote, WrittenTurn } from '../text/turnFormat.ts';

/** A mistake in arguments or an answer, as text for the agent: what it wrote and what is expected. */
export interface WrongValue {
  readonly wrong: string;
}

/**
 * How an environment reads and writes text. Its tasks use only the words of its vocabulary. A face translates these
 * words to text, and the arguments and answers in a text back to words.
 */
export interface TextFace {
  readonly system: string; // the agent's job, in a sentence or two
  readonly tools: readonly ToolFace[]; // one or more
  /** The question of a task as text, made from its words and its readable question. */
  readonly question: (words: readonly string[], question: string) => string;
  /** The arguments have the types that the tool declares. A `WrongValue` repeats the agent's words only through `quote`. */
  readonly callWords: (values: CallValues, quote: Quote, tool: string) => readonly string[] | WrongValue;
  /** Returns the tool and the arguments of a call that is given in words. */
  readonly call: (words: readonly string[]) => { readonly tool: string; readonly values: CallValues };
  readonly answerWords: (text: string, quote: Quote) => readonly string[] | WrongValue;
  readonly answerText: (words: readonly string[]) => string;
  readonly observation: (words: readonly string[]) => string;
  /** Candidates for the longest question, turn and observation in tokens, which an episode's token limit is computed from. */
  readonly longestTexts: (countTokens: CountTokens) => {
    readonly questions: readonly string[];
    readonly turns: readonly WrittenTurn[];
    readonly observations: readonly string[];
  };
}

export type CountTokens = (text: string) => number;

/** The first text with the most tokens; '' if there is none. Each is counted with a space before it, as within a sentence. */
export function longestOf(texts: readonly string[], countTokens: CountTokens): string {
  let [longest, maxTokens] = ['', -1];
  for (const text of texts) {
    const count = countTokens(` ${text}`);
    if (count > maxTokens) [longest, maxTokens] = [text, count];
  }
  return longest;
}

/** The words are texts: a call is the tool's name and its arguments as JSON; an answer or observation is a word with a whole text. */
export function callFace({
  system,
  tools,
  longestTexts,
}: Pick<TextFace, 'system' | 'tools' | 'longestTexts'>): TextFace {
  return {
    ...{ system, tools, longestTexts },
    question: (_, question) => question,
    callWords: (values, _, tool) => [tool, JSON.stringify(values)],
    call: ([tool = '', json = '{}']) => ({ tool, values: JSON.parse(json) as CallValues }),
    answerWords: (text) => [text],
    answerText: (words) => words.join(' '),
    observation: (words) => words.join(' '),
  };
}

/** Returns as much of a text as fits, ending in “…” if it was cut. */
export function cutToFit(text: string, fitsLimit: (part: string) => boolean): string {
  if (fitsLimit(text)) return text;
  const characters = Array.from(text);
  let [low, high] = [0, characters.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fitsLimit(`${characters.slice(0, middle).join('')}…`)) low = middle;
    else high = middle - 1;
  }
  return `${characters.slice(0, low).join('')}…`;
}
