// npm run screenshots: every screen at two sizes in two themes into docs/screenshots/; with --to FOLDER at four sizes into another
// folder, to look at. The run they show is trained on the CPU from a fixed seed, so its numbers are the same each time; only times
// and speeds differ.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { withBuiltPage } from './pagePictures.mjs';
import { repacked } from './png.mjs';
import { scriptFlags } from './usage.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const { to } = scriptFlags(import.meta.url, /** @type {const} */ ({ to: 'value' })).given;
const out = to === undefined ? path.join(root, 'docs/screenshots') : path.resolve(to);
/** Sizes that the docs show. */
const SHOWN = [
  { name: 'desktop', viewport: { width: 1440, height: 900 } },
  { name: 'phone', viewport: { width: 390, height: 844 }, hasTouch: true },
];
const OTHERS = [
  { name: 'laptop', viewport: { width: 1280, height: 720 } },
  { name: 'wide', viewport: { width: 1920, height: 1080 } },
];
/** States of the lab beside its own picture: to look at, not for the docs, whose pictures lie in the repository. */
const STATES = ['welcome', 'formula'];
const sizes = to === undefined ? SHOWN : [...SHOWN, ...OTHERS];
const THEMES = /** @type {const} */ (['dark', 'light']);
const UPDATES = 60;
// the first preset
const RUN = `#/lab?v=1&seed=7&learningRate=0.001&entropyCoef=0.02&processReward=0.5&updates=${UPDATES}&backend=cpu`;
const LONG_MS = 300_000;
const MOST_BYTES = 7e6; // of all pictures: they lie in the repository

await withBuiltPage(root, async (browser, base) => {
  if (to === undefined) await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  let bytes = 0;
  for (const { name, ...size } of sizes) {
    const context = await browser.newContext({ ...size, serviceWorkers: 'block', locale: 'en-GB' });
    const page = await context.newPage();
    page.setDefaultTimeout(LONG_MS); // a busy machine is slow, not wrong
    for await (const screen of screens(page, base)) {
      if (to === undefined && STATES.includes(screen)) continue;
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme });
        await page.waitForTimeout(100);
        // a button's colour takes a moment to turn; where it is out of sight, its promise of that need never be settled
        await page.waitForFunction(() =>
          document
            .getAnimations()
            .every((motion) => !(motion instanceof CSSTransition) || motion.playState === 'finished'),
        );
        const picture = repacked(await page.screenshot());
        await writeFile(path.join(out, `${screen}-${name}-${theme}.png`), picture);
        bytes += picture.length;
      }
      console.log(`${screen}, ${name}`);
    }
    await context.close();
  }
  console.log(`${to ?? 'docs/screenshots'}: ${(bytes / 1e6).toFixed(1)} MB`);
  if (to === undefined && bytes > MOST_BYTES)
    throw new Error(`more than ${MOST_BYTES / 1e6} MB of pictures: make them smaller`);
});

/**
 * Brings the page to one screen after the other, and says its name when it is there.
 * @param {import('playwright').Page} page @param {string} base
 */
