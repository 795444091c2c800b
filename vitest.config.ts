import { availableParallelism } from 'node:os';
import react from '@vitejs/plugin-react';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { launchOptions, useSwiftShader } from './scripts/browser.mjs';
import { LongestFirst } from './tools/longestFirst.ts';
import { program } from './tools/program-plugin.ts';
import { wgsl } from './tools/wgsl-plugin.ts';

useSwiftShader();

/** Tests that replace modules, fake the clock, or start a worker that outlives its file: each has a process to itself. */
const ALONE = [
  'test/cli/readOnly.test.ts',
  'test/model/cpuSimd.test.ts',
  'test/reader.test.ts',
  'test/ui/client.test.ts',
  'test/ui/finishedRun.test.ts',
  'test/ui/sameArm.test.ts',
];
/** Unit tests that take seconds of a processor each: only among all tests. */
const HEAVY = [
  'test/sameBits.test.ts',
  'test/healthy.test.ts',
  'test/adaptedQuestions.test.ts',
  'test/cli/export.test.ts',
  'test/cli/goldenFixture.test.ts',
  'test/cli/ownEnvironment.test.ts',
  'test/cli/programs.test.ts',
  'test/cli/sweep.test.ts',
  'test/cli/train.test.ts',
  'test/envs/checker.test.ts',
  'test/facts/parse.test.ts',
  'test/model/adapters.test.ts',
  'test/rl/baselines.test.ts',
  'test/text/tokenizers.test.ts',
  'test/ui/sameArm.test.ts',
  'test/written/hostileClasses.test.ts',
  'test/written/pythonSandbox.test.ts',
  'test/written/templates.test.ts',
  'test/written/thousandEpisodes.test.ts',
];
/** GPU tests of other sets of kernels, of other sizes of a chunk or a part, and of runs beside a checkpoint: only among all tests. */
const HEAVY_ON_GPU = [
  'test/gpu/adapted.test.ts',
  'test/gpu/adaptedBackend.test.ts',
  'test/gpu/adaptedContexts.test.ts',
  'test/gpu/adaptedDraws.test.ts',
  'test/gpu/half.test.ts',
  'test/gpu/sameSeed.test.ts',
  'test/gpu/slabs.test.ts',
  'test/gpu/textDraws.test.ts',
  'test/gpu/textMemory.test.ts',
  'test/gpu/textSharing.test.ts',
  'test/gpu/tiles.test.ts',
  'test/gpu/wgsl.test.ts',
];
/** Left to `npm run test:weekly`, each with what CI has in its stead. In files of CI, `firstRows` and `leaveToWeekly` (test/weekly.ts) leave rows and tests to it. */
const WEEKLY: Readonly<Record<string, string>> = {
  'test/speaking/crafted.test.ts':
    'fifty files that are too large or nested too deep: CI refuses damaged ones (text/fileFaults, text/templateProbes)',
  'test/cli/package.test.ts':
    'the package is packed and installed, which concerns a release: CI has each of its programs from their bundles (cli/…) and the page (e2e/…)',
  'test/e2e/accessibility.test.ts':
    'axe on panels while a run trains: CI has axe on every screen and what opens on it (e2e/walk)',
  'test/e2e/drills.test.ts':
    'a GPU, workers and a browser that fail at random moments: CI has each failure once (e2e/recovery, gpu/sharedDevice, browser/controls, ui/armWorker)',
};
/** After all others: that a run is saved within seconds holds where nothing else runs. */
const LAST_OF_ALL = 'test/e2e/drills.test.ts';
/** The main job from end to end: start, train, step, masks, save and resume, export, a text model, a phone. */
const MAIN_JOB = [
  'test/e2e/cold.test.ts',
  'test/e2e/training.test.ts',
  'test/e2e/resume.test.ts',
  'test/e2e/charts.test.ts',
  'test/e2e/checkpoint.test.ts',
  'test/e2e/models.test.ts',
];
/**
 * What takes seconds on an idle machine takes minutes on a busy or a slow one: a limit is there to end what hangs. A hook builds the page,
 * bundles programs, or compiles all kernels.
 */
const PATIENT = { testTimeout: 600_000, hookTimeout: 600_000 };
/** Lets products be fused in an older Node, too; a test of the page begins with its own stores. */
const SETUP = ['test/fusedProducts.ts', 'test/freshPage.ts'];

/** The files that this run leaves to `npm run test:weekly`. */
const left = (weekly: boolean) => (weekly ? [] : Object.keys(WEEKLY));

