// What becomes of the Python tests: how pytest ended, what it counted, and why packages could not be installed.

/**
 * The line that sums up a run of pytest, and the exit code. A skipped test holds nothing: in the project's own environment, which has
 * every package, it counts as failed; an environment that was named may lack some.
 * @param {{ status: number | null, report: string, own: boolean }} run `report`: its JUnit XML, '' where it wrote none
 * @returns {{ line: string, code: number }}
 */
export function verdictOf({ status, report, own }) {
  const count = (/** @type {string} */ name) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(report)?.[1] ?? 0);
  const failed = count('failures') + count('errors');
  const skipped = count('skipped');
  const line = `Python: ${count('tests') - failed - skipped} passed, ${failed} failed, ${skipped} skipped`;
  if (status !== 0) return { line, code: status ?? 1 };
  if (!own || skipped === 0) return { line, code: 0 };
  return {
    line: `${line}. The environment has every package, so no test may be skipped. Fix the test that skips.`,
    code: 1,
  };
}

/**
 * Why packages could not be installed, and whether that is no fault of the lists: only where the registry does not answer.
 * @param {string} list file of requirements
 * @param {() => boolean} reachable asks the registry for a package without a version
 * @returns {{ why: string, excused: boolean }}
 */
export function installFailure(list, reachable) {
  return reachable()
    ? {
        why: `the packages of ${list} could not be installed, although the package registry answers. Fix the list; the reason is above.`,
        excused: false,
      }
    : { why: `the package registry cannot be reached, so ${list} could not be installed.`, excused: true };
}
