import { readdirSync, readFileSync } from 'node:fs';
import type { TestModule } from 'vitest/node';
import { describe, expect, it } from 'vitest';
import { summaryLines } from '../tools/summary-reporter.ts';

type State = 'passed' | 'failed' | 'skipped';
type Told = readonly [State, note?: string | undefined, flaky?: boolean];

/** As much of a finished test file as the summary reads. */
function file(tests: readonly Told[], errors = 0, suiteErrors = 0): TestModule {
  const some = (count: number) => new Array<object>(count).fill({});
  return {
    moduleId: `${process.cwd()}/test/some.test.ts`,
    errors: () => some(errors),
    children: {
      allTests: () =>
        tests.map(([state, note, flaky = false], at) => ({
          fullName: `test ${at}`,
          result: () => ({
            state,
            note,
            ...(flaky && { errors: [{ message: 'too late\nand more', stack: 'at some.test.ts:7:3' }] }),
          }),
          diagnostic: () => ({ flaky }),
        })),
      allSuites: () => [{ errors: () => some(suiteErrors) }],
    },
  } as unknown as TestModule;
}
const no: Told = ['skipped', 'adapter has no shader-f16'];

describe('the last lines of a run', () => {
  it('say what was skipped and why, a line a reason, before the counts', () => {
    expect(summaryLines([file([['passed'], no]), file([no, ['skipped', 'no GPU'], ['failed']])], [])).toEqual([
      '2 skipped: adapter has no shader-f16',
      '1 skipped: no GPU',
      '1 passed, 1 failed, 3 skipped',
    ]);
    expect(summaryLines([file([['skipped']])], [])).toEqual([
      '1 skipped: no reason given',
      '0 passed, 0 failed, 1 skipped',
    ]);
  });

  it('name statements that nothing shows, and count them as failures', () => {
    expect(summaryLines([file([['passed']])], [], ['statement 3 names no test'])).toEqual([
      'docs/acceptance.md: statement 3 names no test',
      '1 passed, 1 failed',
    ]);
  });

  it('name tests that passed at the second try only, and what failed at the first', () => {
    expect(summaryLines([file([['passed'], ['passed', undefined, true]])], [])).toEqual([
      'passed at the second try, so mend it: test/some.test.ts: test 1: too late (some.test.ts:7)',
      '2 passed, 0 failed',
    ]);
  });

  it('are one line where nothing was skipped', () => {
    expect(summaryLines([file([['passed'], ['passed']])], [])).toEqual(['2 passed, 0 failed']);
  });

  it('count files that do not load, suites and errors that nobody caught as failures', () => {
    expect(summaryLines([file([['passed']], 1, 2)], [new Error('late')])).toEqual(['1 passed, 4 failed']);
  });
});

it('every test that may be skipped says why', () => {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
  expect(files.length).toBeGreaterThan(100);
  const silent = files.filter((name) =>
    /\b(?:test|it|describe)\.(?:skip|todo|skipIf|runIf)\b/.test(readFileSync(`test/${name}`, 'utf8')),
  );
  expect(silent).toEqual([]);
});
