import type { EntitySlotWords } from './entitySlots.ts';

/**
 * A task as plain JSON: what another program needs of it, beside its environment's rules, to play it the same way. Words are
 * those of the vocabulary, but in `documents`, whose texts are given slots as they are read.
 */
export type TaskData =
  | { readonly kind: 'number-hunt'; readonly target: number }
  | {
      readonly kind: 'calculator';
      readonly first: number;
      readonly steps: readonly { readonly operator: string; readonly by: number }[];
    }
  | {
      readonly kind: 'graph';
      readonly entities: readonly string[];
      readonly relations: readonly string[];
      readonly edges: readonly (readonly (number | null)[])[]; // [relation][entity] → entity; null: there is no such fact
      readonly gold: readonly { readonly entity: number; readonly relation: number; readonly to: number }[]; // the hops from the question's entity to its answer
      readonly known: number; // hops that stand in the prompt
    }
  | {
      readonly kind: 'documents';
      readonly question: readonly string[]; // words
      readonly answer: string;
      readonly answerWords: readonly string[];
      readonly passages: readonly string[]; // titles, in the order they are needed
      readonly queries: readonly (readonly string[])[]; // for each of them one that finds it first
      readonly slots: EntitySlotWords; // each kind in the order it is handed out, the last first
    };

/** What all tasks of an environment share, as plain JSON. */
export type RulesData = { readonly maxTurns: number } & (
  | { readonly kind: 'number-hunt'; readonly range: number; readonly distractors: number }
  | { readonly kind: 'calculator' }
  | {
      readonly kind: 'graph';
      readonly entities: readonly string[]; // all that a turn can name; a task may hold fewer
      readonly relations: readonly string[];
      readonly distractors: number;
    }
  | {
      readonly kind: 'documents';
      readonly passages: readonly {
        readonly title: string;
        readonly titleWords: readonly string[];
        readonly textWords: readonly string[]; // all of them: the index reads on where the agent stops
      }[];
      readonly own: readonly string[]; // words that stand for themselves
      readonly spoken: readonly string[]; // words that a query or an answer may hold
      readonly topPassages: number;
      readonly payoff: 'exact' | 'f1';
    }
);