/** Anew each time, as Vitest writes the project's name into it. */
const inChromium = () => ({
  ...PATIENT,
  browser: {
    enabled: true,
    headless: true,
    screenshotFailures: false,
    provider: playwright({ launchOptions: launchOptions() }),
    instances: [{ browser: 'chromium' as const }],
  },
});
const inPage = {
  environment: 'node',
  globalSetup: ['test/e2e/global-setup.ts'],
  ...PATIENT,
};

/** The page timed by the clock, one file after the other. */
const bench = {
  extends: true as const,
  test: { name: 'page', ...inPage, include: ['bench/page/*.test.ts'], maxWorkers: 1 },
};

const projects = (everything: boolean, weekly: boolean) => [
  {
    extends: true as const,
    test: {
      name: 'unit',
      environment: 'node',
      include: ['test/**/*.test.ts'],
      ...PATIENT,
      exclude: [
        ...['test/gpu/**', 'test/browser/**', 'test/e2e/**', 'test/dawn/**'],
        ...ALONE,
        ...left(weekly),
        ...(everything ? [] : HEAVY),
      ],
      isolate: false, // what one file has loaded the next finds loaded: a third of the processor time
      setupFiles: SETUP,
    },
  },
  {
    extends: true as const,
    test: {
      name: 'alone',
      environment: 'node',
      include: ALONE,
      exclude: everything ? left(weekly) : HEAVY,
      setupFiles: SETUP,
      ...PATIENT,
    },
  },
  {
    // in one page, and so on one device: what one file has compiled the next finds compiled, which is most of the time
    extends: true as const,
    test: {
      ...inChromium(),
      name: 'gpu',
      maxWorkers: 1,
      sequence: { groupOrder: 0 }, // first, as the Python judges have the other core then
      include: ['test/gpu/**/*.test.ts'],
      exclude: everything ? left(weekly) : HEAVY_ON_GPU,
      isolate: false,
    },
  },
  ...(everything ? [components()] : []),
  {
    extends: true as const,
    test: {
      name: 'e2e',
      ...inPage,
      include: everything ? ['test/e2e/**/*.test.ts'] : MAIN_JOB,
      isolate: false, // the files of a worker share its browsers
      exclude: [...left(weekly), LAST_OF_ALL],
    },
  },
  ...(weekly
    ? [
        {
          extends: true as const,
          test: { name: 'drills', ...inPage, include: [LAST_OF_ALL], sequence: { groupOrder: 2 } },
        },
      ]
    : []),
  {
    // the kernel tests once more, on Dawn in Node: a faster loop while writing kernels
    extends: true as const,
    test: {
      name: 'dawn',
      environment: 'node',
      pool: 'forks' as const,
      include: ['test/gpu/**/*.test.ts'],
      setupFiles: ['test/dawn/setup.ts'],
      ...PATIENT,
    },
  },
];

/** Panels of the page in a real browser, without the page around them. */
const components = () => ({
  extends: true as const,
  worker: { format: 'es' as const, plugins: () => [wgsl(), program()] },
  optimizeDeps: {
    include: ['react', 'react-dom/client', 'react/jsx-dev-runtime', 'recharts', 'zustand', 'vitest-browser-react'],
  },
  test: { ...inChromium(), name: 'browser', include: ['test/browser/**/*.test.{ts,tsx}'] },
});

/**
 * What a run of the tests has: `npm test` the main claims in about four minutes, `npm run test:all` (`--mode all`, CI) every claim,
 * `npm run test:weekly` (`--mode weekly`) also what repeats a claim, and `npm run bench -- page` (`--mode bench`) what is measured by the
 * clock, which judges nothing.
 */
export default defineConfig(({ mode }) => {
  return {
    assetsInclude: ['**/*.safetensors'],
    plugins: [react(), wgsl(), program()],
    test: {
      // pages of end-to-end tests wait more than they compute: two at a time even on two cores. With three, and kernels at the same time,
      // each test takes several times as long and waits fail
      maxWorkers: Math.max(2, availableParallelism() - 1),
      sequence: { sequencer: LongestFirst, groupOrder: 1 },
      // a busy machine can make a test of a timer or of two threads fail: such a test is named at the end, and mended
      retry: process.env['CI'] ? 1 : 0,
      reporters: ['default', './tools/summary-reporter.ts'],
      // on two busy cores a screen whose code has yet to load may take minutes, not the second that is usual
      expect: { poll: { timeout: 240_000 } },
      browser: { connectTimeout: PATIENT.hookTimeout }, // a page that opens on a busy machine: Vitest reads it here alone
      projects: (mode === 'bench' ? [bench] : projects(['all', 'weekly'].includes(mode), mode === 'weekly')).map(
        // each has it of its own: what a project takes over of this file is evaluated anew, without the mode
        (project) => ({ ...project, test: { ...project.test, provide: { weekly: mode === 'weekly' } } }),
      ),
    },
  };
});
