import type { Parameter, ToolFace } from '../text/toolSchema.ts';
import { valueWords } from './valueWords.ts';
import { type Move, nameOf } from './plays.ts';

/** Where an argument stands in a call: which words it takes, and how many at most. */
export interface ArgumentPlace {
  readonly name: string;
  readonly type: Exclude<Parameter, string>['type'];
  readonly words: readonly string[];
  readonly fixed: boolean; // the words follow from the tool, not from what a player said
  readonly most: number;
}

/** Words of one argument, at most: each takes a state of the grammar. */
const MOST_WORDS = 8;

/** The places of a tool's arguments. An argument takes its choices, else the words that it had in the given moves. */
export function argumentPlaces({ name: tool, parameters }: ToolFace, moves: readonly Move[]): readonly ArgumentPlace[] {
  return parameters.map((parameter): ArgumentPlace => {
    const name = nameOf(parameter);
    const type = typeof parameter === 'string' ? 'string' : parameter.type;
    const choices = typeof parameter === 'string' ? undefined : parameter.choices;
    const given = moves.flatMap((move) => ('tool' in move && move.tool === tool ? [move.values[name]] : []));
    const own = choices ?? (type === 'boolean' ? [true, false] : null);
    const fixed = own ?? (given.length > 0 ? null : NEVER_CALLED[type === 'string' ? 'string' : 'number']);
    const said = (fixed ?? given).map(valueWords);
    return {
      ...{ name, type, fixed: fixed !== null },
      words: [...new Set(said.flat())],
      most: Math.min(
        MOST_WORDS,
        said.reduce((longest, { length }) => Math.max(longest, length), 1),
      ),
    };
  });
}

/** Whether an argument ends with a mark: it may have several words, and another argument follows. */
export function ends(places: readonly ArgumentPlace[], at: number): boolean {
  return at < places.length - 1 && (places[at]?.most ?? 1) > 1;
}

/** What an argument of a tool takes that nobody called: something, so that the call can be made. */
const NEVER_CALLED = { string: ['?'], number: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] } as const;
