import { visible } from './visible.ts';

/** What is wrong, where, and what to do about it. Parts that don't apply are left out. */
export interface Problem {
  readonly file?: string; // the file, folder or server with the problem
  readonly line?: number | null; // line in `file`, from 1
  readonly place?: string; // the knob, flag, key or tensor with the problem
  /** What is wrong, as sentences. If left out, it is made from `got` and `want`. */
  readonly what?: string;
  readonly got?: string; // what was found
  readonly want?: string; // what was expected instead
  readonly remedy?: string; // what to do, as sentences
}

/** Number of problems that a message lists; it only counts the rest. */
const MAX_SHOWN = 12;

/**
 * An error that a person can fix. The message has a line for each problem, up to `most`. If all have the same remedy,
 * it is given once at the end. `after` follows on lines of its own. A subclass is only made where code has to
 * distinguish its errors.
 */
export class ProblemError extends Error {
  override readonly name: string = 'ProblemError';
  readonly problems: readonly Required<Problem>[];
  /** A problem given as a text is its `what`. */
  constructor(
    given: string | Problem | readonly (string | Problem)[],
    {
      most = MAX_SHOWN,
      after = '',
      ...options
    }: ErrorOptions & { readonly most?: number; readonly after?: string } = {},
  ) {
    const problems = (isList(given) ? given : [given]).map(completed);
    const [first, ...others] = problems;
    const sharedRemedy =
      first && others.length > 0 && others.every(({ remedy }) => remedy === first.remedy) ? first.remedy : '';
    const more = problems.length - most;
    const lines = problems
      .slice(0, most)
      .map((problem) => problemText(sharedRemedy ? { ...problem, remedy: '' } : problem));
    const rest = [more > 0 ? `… and ${more} more.` : '', sharedRemedy, after].filter((text) => text !== '');
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

/**
 * Writes a problem as one line: where, what, and what to do. Names may come from untrusted files, so invisible
 * characters in them are made visible.
 */
export function problemText(problem: Problem): string {
  const { what, remedy } = completed(problem);
  const where = whereOf(problem);
  return `${where === '' ? '' : `${where}: `}${what} ${remedy}`.trimEnd();
}

function whereOf({ file = '', line = null, place = '' }: Problem): string {
  const lineText = line === null ? '' : `${file === '' ? 'Line' : ', line'} ${line}`;
  return [`${visible(file)}${lineText}`, visible(place, 120)].filter((part) => part !== '').join(': ');
}
