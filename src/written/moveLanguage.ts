import type { CallValues } from '../text/turnFormat.ts';
import type { Move, ArgumentValues } from './plays.ts';

/**
 * Translates the texts and moves of one episode of a person's environment into words and back. Each episode has its own
 * language, because a slot stands for a different word in each episode.
 */
export interface MoveLanguage {
  readonly prompt: (text: string) => readonly string[];
  readonly observation: (text: string) => readonly string[];
  /** The words of a move, with its tags. */
  readonly turn: (move: Move) => readonly string[];
  /** Reads words as a call; null if they aren't a call. */
  readonly call: (words: readonly string[]) => { readonly tool: string; readonly values: ArgumentValues } | null;
  readonly answer: (words: readonly string[]) => string;
  /** The words that slots stand for in this episode, by slot. */
  readonly names?: ReadonlyMap<string, string>;
}

/**
 * The language for an agent that reads text: a call is the tool's name and its arguments as JSON; an answer or an
 * observation is one text.
 */
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
