import { type Problem, ProblemError } from '../base/problem.ts';

/** A configuration that can't run, or a command line that can't be understood. A class of its own: a program then exits with 2, and the page names the knobs. */
export class ConfigError extends ProblemError {
  override readonly name = 'ConfigError';
  constructor(problems: readonly (Problem | string)[]) {
    super(problems, { most: Infinity });
  }
}
