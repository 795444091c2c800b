import type { CHAPTERS, ChapterId } from './chapters.ts';

type Chapter<Id extends ChapterId> = Extract<(typeof CHAPTERS)[number], { id: Id }>;
type ExerciseOf<Id extends ChapterId> = Chapter<Id>['exercises'][number];

/** Texts of an exercise. `seen` and `cannot` have placeholders for numbers: see `fill.ts`. */
export interface ExerciseText<Choice extends string = string> {
  readonly task: string; // label of the button
  readonly question: string; // asks for the prediction
  readonly choices: Readonly<Record<Choice, string>>;
  readonly seen: string; // the result, with its numbers
  readonly why: string; // a sentence that explains the result
  readonly cannot: string; // shown instead of `seen` and `why` if the numbers don’t answer the question
}

/** Texts of a chapter: at most 150 words, including its formulas. */
export interface ChapterText<Id extends ChapterId = ChapterId> {
  readonly title: string;
  readonly text: readonly string[]; // paragraphs
  readonly formulas: readonly string[]; // in the notation of the code; some come from `formulas.ts`
  readonly exercises: {
    readonly [E in ExerciseOf<Id> as E['id']]: ExerciseText<E['choices'][number]>;
  };
}

export type ChapterTexts = { readonly [Id in ChapterId]: ChapterText<Id> };

/** The stops of the tour, in order. */
export type StopId = 'watch' | 'first' | 'off' | 'effect' | 'pushed' | 'on' | 'check' | 'predict' | 'learn';

/** Texts of a stop of the tour. `result` has placeholders for numbers: see `fill.ts`. */
export interface StopText {
  readonly title: string;
  readonly text: string; // what the reader should do
  readonly result: string; // what happened then
}

export interface TourTexts {
  readonly name: string;
  readonly at: string; // which stop of how many is shown
  readonly progress: string;
  readonly end: string;
  readonly over: string;
  readonly finale: { readonly title: string; readonly text: string };
  readonly update: string; // singular
  readonly updates: string; // plural
  readonly stops: Readonly<Record<StopId, StopText>>;
}
