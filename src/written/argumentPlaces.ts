import type { Parameter, ToolFace } from '../text/toolSchema.ts';
import { valueWords } from './valueWords.ts';
import { type Move, parameterName } from './plays.ts';

/** An argument of a call: the words that it may have, and the largest number of words. */
export interface CallArgument {
  readonly name: string;
  readonly type: Exclude<Parameter, string>['type'];
  readonly words: readonly string[];
  readonly fromSchema: boolean; // true: the words come from the tool's schema, not from moves of a player
  readonly maxWords: number;
}

/** Limit on the words of one argument. Each word needs a state of the grammar. */
const MAX_ARGUMENT_WORDS = 8;

/**
 * The arguments of a tool's calls. An argument may have its choices; without choices, the words that it had in `moves`;
 * and if no move calls the tool, a few words.
 */
export function callArguments({ name: tool, parameters }: ToolFace, moves: readonly Move[]): readonly CallArgument[] {
  return parameters.map((parameter): CallArgument => {
    const name = parameterName(parameter);
    const type = typeof parameter === 'string' ? 'string' : parameter.type;
    const choices = typeof parameter === 'string' ? undefined : parameter.choices;
    const callValues = moves.flatMap((move) => ('tool' in move && move.tool === tool ? [move.values[name]] : []));
    const allValues = choices ?? (type === 'boolean' ? [true, false] : null);
    const schemaValues =
      allValues ?? (callValues.length > 0 ? null : WORDS_IF_NEVER_CALLED[type === 'string' ? 'string' : 'number']);
    const valueWordLists = (schemaValues ?? callValues).map(valueWords);
    return {
      ...{ name, type, fromSchema: schemaValues !== null },
      words: [...new Set(valueWordLists.flat())],
      maxWords: Math.min(
        MAX_ARGUMENT_WORDS,
        valueWordLists.reduce((longest, { length }) => Math.max(longest, length), 1),
      ),
    };
  });
}

/**
 * True if an argument must be followed by an end mark, because it may have several words and another argument follows.
 */
export function needsEndMark(callArguments: readonly CallArgument[], at: number): boolean {
  return at < callArguments.length - 1 && (callArguments[at]?.maxWords ?? 1) > 1;
}

/**
 * Words for an argument of a tool that no player called. There have to be some, so that the agent can make the call.
 */
const WORDS_IF_NEVER_CALLED = { string: ['?'], number: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] } as const;
