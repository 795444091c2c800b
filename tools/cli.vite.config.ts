import { defineConfig } from 'vite';
import { program } from './program-plugin.ts';
import { wgsl } from './wgsl-plugin.ts';

/** How scripts/cli.mjs and bench/run.mjs bundle programs. */
export default defineConfig({
  plugins: [wgsl(), program()],
  worker: { format: 'es', plugins: () => [wgsl(), program()] },
});
