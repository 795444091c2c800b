import type { WrittenView } from './writtenView.ts';

/** What the environment's own panel draws; one shape per kind of environment. */
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
      readonly entities: readonly string[]; // by the names people know them by
      readonly relations: readonly string[];
      readonly edges: readonly (readonly (number | null)[])[]; // [relation][entity] → entity; null: no such fact
      readonly gold: readonly { readonly entity: number; readonly relation: number; readonly to: number }[];
      readonly searched: readonly {
        readonly turn: number;
        readonly entity: number;
        readonly relation: number;
        readonly to: number | null;
      }[]; // null: the tool failed, or knows no such fact
      readonly answer: number;
      readonly given: number | null;
    }
  | {
      readonly kind: 'grid';
      readonly title: string;
      readonly size: number; // cells a side
      readonly cells: readonly ('floor' | 'wall' | 'hole' | 'goal')[]; // row by row
      readonly start: number;
      readonly box: number | null; // where it stands at first; null: there is none
      readonly moves: readonly {
        readonly turn: number;
        readonly direction: 'left' | 'down' | 'right' | 'up';
        readonly at: number; // the agent's cell after the move
        readonly box: number | null;
        readonly asMeant: boolean; // it went, and where it was told to
      }[];
    }
  | {
      readonly kind: 'sum'; // arithmetic, a line a turn
      readonly title: string;
      readonly task: string;
      readonly wanted: number;
      readonly steps: readonly { readonly turn: number; readonly text: string; readonly result: string }[];
      readonly given: string | null;
    }
  | {
      readonly kind: 'calls'; // of an environment that a person wrote, a line a turn
      readonly title: string;
      readonly prompt: string;
      readonly shown: WrittenView | null; // before the first turn; null: its class draws nothing
      readonly steps: readonly {
        readonly turn: number;
        readonly text: string;
        readonly result: string;
        readonly shown: WrittenView | null; // after it
      }[];
      readonly earned: Readonly<Record<string, number>> | null; // parts of the reward as the class names them; null: it goes on
    }
  | {
      readonly kind: 'bandit';
      readonly title: string;
      readonly arms: readonly string[]; // as they were shown
      readonly safe: string;
      readonly risky: string;
      readonly given: string | null;
      readonly paid: number | null;
    }
  | {
      readonly kind: 'passages'; // what each search of a corpus brought
      readonly title: string;
      readonly searches: readonly {
        readonly turn: number; // 0: put into the prompt
        readonly query: string;
        readonly failed: boolean; // the tool did; false with no passages: nothing matched
        readonly passages: readonly {
          readonly title: string;
          readonly text: string;
          readonly read: number; // characters of the text the agent saw; the rest was cut
          readonly gold: boolean; // the question needs it
          readonly titleMarks: readonly TextRange[]; // words of the query
          readonly marks: readonly TextRange[];
          readonly answer: TextRange | null; // where the text says the answer
        }[];
      }[];
      readonly answer: string;
      readonly given: string | null;
      readonly givenAt: number | null; // turn
      readonly scores: AnswerScores;
    };

/** Part of a text: its characters from the first number up to the second. */
export type TextRange = readonly [from: number, to: number];

/** How right a written answer is, each 0 … 1: an exact match, the wanted answer somewhere in it, and token F1. */
export interface AnswerScores {
  readonly exact: number;
  readonly contains: number;
  readonly f1: number;
}
