import type { CHAPTERS, ChapterId } from '../chapters.ts';
import type { Words } from './en/words.ts';

type Chapter<Id extends ChapterId> = Extract<(typeof CHAPTERS)[number], { id: Id }>;
type ExerciseOf<Id extends ChapterId> = Chapter<Id>['exercises'][number];

/** Words of an exercise; `seen` and `cannot` have places for numbers: see `fill.ts`. */
export interface ExerciseText<Choice extends string = string> {
  readonly task: string; // what the button says
  readonly question: string; // what is to be predicted
  readonly choices: Readonly<Record<Choice, string>>;
  readonly seen: string; // what came out, with the numbers
  readonly why: string; // a sentence that explains it
  readonly cannot: string; // in place of both where the numbers cannot tell
}

/** Words of a chapter: at most 150 with its formulas. */
export interface ChapterText<Id extends ChapterId = ChapterId> {
  readonly title: string;
  readonly text: readonly string[]; // paragraphs
  readonly formulas: readonly string[]; // as the code has them
  readonly exercises: {
    readonly [E in ExerciseOf<Id> as E['id']]: ExerciseText<E['choices'][number]>;
  };
}

/** All chapters in one language. */
export type ChapterTexts = { readonly [Id in ChapterId]: ChapterText<Id> };

/** The stops of the tour, in order. */
export type StopId = 'watch' | 'first' | 'off' | 'effect' | 'pushed' | 'on' | 'check' | 'learn';

/** Words of a stop; `result` has places for numbers: see `fill.ts`. */
export interface StopText {
  readonly title: string;
  readonly text: string; // what is to be done
  readonly result: string; // what came of it
}

/** All that the tour says, in one language. */
export interface TourTexts {
  readonly name: string;
  readonly at: string; // how far it is
  readonly progress: string;
  readonly end: string;
  readonly over: string;
  readonly finale: { readonly title: string; readonly text: string };
  readonly update: string; // one
  readonly updates: string; // several
  readonly stops: Readonly<Record<StopId, StopText>>;
}

/** All that Learn says, in one language. */
export interface Texts {
  readonly language: Language;
  readonly decimal: string; // sign
  readonly words: Words;
  readonly chapters: ChapterTexts;
  readonly tour: TourTexts;
}

/** The languages of Learn, by the code that addresses have, each named in itself. A new one is a folder beside `en`, and a line here. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof LANGUAGES;

/** Whether a value is the code of a language that there is. */
export function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && Object.hasOwn(LANGUAGES, value);
}
