import type { Parameter, ToolFace } from '../text/toolSchema.ts';
import { valueWords } from './valueWords.ts';
import { type Move, nameOf } from './plays.ts';

/** An argument's place in a call: the words it takes, and how many at most. */
export interface ArgumentPlace {
  readonly name: string;
  readonly type: Exclude<Parameter, string>['type'];
  readonly words: readonly string[];
  readonly fixed: boolean; // true: the words come from the tool's schema, not from moves of a player
  readonly most: number;
}

/** Most words in one argument, because each needs a state of the grammar. */
const MOST_WORDS = 8;

/** The places of a tool's arguments. An argument takes its choices, or without choices the words that it had in the given moves. */
export function argumentPlaces({ name: tool, parameters }: ToolFace, moves: readonly Move[]): readonly ArgumentPlace[] {
  return parameters.map((parameter): ArgumentPlace => {
    const name = nameOf(parameter);
    const type = typeof parameter === 'string' ? 'string' : parameter.type;
    const choices = typeof parameter === 'string' ? undefined : parameter.choices;
    const callValues = moves.flatMap((move) => ('tool' in move && move.tool === tool ? [move.values[name]] : []));
    const own = choices ?? (type === 'boolean' ? [true, false] : null);
    const fixed = own ?? (callValues.length > 0 ? null : NEVER_CALLED[type === 'string' ? 'string' : 'number']);
    const valueWordLists = (fixed ?? callValues).map(valueWords);
    return {
      ...{ name, type, fixed: fixed !== null },
      words: [...new Set(valueWordLists.flat())],
      most: Math.min(
        MOST_WORDS,
        valueWordLists.reduce((longest, { length }) => Math.max(longest, length), 1),
      ),
    };
  });
}

/** True if a mark has to end an argument: it may have several words, and another argument follows. */
export function ends(places: readonly ArgumentPlace[], at: number): boolean {
  return at < places.length - 1 && (places[at]?.most ?? 1) > 1;
}

/** Words for an argument of a tool that no player called. There have to be some, so that the agent can make the call. */
const NEVER_CALLED = { string: ['?'], number: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] } as const;
