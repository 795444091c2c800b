import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { program } from './program-plugin.ts';
import { wgsl } from './wgsl-plugin.ts';

/** The unit tests named in MUTATION_TESTS, with commas: for scripts/mutation.mjs. */
export default defineConfig({
  root: path.join(import.meta.dirname, '..'),
  assetsInclude: ['**/*.safetensors'],
  plugins: [wgsl(), program()],
  test: { environment: 'node', include: (process.env['MUTATION_TESTS'] ?? '').split(','), testTimeout: 120_000 },
});
