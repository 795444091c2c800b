import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launch, read, train, unfold, visitStill } from './lab.ts';

const HOSTILE = '#/lab?v=1&learningRate=1e9&groupSize=-3&foo=1&layers=abc';
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

test('a typed value out of range says what was got and what is wanted, and stays in the box', async () => {
  const { page } = await visitStill(browser, { worker: 'fake' });
  await unfold(page, 'Optimizer');
  const box = page.getByLabel('Learning rate η', { exact: true });
  await box.fill('9');
  const message = page.getByRole('alert').filter({ hasText: '9 isn’t a number from 0 to 0.1' });
  await message.waitFor();
  await expect.poll(() => box.inputValue()).toBe('9');
  await expect.poll(() => box.getAttribute('aria-invalid')).toBe('true');
  expect((await read(page)).config.learningRate).toBe(0.001);
  await box.fill('0.01');
  await message.waitFor({ state: 'detached' });
  await expect.poll(async () => (await read(page)).config.learningRate).toBe(0.01);
  await page.context().close();
});

test('a hostile address loads, is clamped, and lists its corrections', async () => {
  const { page, problems } = await visitStill(browser, { hash: HOSTILE });
  const list = page.getByTestId('corrections');
  await list.getByText('learningRate: 1e9 isn’t possible. Use a number from 0 to 0.1. Set to 0.1.').waitFor();
  await expect.poll(() => list.getByRole('listitem').count()).toBe(4);
  expect((await read(page)).config).toMatchObject({ learningRate: 0.1, groupSize: 1, layers: 2 });
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a worker that dies says so; curves and batch stay, and Start again works', async () => {
  const { page } = await visitStill(browser, { worker: 'fake', hash: '#/lab?v=1&seed=666' });
  await train(page, 4);
  const alert = page.getByTestId('problem');
  await alert.getByText('The training worker stopped').waitFor();
  await expect.poll(() => read(page)).toMatchObject({ session: 'failed', running: false });
  const dead = await read(page);
  expect(dead.points['rollout/success']).toBeGreaterThanOrEqual(4);
  expect(dead.batch.isExample).toBe(false);
  await page.locator('.line-chart .smooth').first().waitFor();
  await page.evaluate(() => location.assign('#/lab?v=1&seed=7')); // one that lives on
  await expect.poll(async () => (await read(page)).config.seed).toBe(7);
  await alert.getByRole('button', { name: 'Start again' }).click();
  await page.waitForFunction(() => {
    const now = window.__playground?.snapshot();
    return now?.session === 'ready' && now.applied?.seed === 7 && now.update > 0;
  });
  await page.context().close();
});

test('a worker that does not load says so', async () => {
  const { page } = await visitStill(browser, { worker: 'missing' });
  await page.getByRole('button', { name: 'Run training' }).click();
  await page.getByTestId('problem').getByText('could not be loaded').waitFor();
  await page.getByRole('button', { name: 'Run training' }).waitFor();
  await page.context().close();
});

test('a long run draws at most 300 positions a chart', async () => {
  const { page } = await visitStill(browser, { worker: 'fake' });
  await train(page, 60);
  const charts = page.locator('.chart');
  await expect.poll(() => page.locator('.chart:has(.line-chart .smooth)').count()).toBe(6);
  for (const chart of await charts.all()) expect(await chart.locator('svg *').count()).toBeLessThan(1000);
  await expect
    .poll(() => page.locator('.plot').first().getAttribute('aria-label'))
    .toMatch(/^Reward (rose to|stayed near|fell to)/);
  await page.context().close();
});
