import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe, launch, PHONE, read, tooSmall, train, visitStill } from './lab.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

test('“2 changed” opens the list of changes and leaves the run alone; what is put back is put back without a restart', async () => {
  const { page, problems } = await visitStill(browser, { worker: 'fake', hash: '#/lab?layers=3&learningRate=0.01' });
  await train(page, 2);
  const before = (await read(page)).update;
  await page.locator('.header').getByRole('button', { name: '2 changed' }).click();
  const list = page.getByRole('dialog', { name: 'Changed from Number hunt · GRPO' });
  await list.getByText('0.001 → 0.01').waitFor();
  await list.getByText('2 → 3').waitFor();
  await expect.poll(() => list.getByText('in effect').count()).toBe(2);
  expect(await axe(page)).toEqual([]);
  const { running, update } = await read(page);
  expect({ running, further: update >= before }).toEqual({ running: true, further: true });
  await list.getByRole('button', { name: 'Put back Layers to 2' }).click();
  await expect.poll(async () => (await read(page)).config).toMatchObject({ layers: 2, learningRate: 0.01 });
  await list.getByRole('button', { name: 'Put all back' }).click();
  await list.getByText('Nothing differs from the preset now.').waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(async () => (await read(page)).config).toMatchObject({ layers: 2, learningRate: 0.001 });
  const after = await read(page);
  // the layers wait for a restart, and the run is the one that was there
  expect(after).toMatchObject({ running: true, session: 'ready', applied: { layers: 3 } });
  expect(after.update).toBeGreaterThanOrEqual(update);
  await page.getByRole('button', { name: 'Restart to apply' }).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('on a phone the list opens from the header, with targets of 44 px', async () => {
  const { page } = await visitStill(browser, {
    hash: '#/lab?layers=3&entropyCoef=0.5',
    viewport: PHONE,
    hasTouch: true,
  });
  await page.locator('.header').getByRole('button', { name: '2 changed' }).click();
  await page.getByRole('dialog').getByText('0.02 → 0.5').waitFor();
  await expect.poll(() => tooSmall(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  await page.context().close();
});
