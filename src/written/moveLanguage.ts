import type { CallValues } from '../text/turnFormat.ts';
import type { Move, Values } from './plays.ts';

/**
 * How an episode of a person's environment writes its texts and its player's moves as words. It belongs to one episode, since
 * a word may stand for something else in the next one.
 */
export interface MoveLanguage {
  readonly prompt: (text: string) => readonly string[];
  readonly observation: (text: string) => readonly string[];
  /** A move between its tags. */
  readonly turn: (move: Move) => readonly string[];
  /** The call that these words are, or null if they are none. */
  readonly call: (words: readonly string[]) => { readonly tool: string; readonly values: Values } | null;
  readonly answer: (words: readonly string[]) => string;
  /** What words stand for in this episode, if they stand for anything. */
  readonly names?: ReadonlyMap<string, string>;
}

/** Moves for an agent that reads text: a call is the tool's name and its arguments as JSON, an answer or an observation is one text. */
export const TEXT_MOVES: MoveLanguage = {
  prompt: () => [],
  observation: (text) => [text],
  turn: (move) =>
    'answer' in move
      ? ['<answer>', move.answer, '</answer>']
      : ['<call>', move.tool, JSON.stringify(move.values), '</call>'],
  call: ([tool = '', json = '{}']) => ({ tool, values: JSON.parse(json) as CallValues }),
  answer: ([text = '']) => text,
};
