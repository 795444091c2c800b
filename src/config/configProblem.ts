import { type Problem, ProblemError } from '../base/problem.ts';

/** A configuration that can't run, or a command line that can't be understood. A class of its own: a program then exits with 2, and the page names the knobs. */
export class ConfigError extends ProblemError {
  override readonly name = 'ConfigError';
  /** `usage` says how the command is called: it follows the problems, and is none itself. */
  constructor(problems: readonly Problem[], { usage = '' }: { readonly usage?: string } = {}) {
    super(problems, { most: Infinity, after: usage });
  }
}
