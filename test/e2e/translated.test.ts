import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SCREENS } from '../../src/ui/address/screens.ts';
import { simulateTranslation } from '../browser/simulateTranslation.ts';
import { launch, read, visit } from './lab.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

const RUN = '#/lab?v=1&seed=7&prompts=4&groupSize=4&evalTasks=16&backend=cpu&updates=100000';
/** What a rollout, a board or a file says, as its own words. */
const OWN_WORDS = '.token, .word, .env-svg, .ledger, .passages, .term, .cm-content, pre, code, kbd';

test('a page that the browser translates trains on, on every screen, its numbers change, and tokens, boards and code stay as they are', async () => {
  const { page, problems } = await visit(browser, { hash: RUN, worker: 'fake', before: simulateTranslation });
  await page.getByRole('button', { name: 'Run training' }).click();
  await page.evaluate(() => window.__translateOn());
  await page.getByRole('button', { name: 'PAUSE' }).waitFor();
  for (const route of Object.keys(SCREENS)) {
    await page.evaluate((screen) => location.assign(`#/${screen}`), route);
    await page.locator(`.lab[data-screen="${route}"] main:not([aria-busy]):visible font`).first().waitFor();
    const { update } = await read(page);
    await expect.poll(async () => (await read(page)).update).toBeGreaterThan(update + 1);
    const translated = await page.evaluate(
      (own) =>
        [...document.querySelectorAll(own)].filter((e) => !e.closest('[translate="no"]')).map((e) => e.outerHTML),
      OWN_WORDS,
    );
    expect(translated, route).toEqual([]);
    const shown = page.locator('[data-testid="update"]:visible');
    if ((await shown.count()) === 0) continue; // no header
    const number = async () => Number(/YOUR RUN: (\d+)/.exec(await shown.innerText())?.[1]);
    const before = await number();
    await expect.poll(number, { message: route }).toBeGreaterThan(before);
  }
  expect(await page.getByTestId('broken').count()).toBe(0);
  expect(problems).toEqual([]);
  await page.context().close();
});
