import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe, launch, PHONE, read, tooSmall, visit } from './lab.ts';

const SMALL = 'v=1&seed=7&prompts=4&groupSize=4&evalTasks=16&backend=cpu';
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click();
const chapter = (page: Page, title: string) =>
  page.getByRole('navigation', { name: 'Chapters' }).getByRole('button', { name: title }).click();

test('Learn: what a chapter has one do happens in the lab beside it, and knobs can be taken back', async () => {
  const { page, problems } = await visit(browser, { hash: `#/learn?${SMALL}` });
  expect(await page.getByRole('navigation', { name: 'Chapters' }).getByRole('button').count()).toBe(9);
  await press(page, 'Play the next turn');
  await page.getByRole('article', { name: 'Turn 1' }).waitFor();
  const turns = () => page.getByRole('article', { name: /^Turn / }).count();
  const before = await turns();
  await press(page, 'Play the next turn');
  await expect.poll(turns).not.toBe(before);

  await chapter(page, 'The action mask');
  await press(page, 'Turn both masks off, one update');
  // a word of the tool is chosen that the update pushed, with the numbers it was pushed by
  await page
    .getByTestId('inspector')
    .getByTestId('push')
    .getByText(/^pass 1: [+−][\d.]+ × /)
    .waitFor({ timeout: 60_000 });
  expect(await page.locator('.token[aria-pressed="true"]').getAttribute('data-kind')).toBe('observation');
  expect((await read(page)).selection.channel).toBe('gradient');
  expect((await read(page)).applied).toMatchObject({ lossMask: 'off', advantageMask: 'off', distractors: 6 });
  await press(page, 'Undo');
  expect((await read(page)).config).toMatchObject({ lossMask: 'on', advantageMask: 'on' });

  await chapter(page, 'Advantage');
  await press(page, 'Show the rollout that stood out');
  expect((await read(page)).selection.channel).toBe('advantage');

  await chapter(page, 'The clip');
  await press(page, 'Clip at ±0.02, one update');
  await expect
    .poll(async () => (await read(page)).metrics['actor/pg_clipfrac'] ?? 0, { timeout: 30_000 })
    .toBeGreaterThan(0);
  expect((await read(page)).applied).toMatchObject({ clipLow: 0.02, clipHigh: 0.02 });
  await press(page, 'Undo');
  expect((await read(page)).config).toMatchObject({ clipLow: 0.2, clipHigh: 0.2 });

  await chapter(page, 'The critic');
  await press(page, 'Start PPO with a critic');
  // the comparison of masks has a critic of its own
  await expect.poll(async () => (await read(page)).applied?.critic, { timeout: 30_000 }).toBe('shared');
  expect((await read(page)).applied).toMatchObject({ backend: 'cpu', seed: 7, estimator: 'gae' });
  expect(problems).toEqual([]);
  await page.context().close();
});

test('SHOULD-32: seven stops, each over when it was done; the third only when Run is pressed', async () => {
  const { page } = await visit(browser, { hash: `#/lab?${SMALL}&updates=100000` });
  const tour = page.getByTestId('tour');
  const at = (stop: number) => tour.getByText(`Stop ${stop} of 7`).waitFor();
  await page.locator('.token').first().waitFor();
  await page.keyboard.press('t');
  await at(1);
  await page.locator('.token[data-kind="observation"]').first().click();
  await at(2);
  await page.keyboard.press('3');
  await at(3);
  // nothing but Run goes on from here: not a token, not a channel, not the step of the recording
  await page.keyboard.press('2');
  await page.locator('.token').nth(2).click();
  await page.waitForTimeout(300);
  await at(3);
  await press(page, 'Run training');
  await at(4);
  await expect.poll(async () => (await read(page)).update, { timeout: 30_000 }).toBeGreaterThan(3);
  await at(4);
  await press(page, 'Pause');
  await at(5);
  await page.getByLabel('Update shown').fill('1');
  await at(6);
  await page.getByRole('switch', { name: /Loss mask/ }).click();
  await at(6); // by itself it only dilutes
  await page.getByRole('switch', { name: /Advantage mask/ }).click();
  await at(7);
  await page.getByRole('link', { name: 'Group' }).first().click();
  await tour.getByText('That was the round').waitFor();
  await page.context().close();
});

test('SHOULD-32: Esc ends the tour, focus goes back to where it came from, and it is not offered on the next load', async () => {
  const { page } = await visit(browser, { hash: `#/lab?${SMALL}` });
  const offer = page.getByRole('button', { name: 'Take the tour' });
  await offer.focus();
  await page.keyboard.press('Enter');
  await page.getByTestId('tour').waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('data-testid'))).toBe('tour');
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByTestId('tour').count()).toBe(0);
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Take the tour');
  await page.reload();
  await page.getByTestId('replay').waitFor();
  expect(await page.getByTestId('tour').count()).toBe(0);
  expect(await offer.count()).toBe(0);
  await page.context().close();
});

test.each([
  ['light', 'desktop'],
  ['dark', 'desktop'],
  ['light', 'phone'],
  ['dark', 'phone'],
] as const)(
  'axe finds nothing serious on Learn and the tour: %s, %s; a phone has 44 px and no sideways',
  async (colorScheme, device) => {
    const phone = device === 'phone' ? { viewport: PHONE, hasTouch: true } : {};
    const { page } = await visit(browser, { hash: `#/learn?${SMALL}`, colorScheme, ...phone });
    await chapter(page, 'The action mask');
    await press(page, 'Turn both masks off, one update');
    await page.getByTestId('chapter').getByRole('status').waitFor();
    if (device === 'phone') await press(page, 'Close inspector');
    await press(page, 'Take the tour');
    await page.getByTestId('tour').waitFor();
    expect(await axe(page)).toEqual([]);
    if (device === 'phone') {
      expect(await tooSmall(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
      expect(await page.locator('.learn').evaluate((e) => e.scrollWidth - e.clientWidth)).toBeLessThanOrEqual(0);
    }
    await page.context().close();
  },
);
