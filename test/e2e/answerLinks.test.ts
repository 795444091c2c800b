import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe, launch, read, visitStill } from './lab.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

test('Answers: from its link alone an answer shows a recorded number; pressed, it trains and shows the run’s own; the lab comes back; an unknown name shows the list and says so', async () => {
  const { page, problems } = await visitStill(browser, { hash: '#/answers/group-size' });
  const trial = page.getByTestId('trial-illness');
  await expect.poll(() => trial.innerText()).toMatch(/62 % of the groups were dead.*Recorded: seed 7/s);
  expect(await axe(page)).toEqual([]);
  await trial.getByRole('button', { name: '64 groups of 2' }).click();
  await page.locator('[data-testid="trial-illness"][data-shown="yes"]').waitFor();
  // the same knobs, seed and processor as the recorded run: the same number
  expect(await trial.innerText()).toMatch(/62 % of the groups were dead.*Measured here: seed 7, CPU, 3 updates/s);
  const { applied } = await read(page);
  expect(applied).toMatchObject({ groupSize: 2, prompts: 64, processReward: 0 });
  await page.getByRole('link', { name: 'All answers' }).click();
  await expect.poll(async () => (await read(page)).session).toBe('none');
  expect(await page.locator('.answer-list').getByRole('link').count()).toBe(12);
  await page.evaluate(() => location.assign('#/answers/loss'));
  await page.getByText('isn’t an answer').first().waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});
