import path from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { useSwiftShader } from '../scripts/browser.mjs';
import { wgsl } from './wgsl-plugin.ts';

useSwiftShader(); // a driver for wgpu where Chromium is installed and no other is named

/** `npm run test:browsers` and `npm run test:wgpu`: browsers and engines that `npm test` does not need. */
export default defineConfig({
  root: path.join(import.meta.dirname, '..'),
  plugins: [react(), wgsl()],
  test: {
    environment: 'node',
    pool: 'forks',
    maxWorkers: 1, // two browsers that train at once take as long as one after the other
    reporters: ['verbose', path.join(import.meta.dirname, 'summary-reporter.ts')],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'pages',
          include: ['test/browsers/*.spec.ts'],
          exclude: ['test/browsers/wgpu.spec.ts'],
          globalSetup: [path.join(import.meta.dirname, '../test/e2e/global-setup.ts')],
        },
      },
      { extends: true, test: { name: 'wgpu', include: ['test/browsers/wgpu.spec.ts'] } },
    ],
  },
});
