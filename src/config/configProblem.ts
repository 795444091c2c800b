import { type Problem, ProblemError } from '../base/problem.ts';

/** Also for a command line. It has its own class because a program then exits with code 2, and the page names the knobs. */
export class ConfigError extends ProblemError {
  override readonly name = 'ConfigError';
  /** `usage` explains how to call the command. It is printed after the problems. */
  constructor(problems: readonly Problem[], { usage = '' }: { readonly usage?: string } = {}) {
    super(problems, { most: Infinity, after: usage });
  }
}
