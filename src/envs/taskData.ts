import type { EntitySlotWords } from './entitySlots.ts';

/**
 * A task as plain JSON: what another program needs to play it the same way, in addition to the environment's rules.
 * Words are those of the vocabulary, except in `documents`, where slots replace words only while they are read.
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
      readonly edges: readonly (readonly (number | null)[])[]; // [relation][entity] → entity; null: no such fact
      /** The hops from the question's entity to its answer. */
      readonly gold: readonly { readonly entity: number; readonly relation: number; readonly to: number }[];
      readonly known: number; // hops that are already in the prompt
    }
  | {
      readonly kind: 'documents';
      readonly question: readonly string[]; // words
      readonly answer: string;
      readonly answerWords: readonly string[];
      readonly passages: readonly string[]; // titles, in the order they are needed
      readonly queries: readonly (readonly string[])[]; // for each passage a query that returns it first
      readonly slots: EntitySlotWords; // the slots of each type in the order of assignment, last first
    };

/** Data that all tasks of an environment share, as plain JSON. */
export type RulesData = { readonly maxTurns: number } & (
  | { readonly kind: 'number-hunt'; readonly range: number; readonly distractors: number }
  | { readonly kind: 'calculator' }
  | {
      readonly kind: 'graph';
      readonly entities: readonly string[]; // all entities that a turn can name; a task may have fewer
      readonly relations: readonly string[];
      readonly distractors: number;
    }
  | {
      readonly kind: 'documents';
      readonly passages: readonly {
        readonly title: string;
        readonly titleWords: readonly string[];
        /** All words of the text: the index also reads those after the agent's limit. */
        readonly textWords: readonly string[];
      }[];
      readonly own: readonly string[]; // words that are tokens, without slots
      readonly spoken: readonly string[]; // words that may be in a query or an answer
      readonly topPassages: number;
      readonly payoff: 'exact' | 'f1';
    }
);
