import { visible } from '../base/visible.ts';

/** What is wrong with a file from elsewhere, and where. */
export interface FormatProblem {
  readonly file: string;
  readonly place: string; // inside the file; '' where it is the whole
  readonly got: string;
  readonly want: string;
  readonly remedy: string; // what to do, in sentences
}

/** Problems an error's message spells out; the rest is counted. */
const MOST_SHOWN = 12;

/** A file, or a folder of files, that cannot be taken; the message has a line for each reason, up to twelve, and says once what to do where that is the same. */
export class FormatError extends Error {
  override readonly name = 'FormatError';
  readonly problems: readonly FormatProblem[];
  constructor(problems: readonly FormatProblem[]) {
    const more = problems.length - MOST_SHOWN;
    const [first, ...others] = problems;
    const once =
      first && others.length > 0 && others.every(({ remedy }) => remedy === first.remedy) ? first.remedy : '';
    const lines = problems
      .slice(0, MOST_SHOWN)
      .map((problem) => problemText(once ? { ...problem, remedy: '' } : problem));
    super([...lines, ...(more > 0 ? [`… and ${more} more.`] : []), ...(once ? [once] : [])].join('\n'));
    this.problems = problems;
  }
}

/** A problem as one line. Names come from the file itself: what cannot be seen in them is written out. */
function problemText({ file, place, got, want, remedy }: FormatProblem): string {
  const where = place === '' ? visible(file) : `${visible(file)}: ${visible(place, 120)}`;
  return `${where}: got ${visible(got, 160)}; want ${want}. ${remedy}`.trimEnd();
}
