import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launch, visitStill } from './lab.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

test('a visitor loads the agent, hides a number, watches it being looked for, and puts another word into its mouth', async () => {
  const { page, problems } = await visitStill(browser, { hash: '#/talk?v=1&backend=cpu&seed=7' });
  await page.getByRole('button', { name: 'Load the agent' }).click();
  await page.getByLabel('Hidden number').fill('99');
  await page.getByRole('button', { name: 'Ask the agent' }).click();
  await page
    .getByRole('alert')
    .getByText(/“99”.* 16 words/)
    .waitFor();
  await page.getByLabel('Hidden number').fill('12');
  await page.getByLabel('Hidden number').press('Enter');
  const voice = page.getByRole('article', { name: 'Before training' });
  // it is disabled once all has been said, which may be before the test comes to it
  const all = page.getByRole('button', { name: 'All', exact: true });
  await all.evaluate((button) => button instanceof HTMLElement && button.click());
  await expect.poll(() => voice.textContent()).toMatch(/observation<obs>(?:higher|lower)<\/obs>|found/);
  // what a turn is called, what it paid and its first words stand in one line
  const turn = voice.locator('.turn').nth(1);
  const apart = async () => {
    const middles = await turn
      .locator('h4, .chip, .token')
      .evaluateAll((all) =>
        all.slice(0, 3).map((e) => (e.getBoundingClientRect().top + e.getBoundingClientRect().bottom) / 2),
      );
    return middles.length === 3 ? Math.max(...middles) - Math.min(...middles) : NaN;
  };
  await expect.poll(apart).toBeLessThan(8); // a row is 26 px
  const guess = voice.locator('button.token').nth(1); // after <call>
  await guess.click();
  const said = (await guess.textContent()) ?? '';
  const options = page.getByTestId('distribution').locator('.option');
  const other = options.filter({ hasNotText: new RegExp(`^${said}\\b`) }).first();
  const word = (await other.locator('.option-word').textContent()) ?? '';
  await options
    .filter({ has: page.getByText(word, { exact: true }) })
    .first()
    .click();
  await expect.poll(() => voice.locator('button.token').nth(1).textContent()).toBe(word);
  expect(word).not.toBe(said);
  expect(await page.evaluate(() => window.__playground?.snapshot().update)).toBe(0); // nothing was trained
  await page.getByRole('button', { name: 'Open as rollouts' }).click();
  await page.getByText('talk.jsonl').waitFor();
  await page.getByRole('main').getByText(word, { exact: false }).first().waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});
