import { visible } from './visible.ts';

/** What is wrong, where, and what to do about it. Parts that don't apply are left out. */
export interface Problem {
  readonly file?: string; // the file, folder or server that it is in
  readonly line?: number | null; // in that file, from 1
  readonly place?: string; // the knob, flag, key or tensor that it is about
  /** What is wrong, as sentences. Left out, it is written from `got` and `want`. */
  readonly what?: string;
  readonly got?: string; // what was found
  readonly want?: string; // what was expected in its place
  readonly remedy?: string; // what to do, as sentences
}

/** Problems that a message spells out; the rest is counted. */
const MOST_SHOWN = 12;

/**
 * Something that a person can put right. The message has a line for each problem, up to `most`, and says once what to do if that is the
 * same for all; `after` follows them on lines of its own. A subclass exists only where some code has to tell it from the others.
 */
export class ProblemError extends Error {
  override readonly name: string = 'ProblemError';
  readonly problems: readonly Required<Problem>[];
  /** A text is a problem that is sentences already. */
  constructor(
    given: string | Problem | readonly (string | Problem)[],
    {
      most = MOST_SHOWN,
      after = '',
      ...options
    }: ErrorOptions & { readonly most?: number; readonly after?: string } = {},
  ) {
    const problems = (isList(given) ? given : [given]).map(completed);
    const [first, ...others] = problems;
    const once =
      first && others.length > 0 && others.every(({ remedy }) => remedy === first.remedy) ? first.remedy : '';
    const more = problems.length - most;
    const lines = problems.slice(0, most).map((problem) => problemText(once ? { ...problem, remedy: '' } : problem));
    const rest = [more > 0 ? `… and ${more} more.` : '', once, after].filter((text) => text !== '');
    super([...lines, ...rest].join('\n'), options);
    this.problems = problems;
  }
}

const isList = <T>(given: T | readonly T[]): given is readonly T[] => Array.isArray(given);

function completed(given: string | Problem): Required<Problem> {
  const parts = { file: '', line: null, place: '', got: '', want: '', remedy: '' };
  if (typeof given === 'string') return { ...parts, what: given };
  const { got = '', want = '' } = given;
  return { ...parts, what: `${whereOf(given) === '' ? 'Found' : 'found'} ${visible(got, 160)}, expected ${want}.`, ...given }; // prettier-ignore
}

/** A problem as one line: where, what and what to do. Names may come from a file of anyone's, so that what can't be seen in them is written out. */
export function problemText(problem: Problem): string {
  const { what, remedy } = completed(problem);
  const where = whereOf(problem);
  return `${where === '' ? '' : `${where}: `}${what} ${remedy}`.trimEnd();
}

function whereOf({ file = '', line = null, place = '' }: Problem): string {
  const lineText = line === null ? '' : `${file === '' ? 'Line' : ', line'} ${line}`;
  return [`${visible(file)}${lineText}`, visible(place, 120)].filter((part) => part !== '').join(': ');
}
