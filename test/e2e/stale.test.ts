import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { choosePreset, framesLater, launch, read, stepped, visit, visitStill } from './lab.ts';

const SMALL = '#/lab?seed=7&prompts=4&groupSize=4&evalTasks=16&evalEvery=0&backend=cpu';
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

const tokens = (page: Page) => page.getByTestId('trajectory').locator('.token').count();

test('after a step no stage is said to be under way: neither above the rollouts nor in the status line', async () => {
  const { page, problems } = await visitStill(browser, { hash: SMALL });
  await stepped(page, 1);
  await page.getByTestId('verdict').getByText('Update 1 is done.').waitFor();
  await expect.poll(() => page.locator('.phase[data-now="true"]').count()).toBe(0);
  await page.getByRole('button', { name: 'Step one update' }).click();
  await page.getByTestId('verdict').getByText('Update 2 is done.').waitFor();
  await expect.poll(async () => (await read(page)).phase).toBe('idle');
  await expect.poll(() => page.getByTestId('verdict').textContent()).not.toContain('…');
  expect(problems).toEqual([]);
  await page.context().close();
});

test('Reset takes the old rollouts out of view on every screen and says what brings new ones', async () => {
  const { page, problems } = await visitStill(browser, { hash: SMALL });
  await stepped(page, 1);
  await expect.poll(() => tokens(page)).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Reset' }).click();
  const note = page.getByTestId('no-rollouts');
  await note.getByText(/no rollouts yet/).waitFor();
  await expect.poll(() => tokens(page)).toBe(0);
  await expect.poll(async () => (await read(page)).batch).toMatchObject({ rows: 0, isExample: false });
  for (const screen of ['group', 'update', 'learn']) {
    await page.evaluate((name) => location.assign(`#/${name}`), screen);
    await page.locator(`.lab[data-screen="${screen}"]`).waitFor();
    await note.waitFor();
    await expect.poll(() => page.locator('.token, .group-turn').count(), { message: screen }).toBe(0);
  }
  await page.evaluate(() => location.assign('#/lab'));
  await page.getByRole('button', { name: 'Step one update' }).click();
  await expect.poll(() => tokens(page)).toBeGreaterThan(0);
  await note.waitFor({ state: 'detached' });
  expect(problems).toEqual([]);
  await page.context().close();
});

test('another preset plays its own recording, one beside a checkpoint too; knobs that ask for another environment take it out of view, and nothing plays on behind it', async () => {
  const { page, problems } = await visit(browser);
  await expect.poll(() => tokens(page)).toBeGreaterThan(0);
  await choosePreset(page, 'frozen-lake');
  await page.getByTestId('replay').getByText('FrozenLake · PPO, seed 7').waitFor({ state: 'attached' });
  await expect.poll(() => tokens(page)).toBeGreaterThan(0);
  await choosePreset(page, 'smollm2-calculator');
  await page
    .getByTestId('replay')
    .getByText('SmolLM2 · calculator, beside SmolLM2-135M-Instruct, seed 7')
    .waitFor({ state: 'attached' });
  await expect.poll(() => tokens(page)).toBeGreaterThan(0);
  await page.evaluate(() => location.assign('#/lab?v=2&env=world-facts&model=checkpoint&language=text&critic=none'));
  await page.getByTestId('no-rollouts').getByText('another environment or model').waitFor();
  await page.getByTestId('replay-away').waitFor();
  await expect.poll(() => tokens(page)).toBe(0);
  await framesLater(page);
  expect((await read(page)).batch.rows).toBe(0);
  await choosePreset(page, 'number-hunt');
  await expect.poll(() => tokens(page)).toBeGreaterThan(0);
  await page.getByTestId('replay').getByText('Number hunt · GRPO, seed 7').waitFor({ state: 'attached' });
  expect(problems).toEqual([]);
  await page.context().close();
});

test('an address of a task without a recording opens without one; an exercise that reads rollouts brings its own', async () => {
  const { page, problems } = await visitStill(browser, {
    hash: '#/learn?env=world-facts&language=text&model=checkpoint',
  });
  await page.getByTestId('no-rollouts').waitFor();
  await expect.poll(() => tokens(page)).toBe(0);
  const exercise = page.locator('.exercise').first();
  await exercise.locator('.choices button').first().click();
  await exercise.locator('button.primary').click();
  await exercise.locator('.exercise-outcome').waitFor();
  await expect
    .poll(() => exercise.locator('.exercise-outcome').getAttribute('data-verdict'))
    .toMatch(/^(right|wrong)$/);
  await expect.poll(() => tokens(page)).toBeGreaterThan(5);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a screen of a build that the server no longer has says that there is a new version; one press reloads the page and keeps the run', async () => {
  const { page } = await visitStill(browser, { hash: SMALL });
  await stepped(page, 2);
  // a new build: the page begins with another script, and the old one's parts are gone
  await page.route('**/assets/Runs-*', (route) => route.fulfill({ status: 404, body: '' }));
  await page.route(inject('baseURL'), async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replaceAll('./assets/', './assets/new-') });
  });
  await page.evaluate(() => location.assign('#/runs'));
  const broken = page.getByTestId('broken');
  await broken.getByText('There is a new version of this page.').waitFor();
  await expect.poll(() => broken.getByRole('button').allTextContents()).toEqual(['Reload and keep the run']);
  await page.getByTestId('new-version').waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  await broken.getByRole('button', { name: 'Reload and keep the run' }).click();
  await page.locator('.lab[data-screen="runs"]').waitFor();
  await expect.poll(() => broken.count()).toBe(0);
  await page.evaluate(() => location.assign('#/lab'));
  await page.getByRole('button', { name: 'Resume update 2' }).click();
  await page.waitForFunction(() => window.__playground?.snapshot().update === 2);
  await page.context().close();
});
