import { ProblemError } from '../base/problem.ts';
import type { AskForm } from '../domain/taskForm.ts';

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
