import { expect, test } from 'vitest';
import { installFailure, verdictOf } from '../scripts/pythonVerdict.mjs';

const report = (failures: number, errors: number, skipped: number, tests: number) =>
  `<testsuites name="pytest tests"><testsuite name="pytest" errors="${errors}" failures="${failures}" skipped="${skipped}" tests="${tests}" time="1.0">`;

test.each([
  ['all that passed', { status: 0, report: report(0, 0, 0, 9), own: true }, 'Python: 9 passed, 0 failed, 0 skipped', 0],
  [
    'a failure and an error',
    { status: 1, report: report(1, 2, 0, 9), own: true },
    'Python: 6 passed, 3 failed, 0 skipped',
    1,
  ],
  [
    'skips where a named environment may lack packages',
    { status: 0, report: report(0, 0, 2, 9), own: false },
    'Python: 7 passed, 0 failed, 2 skipped',
    0,
  ],
  ['no report at all', { status: 4, report: '', own: true }, 'Python: 0 passed, 0 failed, 0 skipped', 4],
  ['a pytest that was killed', { status: null, report: '', own: true }, 'Python: 0 passed, 0 failed, 0 skipped', 1],
])('%s is counted', (_, run, line, code) => {
  expect(verdictOf(run)).toEqual({ line, code });
});

test('a test that was skipped in the environment with every package is a failure', () => {
  const { line, code } = verdictOf({ status: 0, report: report(0, 0, 1, 9), own: true });
  expect(line).toMatch(/^Python: 8 passed, 0 failed, 1 skipped\. .* no test may be skipped/);
  expect(code).toBe(1);
});

test('a list that cannot be installed is excused only where the package registry does not answer', () => {
  expect(installFailure('requirements.txt', () => true)).toMatchObject({
    why: expect.stringContaining(
      'requirements.txt could not be installed, although the package registry answers',
    ) as unknown,
    excused: false,
  });
  expect(installFailure('requirements.txt', () => false)).toMatchObject({ excused: true });
});
