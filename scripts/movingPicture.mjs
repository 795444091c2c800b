// npm run film: docs/pictures/learning.gif, the README's moving picture. It is the real page: the lab trains, both masks are turned off
// while it does, the tool's words light up because they are pushed now, and the curves answer.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Encoder } from 'modern-gif';
import { withBuiltPage } from './pagePictures.mjs';
import { pixelsOf } from './png.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const SIZE = { width: 1280, height: 860 }; // tall enough for the curves to stand open
const MOST_BYTES = 4e6;
const LAB = '#/lab?seed=7&backend=cpu&updates=90';
const LONG_MS = 300_000;

await withBuiltPage(root, async (browser, base) => {
  const page = await browser.newPage({
    viewport: SIZE,
    colorScheme: 'light',
    serviceWorkers: 'block',
    locale: 'en-GB',
  });
  page.setDefaultTimeout(LONG_MS);
  const encoder = new Encoder({ ...SIZE, looped: true, loopCount: 0, maxColors: 128 });
  /** Adds what is in view, for so many milliseconds. @param {number} ms */
  const frame = async (ms) => {
    const data = pixelsOf(await page.screenshot({ animations: 'disabled' }));
    await encoder.encode({ data, ...SIZE, delay: ms });
  };
  /** Adds a frame after every so many updates, up to an update. @param {number} last @param {number} every @param {number} ms */
  const until = async (last, every, ms) => {
    for (;;) {
      const now = await page.evaluate(() => window.__playground?.snapshot().update ?? 0);
      await frame(ms);
      if (now >= last) return;
      await page.waitForFunction(
        (next) => (window.__playground?.snapshot().update ?? 0) >= next,
        Math.min(last, now + every),
      );
    }
  };
  await page.goto(`${base}${LAB}`);
  const run = page.getByRole('button', { name: 'Run training' });
  await run.waitFor();
  await frame(900);
  await run.click();
  await until(16, 2, 260);
  await page.getByRole('button', { name: 'Pause' }).first().click();
  await page.getByRole('button', { name: 'Push', exact: true }).click();
  await frame(1400);
  for (const mask of ['Loss mask', 'Advantage mask']) {
    await page.getByRole('switch', { name: mask }).click();
    await frame(1400);
  }
  await page.keyboard.press('.');
  await page.waitForFunction(() => (window.__playground?.snapshot().update ?? 0) >= 17);
  await frame(2200);
  await page.getByRole('button', { name: /^(Resume|Run) training/ }).click();
  await until(75, 4, 260);
  await frame(2000);
  const picture = Buffer.from(await encoder.flush('arrayBuffer'));
  console.log(`docs/pictures/learning.gif: ${(picture.length / 1e6).toFixed(2)} MB`);
  if (picture.length > MOST_BYTES) throw new Error(`more than ${MOST_BYTES / 1e6} MB: fewer frames, or a smaller page`);
  await writeFile(path.join(root, 'docs/pictures/learning.gif'), picture);
});
