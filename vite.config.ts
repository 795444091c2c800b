import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { ISOLATION } from './scripts/page-policy.mjs';
import { card, siteAddress } from './tools/card-plugin.ts';
import { licences } from './tools/licences-plugin.ts';
import { offline } from './tools/pwa-plugin.ts';
import { pyodide } from './tools/pyodide-plugin.ts';
import { scriptGroups } from './tools/pageScripts.ts';
import { policy } from './tools/policy-plugin.ts';
import { program } from './tools/program-plugin.ts';
import { wgsl } from './tools/wgsl-plugin.ts';

/** A slow computer is told how long each plugin took, which concerns nobody who only wants the page. */
const checks = { pluginTimings: false };

const { collect, write } = licences();

export default defineConfig({
  base: process.env['BASE_PATH'] ?? './',
  plugins: [
    react(),
    wgsl(),
    program(),
    pyodide(),
    policy(),
    collect(),
    write(),
    card(
      {
        title: 'Rollout Playground: watch a language-model agent learn',
        description:
          'Train a tiny language-model agent with reinforcement learning in your browser, and see what each update does to every token that the agent writes.',
      },
      siteAddress(process.env['SITE_URL']),
    ),
    offline({ name: 'Rollout Playground', themeColor: '#151a21', icon: './icon.svg' }),
  ],
  optimizeDeps: { exclude: ['pyodide'] }, // bundled before, it would keep its imports
  server: { headers: ISOLATION },
  preview: { headers: ISOLATION },
  worker: { format: 'es', plugins: () => [wgsl(), program(), pyodide(), collect()], rolldownOptions: { checks } },
  build: {
    target: 'es2022',
    sourcemap: true,
    // lists of what each screen's script imports would be part of the first one, 1.5 kB of it
    modulePreload: { polyfill: false, resolveDependencies: () => [] },
    chunkSizeWarningLimit: 1000, // kB; the largest is Pyodide, which comes when an environment in Python is opened
    // what the first paint needs is one script: small ones apart pack worse, and each import of them is one more name to send
    rolldownOptions: {
      checks,
      output: { codeSplitting: { groups: [{ name: 'first', tags: ['$initial'] }, ...scriptGroups] } },
    },
  },
});
