import type { AskForm } from '../domain/taskForm.ts';

/** A task that cannot be asked; the message says what was got, what is wanted and what to do. */
export class AskError extends Error {
  override readonly name = 'AskError';
}

/** Words as they were typed, one for each blank: without spaces around them and '' where nothing was. Throws AskError on words that do not belong. */
export function checkedAnswers({ blanks }: Pick<AskForm, 'blanks'>, words: readonly string[]): readonly string[] {
  if (words.length > blanks.length) {
    throw new AskError(`Got ${words.length} words; want at most ${blanks.length}. Leave the last ones out.`);
  }
  return blanks.map(({ label, words: known, optional }, at) => {
    const word = (words[at] ?? '').trim();
    if (word === '' && !optional) throw new AskError(`${label}: got nothing; want ${wanted(known)}.`);
    if (word === '' || known === null) return word;
    const found =
      known.find((each) => each === word) ?? known.find((each) => each.toLowerCase() === word.toLowerCase());
    if (found === undefined) throw new AskError(`${label}: got “${word}”; want ${wanted(known)}.`);
    return found;
  });
}

const MOST_NAMED = 8;

function wanted(known: readonly string[] | null): string {
  if (known === null) return 'words of your own';
  const named = known.slice(0, MOST_NAMED).join(', ');
  return known.length > MOST_NAMED ? `one of ${known.length} words, such as ${named}` : `one of ${named}`;
}
