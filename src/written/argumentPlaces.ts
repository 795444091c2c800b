import { type ToolFace, typesOf, type ValueSchema, valueSchemaOf } from '../text/toolSchema.ts';
import { DEFAULT, valueWords } from './valueWords.ts';
import { type Move, parameterName } from './plays.ts';

/** An argument of a call: the words that it may have, and the largest number of words. */
export interface CallArgument {
  readonly name: string;
  readonly schema: ValueSchema;
  readonly words: readonly string[];
  readonly fromSchema: boolean; // true: the words come from the tool's schema, not from moves of a player
  readonly maxWords: number;
}

/** Limits on the words of one argument. Each word needs a state of the grammar. */
const MAX_ARGUMENT_WORDS = 8;
const MAX_LIST_WORDS = 16;

/**
 * The arguments of a tool's calls. An argument may have its choices; without choices, the words that it had in `moves`;
 * and if no move calls the tool, a few words.
 */
export function callArguments({ name: tool, parameters }: ToolFace, moves: readonly Move[]): readonly CallArgument[] {
  return parameters.map((parameter): CallArgument => {
    const name = parameterName(parameter);
    const schema = valueSchemaOf(parameter);
    const isOptional = typeof parameter === 'object' && parameter.optional === true;
    const types = typesOf(schema) ?? ['string'];
    const callValues = moves.flatMap((move) => ('tool' in move && move.tool === tool ? [move.values[name]] : []));
    const allValues = schema.enum ?? (schema.type === 'boolean' ? [true, false] : null);
    const valuesIfNeverCalled = WORDS_IF_NEVER_CALLED[types.includes('string') ? 'string' : 'number'];
    const schemaValues = allValues ?? (callValues.length > 0 ? null : valuesIfNeverCalled);
    const nullValues = allValues && schema.nullable ? [null] : [];
    const valueWordLists = [...(schemaValues ?? callValues), ...nullValues].map((value) => valueWords(value, schema));
    return {
      ...{ name, schema, fromSchema: schemaValues !== null },
      words: [...new Set([...valueWordLists.flat(), ...(isOptional && schemaValues ? [DEFAULT] : [])])],
      maxWords: Math.min(
        types.includes('array') ? MAX_LIST_WORDS : MAX_ARGUMENT_WORDS,
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
