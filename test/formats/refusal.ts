import { expect } from 'vitest';
import { type Problem, ProblemError } from '../../src/base/problem.ts';

/** What a ProblemError says that `read` ends in; each of its problems names file, got, want and what to do. Anything else fails the test. */
export async function refusalOf(read: () => unknown): Promise<readonly Problem[]> {
  try {
    await read();
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    for (const { file, got, want, remedy } of error.problems) {
      expect([file, got, want, remedy].every((part) => /\S/.test(part) && !/undefined|NaN/.test(part))).toBe(true);
    }
    return error.problems;
  }
  throw new Error('nothing was refused');
}

/** The place and what was found there of the only problem that `read` ends in. */
export async function refusedAt(read: () => unknown): Promise<string> {
  const problems = await refusalOf(read);
  expect(problems).toHaveLength(1);
  return problems.map(({ place, got }) => `${place}: ${got}`).join('');
}

/** The first problem that `take` ends in, at once; null where it took all. Any other exception is thrown on. */
export function firstProblem(take: () => unknown): Problem | null {
  try {
    take();
    return null;
  } catch (error) {
    if (error instanceof ProblemError) return error.problems[0] ?? null;
    throw error;
  }
}
