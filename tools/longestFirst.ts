import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Test files that take longest, dearest first. A fresh clone knows no times of earlier runs, and Vitest would begin with the files of
 * the most bytes: a short one that computes for minutes came last, and a core waited for it.
 */
export const LONGEST = [
  'test/e2e/walk.test.ts',
  'test/e2e/ownEnvironment.test.ts',
  'test/e2e/recovery.test.ts',
  'test/e2e/share.test.ts',
  'test/e2e/learn.test.ts',
  'test/e2e/stage.test.ts',
  'test/e2e/replay.test.ts',
  'test/e2e/hosting.test.ts',
  'test/cli/sweep.test.ts',
  'test/cli/openenvServer.test.ts',
  'test/cli/ownEnvironment.test.ts',
  'test/written/pythonSandbox.test.ts',
  'test/cli/programs.test.ts',
  'test/cli/export.test.ts',
  'test/sameBits.test.ts',
  'test/healthy.test.ts',
] as const;

/** Tests of the page load its modules anew: last, so that all others share theirs. */
const LAST = '/test/ui/';

/** Begins each project with its files of the list above; the others follow in Vitest's order. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    const projects = [...new Set(usual.map(({ project }) => project))];
    const place = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((file) => moduleId.endsWith(`/${file}`));
      if (at < 0) return moduleId.includes(LAST) ? LONGEST.length + 1 : LONGEST.length;
      return at;
    };
    return usual.sort(
      (a, b) => projects.indexOf(a.project) - projects.indexOf(b.project) || place(a) - place(b), // stable
    );
  }
}
