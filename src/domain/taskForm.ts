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

/** Which weights answer: those that the run began with, or those that it has now. */
export const VOICES = ['begun', 'now'] as const;
export type Voice = (typeof VOICES)[number];

/** How an answer is drawn, whatever the run draws with. */
export interface TalkSampling {
  readonly temperature: number;
  readonly topK: number; // 0: all tokens
  readonly topP: number; // 1: all tokens
  readonly greedy: boolean; // the likeliest token each time; the rest is then without effect
}

/**
 * The words of a task written as one line, one for each blank: apart by commas where there is one, else by blanks. Of blanks that may
 * stay open the last ones do, where there are fewer words.
 */
export function wordsOfLine({ blanks }: AskForm, line: string): readonly string[] {
  const text = line.trim();
  const words = blanks.length === 1 ? [text] : text.split(text.includes(',') ? /\s*,\s*/ : /\s+/);
  let open = blanks.length - words.length;
  const left = blanks.map(({ optional }) => optional);
  for (let at = left.length - 1; at >= 0; at--) left[at] = left[at] === true && open-- > 0;
  const given = words.values();
  const filled = left.map((isOpen) => (isOpen ? '' : (given.next().value ?? '')));
  return [...filled, ...given]; // too many are for the environment to refuse
}
