import type { Parameter, ToolFace } from '../text/toolSchema.ts';
import { valueWords } from './valueWords.ts';
import { type Move, nameOf } from './plays.ts';

/** An argument's place in a call: the words that it may have, and the largest number of words. */
export interface ArgumentPlace {
  readonly name: string;
  readonly type: Exclude<Parameter, string>['type'];
  readonly words: readonly string[];
  readonly fixed: boolean; // true: the words come from the tool's schema, not from moves of a player
  readonly most: number;
}

/** Limit on the words of one argument. Each word needs a state of the grammar. */
const MAX_ARGUMENT_WORDS = 8;

/**
 * The places of a tool's arguments. An argument may have its choices, or without choices the words that it had in the
 * given moves.
 */
export function argumentPlaces({ name: tool, parameters }: ToolFace, moves: readonly Move[]): readonly ArgumentPlace[] {
  return parameters.map((parameter): ArgumentPlace => {
    const name = nameOf(parameter);
    const type = typeof parameter === 'string' ? 'string' : parameter.type;
    const choices = typeof parameter === 'string' ? undefined : parameter.choices;
    const callValues = moves.flatMap((move) => ('tool' in move && move.tool === tool ? [move.values[name]] : []));
    const allValues = choices ?? (type === 'boolean' ? [true, false] : null);
    const fixed =
      allValues ?? (callValues.length > 0 ? null : WORDS_IF_NEVER_CALLED[type === 'string' ? 'string' : 'number']);
    const valueWordLists = (fixed ?? callValues).map(valueWords);
    return {
      ...{ name, type, fixed: fixed !== null },
      words: [...new Set(valueWordLists.flat())],
      most: Math.min(
        MAX_ARGUMENT_WORDS,
        valueWordLists.reduce((longest, { length }) => Math.max(longest, length), 1),
      ),
    };
  });
}

/**
 * True if an argument must be followed by an end mark, because it may have several words and another argument follows.
 */
export function needsEndMark(places: readonly ArgumentPlace[], at: number): boolean {
  return at < places.length - 1 && (places[at]?.most ?? 1) > 1;
}

/**
 * Words for an argument of a tool that no player called. There have to be some, so that the agent can make the call.
 */
const WORDS_IF_NEVER_CALLED = { string: ['?'], number: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] } as const;