async function* screens(page, base) {
  await page.goto(`${base}#/stage`);
  await page.getByRole('button', { name: 'Play again' }).waitFor();
  yield 'start';
  await page.goto('about:blank');
  await page.goto(base + RUN);
  await page.getByRole('button', { name: 'Pause the recording' }).click();
  await settled(page);
  yield 'welcome';
  await page.getByRole('button', { name: 'Run training' }).click();
  await page.waitForFunction(() => window.__playground?.snapshot().finished === true, null, { timeout: LONG_MS });
  await page.keyboard.press('2'); // advantages
  await page.keyboard.press('j');
  // a phone shows what is chosen over all the rest
  if (await page.locator('nav.screens').isVisible()) await page.locator('.token[data-kind="call"]').nth(1).click();
  const phone = !(await page.locator('nav.screens').isVisible());
  if (phone) await page.locator('nav.views').getByText('Tune').click();
  await page.getByRole('button', { name: 'Where Loss mask acts in the formula' }).click();
  await settled(page);
  yield 'formula';
  await page.getByRole('button', { name: 'Where Loss mask acts in the formula' }).click();
  if (phone) await page.locator('nav.views').getByText('Watch').click();
  await page.locator('.preset-door').click();
  await page.locator('.preset-card').first().waitFor();
  await settled(page);
  yield 'choice';
  await page.keyboard.press('Escape');
  // every screen that the page itself leads to
  const links = (/** @type {string} */ of) =>
    page.locator(of).evaluateAll((all) => all.map((a) => a.getAttribute('href') ?? ''));
  const routes = [];
  for (const place of await links('nav.screens a')) {
    await page.evaluate((to) => location.assign(to), place);
    await page.locator('.lab main:not([aria-busy])').first().waitFor();
    const views = await links('nav.views a');
    routes.push(...(views.length > 0 ? views : [place]));
  }
  for (const href of routes) {
    const screen = /^#\/(\w+)/.exec(href)?.[1] ?? 'lab';
    await page.evaluate((to) => location.assign(to), href);
    if (screen === 'update') {
      await page.getByTestId('changes').getByRole('button').first().waitFor();
      await page.getByTestId('clip-map').waitFor();
    }
    if (screen === 'environment') {
      await page.getByTestId('check').getByRole('button', { name: 'Check' }).click();
      await page.getByTestId('verdict').waitFor();
    }
    if (screen === 'forks') {
      await page.getByRole('button', { name: /^Fork$/ }).click();
      await page.locator('[data-testid="comparison"][data-state="done"]').waitFor({ timeout: LONG_MS });
    }
    if (screen === 'talk') {
      await page.getByRole('button', { name: 'Ask the agent' }).click();
      await page.getByRole('button', { name: 'All', exact: true }).click();
      await page.locator('.voice[data-voice="now"] button.token').nth(1).click();
    }
    if (screen === 'rollouts') {
      await page.getByRole('button', { name: 'Open here' }).click();
      await page.getByRole('searchbox').waitFor();
      await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' });
    }
    await settled(page);
    yield screen;
  }
  await page.evaluate(() => location.assign('#/learn/trap/solved'));
  await toClass(page);
  await settled(page);
  yield 'class';
}

/**
 * Does an exercise on shipped runs, and shows what three of a class would hand in of it, who differ in their prediction.
 * @param {import('playwright').Page} page
 */
async function toClass(page) {
  const exercise = page.getByTestId('exercise-solved');
  await exercise.getByRole('button', { name: 'in six or more' }).click();
  await exercise.getByRole('button', { name: 'Look at the recorded runs' }).click();
  await page.locator('[data-testid="exercise-solved"][data-verdict]').waitFor();
  await page.getByText('Hand in', { exact: true }).click();
  await page.getByLabel('Name or alias').fill('Ada');
  const coming = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save my results' }).click();
  const text = await readFile(await (await coming).path(), 'utf8');
  const handedIn = ['most', 'some', 'few'].map((predicted, i) => ({
    name: `${i}.json`,
    mimeType: 'application/json',
    buffer: Buffer.from(
      text.replace('Ada', ['Ada', 'Bo', 'Cy'][i] ?? '').replace('"predicted": "most"', `"predicted": "${predicted}"`),
    ),
  }));
  await page.getByRole('link', { name: 'For teachers' }).click();
  await page.getByTestId('class').locator('input[type="file"]').setInputFiles(handedIn);
  await page.getByText('3 files, 3 names').waitFor();
}

/** Waits until what is loaded late has been drawn. @param {import('playwright').Page} page */
async function settled(page) {
  await page.waitForLoadState('networkidle');
  await page.waitForFunction(() =>
    [...document.querySelectorAll('.dock .plot')].every((plot) => !plot.checkVisibility() || plot.querySelector('svg')),
  );
  await page.waitForTimeout(1200);
}
