import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { SCREEN_LIST } from '../../src/page/address/screens.ts';
import { axe, choosePreset, DESKTOP, launch, PHONE, read, settled, tooSmall, visit, visitStill } from './lab.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

test.each([
  ['light', PHONE],
  ['dark', DESKTOP],
] as const)(
  '%s, %j: a task is chosen by picture, with keys alone, and plays its own recording',
  async (colorScheme, viewport) => {
    const { page, problems } = await visit(browser, { colorScheme, viewport, hasTouch: viewport === PHONE });
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'Choose what to train' });
    await dialog.getByRole('button', { name: /Number hunt · GRPO/, pressed: true }).waitFor();
    expect(await axe(page)).toEqual([]);
    if (viewport === PHONE) await expect.poll(() => tooSmall(page)).toEqual([]);
    expect(await dialog.evaluate((e) => e.scrollWidth - e.clientWidth)).toBeLessThanOrEqual(0);
    // from the first card to its neighbour
    await dialog.locator('[aria-pressed="true"]:focus').waitFor();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page
      .getByTestId('replay')
      .getByText('Calculator chain · GRPO, seed 7, on the CPU')
      .waitFor({ state: 'attached' });
    await expect.poll(async () => (await read(page)).batch.rows).toBe(8);
    expect(problems).toEqual([]);
    await page.context().close();
  },
);

test('before any run the update screen tells what a recorded update changed, and why; what is not held is said', async () => {
  const { page, problems } = await visitStill(browser);
  await page.getByRole('button', { name: 'Update 25 of the recording' }).click();
  await page.getByRole('link', { name: 'Update', exact: true }).click();
  const changes = page.getByTestId('changes').getByRole('button');
  await changes.first().click();
  await page.getByTestId('why').getByText('rollouts of other tasks').waitFor();
  await page
    .getByTestId('rerun')
    .getByText(/replayed with the same random draws/)
    .waitFor();
  await page.getByTestId('distribution').waitFor();
  await expect.poll(() => page.getByTestId('clip-map').count()).toBe(1);
  await changes.last().click();
  await page.getByText(/explains only its 4 biggest movers/).waitFor();
  expect((await read(page)).session).toBe('none');
  expect(problems).toEqual([]);
  await page.context().close();
});

test.each([DESKTOP, PHONE])(
  '$width × $height: your facts opens with a place to drop them, in sight; the sample file trains',
  async (viewport) => {
    const { page, problems } = await visitStill(browser, { viewport, hasTouch: viewport === PHONE });
    await choosePreset(page, 'your-facts');
    const door = page.getByTestId('facts-door');
    await door.getByText('Drop a CSV file, or choose one').waitFor();
    const box = await settled(() => door.boundingBox());
    expect((box?.y ?? NaN) + (box?.height ?? NaN)).toBeLessThan(viewport.height);
    await door.getByRole('button', { name: 'Try the sample file' }).click();
    await door.getByText('sample.csv').waitFor();
    await door.getByRole('button', { name: 'Train on these facts' }).click();
    await expect.poll(async () => (await read(page)).session).toBe('ready');
    await door.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await page.context().close();
  },
);

test('the picture cards lie as they did after every other screen was open: no style of one reaches them', async () => {
  const { page, problems } = await visitStill(browser);
  const dialog = page.getByRole('dialog', { name: 'Choose what to train' });
  const places = async () => {
    await page.keyboard.press('c');
    await dialog.getByRole('button', { name: /Number hunt · GRPO/ }).waitFor();
    const found = await settled(() =>
      dialog.locator('button, h3, p').evaluateAll((parts) =>
        parts.map((part) => {
          const { x, y, width, height } = part.getBoundingClientRect();
          return [x, y, width, height].map(Math.round).join(' ');
        }),
      ),
    );
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    return found;
  };
  const before = await places();
  expect(before.length).toBeGreaterThan(10);
  for (const [screen] of SCREEN_LIST) {
    await page.goto(`${inject('baseURL')}#/${screen}`);
    await page.locator(`.lab[data-screen="${screen}"] main:not([aria-busy])`).waitFor();
  }
  await page.goto(`${inject('baseURL')}#/lab`);
  await page.locator('.lab[data-screen="lab"] main').waitFor();
  expect(await places()).toEqual(before);
  expect(problems).toEqual([]);
  await page.context().close();
});
