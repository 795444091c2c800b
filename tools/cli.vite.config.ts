import { defineConfig } from 'vite';
import { wgsl } from './wgsl-plugin.ts';

/** How scripts/cli.mjs bundles programs for Node. */
export default defineConfig({ plugins: [wgsl()] });
