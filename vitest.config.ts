import { availableParallelism } from 'node:os';
import react from '@vitejs/plugin-react';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { launchOptions, useSwiftShader } from './scripts/browser.mjs';
import { wgsl } from './tools/wgsl-plugin.ts';

useSwiftShader();

/** Tests that put something in the place of a global, or that share a store of the page: each file has its modules to itself. */
const ALONE = [
  'test/ui/**/*.test.ts',
  'test/cli/programs.test.ts',
  'test/cli/readOnly.test.ts',
  'test/model/cpuSimd.test.ts',
  'test/reader.test.ts',
  'test/tuningStore.test.ts',
];
/** As long as many others together: begun first, so that no core waits for them at the end. */
const LONG = ['test/sameBits.test.ts', 'test/healthy.test.ts'];
/** Lets products be fused in an older Node, too. */
const FUSED = ['test/fusedProducts.ts'];
const MEASURED = ['test/e2e/measured.test.ts', 'test/e2e/longText.test.ts'];
/** Anew each time, as Vitest writes the project's name into it. */
const inChromium = () => ({
  testTimeout: 300_000, // some take 10 s on an idle software adapter, many times that on a busy one
  hookTimeout: 300_000, // the first to open a policy compiles all its kernels
  browser: {
    enabled: true,
    headless: true,
    screenshotFailures: false,
    provider: playwright({ launchOptions: launchOptions() }),
    instances: [{ browser: 'chromium' as const }],
  },
});
/** On a busy machine a browser now and then misses a moment that a test waits for; the summary names those that did. */
const retry = process.env['CI'] ? 1 : 0;
const inPage = {
  retry,
  environment: 'node',
  globalSetup: ['test/e2e/global-setup.ts'],
  testTimeout: 180_000,
  hookTimeout: 180_000,
};

export default defineConfig({
  assetsInclude: ['**/*.safetensors'],
  plugins: [react(), wgsl()],
  test: {
    // pages of end-to-end tests wait more than they compute: two at a time even on two cores
    maxWorkers: Math.max(2, availableParallelism() - 1),
    reporters: ['default', './tools/summary-reporter.ts'],
    // on two busy cores a screen whose code has yet to load may take longer than the second that is usual
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          environment: 'node',
          include: ['test/**/*.test.ts'],
          testTimeout: 60_000, // those that read all sources take seconds where browsers are at work beside them
          exclude: ['test/gpu/**', 'test/browser/**', 'test/e2e/**', 'test/dawn/**', ...ALONE, ...LONG],
          isolate: false, // what one file has loaded the next finds loaded: a third of the processor time
          setupFiles: FUSED,
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          environment: 'node',
          include: [...ALONE, ...LONG],
          setupFiles: FUSED,
          testTimeout: 60_000,
        },
      },
      {
        // the kernel tests once more, on Dawn in Node: a faster loop while writing kernels
        extends: true,
        test: {
          name: 'dawn',
          environment: 'node',
          pool: 'forks',
          include: ['test/gpu/**/*.test.ts'],
          setupFiles: ['test/dawn/setup.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000, // opening a policy compiles all its kernels
        },
      },
      {
        // in one page, and so on one device: what one file has compiled the next finds compiled
        extends: true,
        test: {
          ...inChromium(),
          name: 'gpu',
          include: ['test/gpu/**/*.test.ts'],
          isolate: false,
        },
      },
      {
        extends: true,
        worker: { format: 'es', plugins: () => [wgsl()] },
        optimizeDeps: {
          include: [
            'react',
            'react-dom/client',
            'react/jsx-dev-runtime',
            'recharts',
            'zustand',
            'vitest-browser-react',
          ],
        },
        test: { ...inChromium(), retry, name: 'browser', include: ['test/browser/**/*.test.{ts,tsx}'] },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          ...inPage,
          include: ['test/e2e/**/*.test.ts'],
          exclude: MEASURED,
        },
      },
      {
        // what is measured by the clock, one file after the other, once nothing else runs any more
        extends: true,
        test: { name: 'measured', ...inPage, include: MEASURED, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
