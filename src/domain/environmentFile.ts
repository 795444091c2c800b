import { checksumOf } from '../base/checksum.ts';
import { type Problem, ProblemError } from '../base/problem.ts';
import { visible } from '../base/visible.ts';

/** A program that a person wrote, so a saved run never starts it by itself: the user has to name the file again. */
export interface EnvironmentFile {
  readonly name: string; // without the folder that it lies in
  readonly text: string;
}

export type EnvironmentLanguage = 'typescript' | 'python';

/** The language of a file, by the end of its name: Python for `.py`, TypeScript for every other. */
export function languageOf({ name }: Pick<EnvironmentFile, 'name'>): EnvironmentLanguage {
  return /\.py$/i.test(name.trim()) ? 'python' : 'typescript';
}

/** The name of the class that an environment's file declares; without such a class, the name of the file. */
export function classNameOf(file: EnvironmentFile): string {
  return (
    visible(languageOf(file) === 'python' ? pythonClass(file.text) : typescriptClass(file.text)) || visible(file.name)
  );
}

const typescriptClass = (text: string) => /export\s+default\s+class\s+([\w$]+)/.exec(text)?.[1] ?? '';

/** The name of the last class in a file that has a method `reset`. That class is the environment. */
function pythonClass(text: string): string {
  const classes = text.split(/^class\s+/m).slice(1);
  return /^\w+/.exec(classes.findLast((each) => /^\s+def\s+reset\b/m.test(each)) ?? '')?.[0] ?? '';
}

/** A problem in an environment's file. The line is null if no single line is to blame. */
export type FileProblem = Pick<Required<Problem>, 'what' | 'line'>;

/** It has its own class because the run pauses, and continues once the file is fixed. */
export class EnvironmentFileError extends ProblemError {
  override readonly name: string = 'EnvironmentFileError';
  readonly first: FileProblem;
  readonly others: readonly FileProblem[]; // if the file was read to its end
  constructor(what: string, line: number | null, others: readonly FileProblem[] = []) {
    super({ what, line });
    this.first = { what, line };
    this.others = others;
  }
}

/** Throws the first of these problems with the others, if there are any. */
export function refuseProblems([first, ...others]: readonly FileProblem[]): void {
  if (first) throw new EnvironmentFileError(first.what, first.line, others);
}

/** A checksum of an environment's text. It is equal for two files if and only if their texts are equal. */
export function environmentSum({ text }: EnvironmentFile): string {
  return checksumOf(text);
}

/** A place in a file, in the format that terminals turn into a link. */
export function placeIn(name: string, line: number | null): string {
  return `${name}:${line === null ? '' : `${line}:`} `;
}

/** Largest size of an environment's file. An environment is one short class, so a larger file is something else. */
export const MAX_ENVIRONMENT_BYTES = 1e6;
