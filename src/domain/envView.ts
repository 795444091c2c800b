/** The result of `view()` of an environment that a person wrote: small, and only text. */
export type WrittenView =
  | { readonly kind: 'text'; readonly text: string }
  // rows of cells; the first row of a table names its columns
  | { readonly kind: 'table' | 'grid'; readonly rows: readonly (readonly string[])[] }
  | {
      readonly kind: 'line'; // numbers from `from` to `to`, with names at some of them
      readonly from: number;
      readonly to: number;
      readonly marks: readonly { readonly name: string; readonly at: number }[];
    };

/** The data that the environment's panel draws, with one shape for each kind of environment. */
export type EnvView =
  | {
      readonly kind: 'number-line';
      readonly range: number;
      readonly target: number;
      readonly guesses: readonly {
        readonly turn: number;
        readonly value: number;
        readonly answer: 'higher' | 'lower' | 'found' | 'failed';
      }[];
    }
  | {
      readonly kind: 'graph';
      readonly title: string;
      readonly entities: readonly string[]; // names for people
      readonly relations: readonly string[];
      readonly edges: readonly (readonly (number | null)[])[]; // [relation][entity] → entity; null: no such fact
      readonly gold: readonly { readonly entity: number; readonly relation: number; readonly to: number }[];
      readonly searched: readonly {
        readonly turn: number;
        readonly entity: number;
        readonly relation: number;
        readonly to: number | null;
      }[]; // `to` is null if the tool failed or knows no such fact
      readonly answer: number;
      readonly given: number | null;
    }
  | {
      readonly kind: 'grid';
      readonly title: string;
      readonly size: number; // cells along each side
      readonly cells: readonly ('floor' | 'wall' | 'hole' | 'goal')[]; // row by row
      readonly start: number;
      readonly box: number | null; // the box's first cell; null: there is no box
      readonly moves: readonly {
        readonly turn: number;
        readonly direction: 'left' | 'down' | 'right' | 'up';
        readonly at: number; // the agent's cell after the move
        readonly box: number | null;
        readonly asMeant: boolean; // the agent moved, in the direction that it chose
      }[];
    }
  | {
      readonly kind: 'sum'; // arithmetic, one line for each turn
      readonly title: string;
      readonly task: string;
      readonly wanted: number;
      readonly steps: readonly { readonly turn: number; readonly text: string; readonly result: string }[];
      readonly given: string | null;
    }
  | {
      readonly kind: 'calls'; // an environment that a person wrote, one line for each turn
      readonly title: string;
      readonly prompt: string;
      readonly shown: WrittenView | null; // before the first turn; null: the environment's class draws nothing
      readonly steps: readonly {
        readonly turn: number;
        readonly text: string;
        readonly result: string;
        readonly shown: WrittenView | null; // after the turn
        readonly state?: string; // what the class's `stateKey()` returned after the turn
      }[];
      /** The reward's parts, named by the class; null: the episode goes on, or a server sent one number. */
      readonly earned: Readonly<Record<string, number>> | null;
    }
  | {
      readonly kind: 'bandit';
      readonly title: string;
      readonly arms: readonly string[]; // in the order shown to the agent
      readonly safe: string;
      readonly risky: string;
      readonly given: string | null;
      readonly paid: number | null;
    }
  | {
      readonly kind: 'passages'; // the passages that each search of a corpus found
      readonly title: string;
      readonly searches: readonly {
        readonly turn: number; // 0: the passages were put into the prompt
        readonly query: string;
        readonly failed: boolean; // true: the tool failed; false without passages: nothing matched
        readonly passages: readonly {
          readonly title: string;
          readonly text: string;
          readonly read: number; // number of characters of the text that the agent saw; the rest was cut off
          readonly gold: boolean; // the question can't be answered without this passage
          readonly titleMarks: readonly TextRange[]; // words of the query in the title
          readonly marks: readonly TextRange[]; // words of the query in the text
          readonly answer: TextRange | null; // place of the answer in the text
        }[];
      }[];
      readonly answer: string;
      readonly given: string | null;
      readonly givenAt: number | null; // turn
      readonly scores: AnswerScores;
    };

/** Part of a text: the characters from index `from` up to, but not including, index `to`. */
export type TextRange = readonly [from: number, to: number];

/** Scores of a written answer, each from 0 to 1: exact match, whether it contains the wanted answer, and token F1. */
export interface AnswerScores {
  readonly exact: number;
  readonly contains: number;
  readonly f1: number;
}
