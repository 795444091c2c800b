// npm run card: public/card.png, the picture that sites show beside a link to the page. It is the page's own picture card of its first
// recording: built, opened, and saved under Share.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import { build } from 'vite';
import { launchOptions } from './browser.mjs';
import { servePage } from './page-server.mjs';
import { repacked } from './png.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const MOMENT = '#/lab?recorded=160&rollout=1';
const MOST_BYTES = 150_000; // some sites leave larger ones out

const site = await mkdtemp(path.join(tmpdir(), 'rollout-playground-'));
await build({ root, logLevel: 'warn', build: { outDir: site, emptyOutDir: true } });
const server = await servePage(site, { host: '127.0.0.1', port: 0 });
const address = server.address();
const browser = await chromium.launch({ headless: true, ...launchOptions() });
try {
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const page = await browser.newPage({ colorScheme: 'light', reducedMotion: 'reduce', serviceWorkers: 'block' });
  await page.goto(`http://127.0.0.1:${address.port}/${MOMENT}`);
  await page.waitForFunction(() => window.__playground?.snapshot().batch.update === 160);
  await page.keyboard.press('s');
  const dialog = page.getByRole('dialog', { name: 'Share' });
  await dialog.getByRole('button', { name: 'Picture' }).click();
  await dialog.locator('.share-card .guess').first().waitFor();
  const coming = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Save PNG' }).click();
  const picture = repacked(await readFile(await (await coming).path()));
  if (picture.length > MOST_BYTES) throw new Error(`The card has ${picture.length} bytes, more than ${MOST_BYTES}.`);
  await writeFile(path.join(root, 'public/card.png'), picture);
  console.log(`public/card.png: ${(picture.length / 1e3).toFixed(0)} kB`);
} finally {
  await browser.close();
  server.closeAllConnections();
  server.close();
  await rm(site, { recursive: true, force: true });
}
