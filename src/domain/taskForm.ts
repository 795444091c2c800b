import { ProblemError } from '../base/problem.ts';

/** A field in a task that a person fills in. */
export interface Blank {
  readonly label: string;
  readonly words: readonly string[] | null; // the words to choose from; null: any words
  readonly optional: boolean;
}

/** The form in which a person writes a task of an environment: its blanks in reading order. */
export interface AskForm {
  readonly doc: string; // what can be asked, in a sentence or two
  readonly blanks: readonly Blank[];
  readonly example: readonly string[]; // one word for each blank; together a valid task
}

/** A task that a person chose: in words, one for each blank ('' for an empty blank), or by its number. */
export type ChosenTask = { readonly words: readonly string[] } | { readonly seed: number };

/** The weights that answer: the ones that the run began with, or the current ones. */
export const VOICES = ['begun', 'now'] as const;
export type Voice = (typeof VOICES)[number];

/** The sampling settings of an answer. They are independent of the run's. */
export interface TalkSampling {
  readonly temperature: number;
  readonly topK: number; // 0: all tokens
  readonly topP: number; // 1: all tokens
  readonly greedy: boolean; // true: always the likeliest token; the other settings then have no effect
}

/** Splits at commas if there are any, else at spaces. If there are fewer words than blanks, the last optional blanks stay empty. */
export function wordsOfLine({ blanks }: AskForm, line: string): readonly string[] {
  const text = line.trim();
  const words = blanks.length === 1 ? [text] : text.split(text.includes(',') ? /\s*,\s*/ : /\s+/);
  let missing = blanks.length - words.length;
  const empty = blanks.map(({ optional }) => optional);
  for (let at = empty.length - 1; at >= 0; at--) empty[at] = empty[at] === true && missing-- > 0;
  const nextWords = words.values();
  const filled = empty.map((isEmpty) => (isEmpty ? '' : (nextWords.next().value ?? '')));
  return [...filled, ...nextWords]; // the environment refuses words that are too many
}

/**
 * Returns the words typed into a form, one for each blank, trimmed. An empty blank gives ''. Throws ProblemError if a
 * required blank is empty, if a blank doesn't accept its word, or if there are more words than blanks.
 */
export function checkedAnswers({ blanks }: Pick<AskForm, 'blanks'>, words: readonly string[]): readonly string[] {
  if (words.length > blanks.length) {
    throw new ProblemError(
      `${words.length} words are too many. This task takes at most ${blanks.length}. Leave the last ones out.`,
    );
  }
  return blanks.map(({ label, words: known, optional }, at) => {
    const word = (words[at] ?? '').trim();
    if (word === '' && !optional) throw new ProblemError(`${label} is empty. Use ${expectedText(known)}.`);
    if (word === '' || known === null) return word;
    const choice =
      known.find((each) => each === word) ?? known.find((each) => each.toLowerCase() === word.toLowerCase());
    if (choice === undefined) throw new ProblemError(`${label} can’t be “${word}”. Use ${expectedText(known)}.`);
    return choice;
  });
}

const MAX_NAMES_LISTED = 8;

function expectedText(choices: readonly string[] | null): string {
  if (choices === null) return 'words of your own';
  const named = choices.slice(0, MAX_NAMES_LISTED).join(', ');
  return choices.length > MAX_NAMES_LISTED ? `one of ${choices.length} words, such as ${named}` : `one of ${named}`;
}
