/** A place in a task that a person fills. */
export interface Blank {
  readonly label: string;
  readonly words: readonly string[] | null; // to choose from; null: words of one's own
  readonly optional: boolean;
}

/** How a person words a task of an environment: its blanks in the order they are read. */
export interface AskForm {
  readonly doc: string; // what can be asked, in a sentence or two
  readonly blanks: readonly Blank[];
  readonly example: readonly string[]; // one word for each blank: a task that can be asked as it stands
}

/** A task that a person wants played: in words, one for each blank ('' where it is left open), or by its number. */
export type AskedTask = { readonly words: readonly string[] } | { readonly seed: number };

/** Whose weights answer: those the run began with, or those it has now. */
export const VOICES = ['begun', 'now'] as const;
export type Voice = (typeof VOICES)[number];

/** How an answer is drawn, whatever the run draws with. */
export interface TalkSampling {
  readonly temperature: number;
  readonly topK: number; // 0: all tokens
  readonly topP: number; // 1: all tokens
  readonly greedy: boolean; // the likeliest token each time; the rest is then without effect
}
