// node bench/presets.mjs [--presets number-hunt-text,calculator-text,search-text] [--backends cpu,gpu] [--updates 4] [--rounds 2] [--raw FILE]
// Seconds an update of presets takes in the page: built, opened in headless Chromium, chosen by picture, run. `gpu` is the WebGPU adapter that Chromium is
// started with, SwiftShader unless GPU_ADAPTER=hardware. An update begins and ends with its numbers in the page; what is loaded and compiled first, and the
// evaluation before the first update, are in the time to it. Slots run in turns, each in a browser of its own.
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright';
import { build } from 'vite';
import { launchOptions } from '../scripts/browser.mjs';
import { servePage } from '../scripts/page-server.mjs';
import { root } from './bundle.mjs';
import { read } from './checkpoint/arguments.mjs';
import { choosePreset, timeUpdates } from './pageRun.mjs';

const flags = read(import.meta.url, {
  ...{ presets: 'number-hunt-text,calculator-text,search-text', backends: 'cpu,gpu' },
  ...{ updates: 4, rounds: 2, raw: '' },
});
const LONGEST_MS = 1_800_000; // software that draws pixels and computes by them is slow, not wrong

/**
 * Opens the page, chooses a preset and runs it; seconds from the press to the first update, and between updates.
 * @param {string} base @param {string} preset @param {string} backend
 */
async function timed(base, preset, backend) {
  const browser = await chromium.launch({ headless: true, ...launchOptions() });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(60_000);
    const button = await choosePreset(page, base, preset, backend);
    const { told, first, last } = await timeUpdates(page, button, flags.updates, { timeoutMs: LONGEST_MS });
    return { preset, backend, told, first, each: (last - first) / (flags.updates - 1), load: loadavg()[0] };
  } finally {
    await browser.close();
  }
}

const site = mkdtempSync(path.join(tmpdir(), 'bench-presets-'));
try {
  await build({ root, logLevel: 'error', build: { outDir: site, emptyOutDir: true } });
  const server = await servePage(site, { host: '127.0.0.1', port: 0 });
  const address = server.address();
  const base = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`;
  for (let round = 1; round <= flags.rounds; round++) {
    for (const preset of flags.presets.split(',')) {
      for (const backend of flags.backends.split(',')) {
        const took = await timed(base, preset, backend);
        const s = (/** @type {number} */ x) => x.toFixed(2);
        console.log(`${preset} ${backend}: first update after ${s(took.first)} s, then ${s(took.each)} s each`);
        if (flags.raw) appendFileSync(flags.raw, `${JSON.stringify({ round, ...took })}\n`);
      }
    }
  }
  server.close();
} finally {
  rmSync(site, { recursive: true, force: true });
}
process.exit(0);
