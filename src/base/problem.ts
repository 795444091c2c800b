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
 * An error that a person can fix. The message has a line for each problem, up to `maxShown`. If all have the same
 * remedy, it is given once at the end. `footer` follows on lines of its own. A subclass is only made where code has to
 * distinguish its errors.
 */
export class ProblemError extends Error {
  override readonly name: string = 'ProblemError';
  readonly problems: readonly Required<Problem>[];
  /** A problem given as a text is its `what`. */
  constructor(
    given: string | Problem | readonly (string | Problem)[],
    {
      most: maxShown = MAX_SHOWN,
      after: footer = '',
      ...options
    }: ErrorOptions & { readonly most?: number; readonly after?: string } = {},
  ) {
    const problems = (isList(given) ? given : [given]).map(withDefaults);
    const [first, ...otherProblems] = problems;
    const sharedRemedy =
      first && otherProblems.length > 0 && otherProblems.every(({ remedy }) => remedy === first.remedy)
        ? first.remedy
        : '';
    const hiddenCount = problems.length - maxShown;
    const lines = problems
      .slice(0, maxShown)
      .map((problem) => problemText(sharedRemedy ? { ...problem, remedy: '' } : problem));
    const footerLines = [hiddenCount > 0 ? `… and ${hiddenCount} more.` : '', sharedRemedy, footer].filter(
      (text) => text !== '',
    );
    super([...lines, ...footerLines].join('\n'), options);
    this.problems = problems;
  }
}

const isList = <T>(given: T | readonly T[]): given is readonly T[] => Array.isArray(given);

function withDefaults(given: string | Problem): Required<Problem> {
  const defaults = { file: '', line: null, place: '', got: '', want: '', remedy: '' };
  if (typeof given === 'string') return { ...defaults, what: given };
  const { got = '', want = '' } = given;
  return { ...defaults, what: `${placeText(given) === '' ? 'Found' : 'found'} ${visible(got, 160)}, expected ${want}.`, ...given }; // prettier-ignore
}

/** One line: where, what, and what to do. Makes invisible characters visible, because names may come from untrusted files. */
export function problemText(problem: Problem): string {
  const { what, remedy } = withDefaults(problem);
  const where = placeText(problem);
  return `${where === '' ? '' : `${where}: `}${what} ${remedy}`.trimEnd();
}

function placeText({ file = '', line = null, place = '' }: Problem): string {
  const lineText = line === null ? '' : `${file === '' ? 'Line' : ', line'} ${line}`;
  return [`${visible(file)}${lineText}`, visible(place, 120)].filter((part) => part !== '').join(': ');
}
