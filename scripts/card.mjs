// npm run card: public/card.png, the picture that sites show beside a link to the page. It is the page's own picture card of its first
// recording: built, opened, and saved under Share.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { withBuiltPage } from './pagePictures.mjs';
import { repacked } from './png.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const MOMENT = '#/lab?recorded=160&rollout=1';
const MOST_BYTES = 150_000; // some sites leave larger ones out

await withBuiltPage(root, async (browser, base) => {
  const page = await browser.newPage({ colorScheme: 'light', reducedMotion: 'reduce', serviceWorkers: 'block' });
  await page.goto(`${base}${MOMENT}`);
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
});
