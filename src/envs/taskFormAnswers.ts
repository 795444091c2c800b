import { ProblemError } from '../base/problem.ts';
import type { AskForm } from '../domain/taskForm.ts';

/**
 * The typed words, one for each blank, without spaces around them. A blank that is left empty gives ''. Throws ProblemError if a blank
 * needs a word and has none, if it doesn't accept its word, or if there are more words than blanks.
 */
export function checkedAnswers({ blanks }: Pick<AskForm, 'blanks'>, words: readonly string[]): readonly string[] {
  if (words.length > blanks.length) {
    throw new ProblemError(
      `${words.length} words are too many. This task takes at most ${blanks.length}. Leave the last ones out.`,
    );
  }
  return blanks.map(({ label, words: known, optional }, at) => {
    const word = (words[at] ?? '').trim();
    if (word === '' && !optional) throw new ProblemError(`${label} is empty. Use ${wanted(known)}.`);
    if (word === '' || known === null) return word;
    const found =
      known.find((each) => each === word) ?? known.find((each) => each.toLowerCase() === word.toLowerCase());
    if (found === undefined) throw new ProblemError(`${label} can’t be “${word}”. Use ${wanted(known)}.`);
    return found;
  });
}

const MOST_NAMED = 8;

function wanted(known: readonly string[] | null): string {
  if (known === null) return 'words of your own';
  const named = known.slice(0, MOST_NAMED).join(', ');
  return known.length > MOST_NAMED ? `one of ${known.length} words, such as ${named}` : `one of ${named}`;
}
