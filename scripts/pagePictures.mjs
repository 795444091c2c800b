// The page, built into a folder of its own, served, and open to a browser: for the commands that take pictures of it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright';
import { build } from 'vite';
import { launchOptions } from './browser.mjs';
import { servePage } from './page-server.mjs';

/**
 * Builds and serves the page, gives a browser and the page's address to `work`, and clears all of it away afterwards.
 * @param {string} root of the project
 * @param {(browser: import('playwright').Browser, base: string) => Promise<void>} work
 */
export async function withBuiltPage(root, work) {
  const site = await mkdtemp(path.join(tmpdir(), 'rollout-playground-'));
  await build({ root, logLevel: 'warn', build: { outDir: site, emptyOutDir: true } });
  const server = await servePage(site, { host: '127.0.0.1', port: 0 });
  const browser = await chromium.launch({ headless: true, ...launchOptions() });
  try {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    await work(browser, `http://127.0.0.1:${address.port}/`);
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
    await rm(site, { recursive: true, force: true });
  }
}
