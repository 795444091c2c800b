import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  checksum,
  DESKTOP,
  type Lab,
  launch,
  pause,
  PHONE,
  read,
  stands,
  stepped,
  still,
  toScreen,
  train,
  visitStill,
} from './lab.ts';

const RUN = '#/lab?v=1&prompts=4&groupSize=4&minibatches=2&epochs=1&evalTasks=4&backend=cpu&seed=7&updates=100000';
let browser: Browser;
/** One run of four updates for all of these, which leave its knobs as they were. */
let lab: Lab;
beforeAll(async () => {
  browser = await launch('no adapter');
  lab = await visitStill(browser, { hash: RUN });
  await stepped(lab.page, 4);
});
beforeEach(async () => {
  const { page } = lab;
  await toScreen(page, 'lab');
  for (const key of ['Escape', '1']) await page.locator('body').press(key);
});
afterAll(() => browser.close());

const shown = (page: Page) =>
  page
    .getByTestId('group')
    .getByText(/^update \d+$/)
    .textContent();
const words = (page: Page) => page.getByTestId('trajectory').locator('.token .word').allTextContents();
/** Scrubs to the batch at a place among those kept, and says which it is: while a run goes on, old ones thin out. */
async function holdAt(page: Page, place: number): Promise<number> {
  let wanted: number | undefined;
  await expect
    .poll(async () => {
      wanted = (await read(page)).kept.updates[place];
      await scrub(page, place);
      return (await read(page)).selection.shownUpdate === wanted;
    })
    .toBe(true);
  return wanted ?? -1;
}
const scrub = (page: Page, to: number) => page.getByLabel('Update shown').fill(String(to));

test('MUST-9: the address holds what is looked at; opened elsewhere it brings screen, rollout, turn, token and channel, and the update once it is trained', async () => {
  const { page } = lab;
  await scrub(page, 1);
  await page.getByRole('button', { name: 'held at update 2' }).waitFor();
  await expect.poll(async () => (await read(page)).batch.update).toBe(2);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^Rollout 3:/ }).click();
  await page.locator('[data-token="3"]').click();
  await page.locator('body').press('2');
  await expect.poll(() => page.url()).toMatch(/#\/lab\?v=2&.*update=2&rollout=2&turn=1&token=3&channel=advantage$/);
  const then = await words(page);
  await page.getByRole('link', { name: 'Group' }).click();
  await page.getByTestId('shared').waitFor();
  await expect.poll(() => page.url()).toContain('#/group?v=2');
  const url = page.url();
  await page.getByRole('button', { name: 'held at update 2' }).click();

  const { page: other } = await visitStill(browser, { hash: url.slice(url.indexOf('#')) });
  await other.getByTestId('shared').waitFor();
  const chosen = async () => (await read(other)).selection;
  await expect.poll(chosen).toEqual({ shownUpdate: 2, row: 2, turn: 1, token: 3, channel: 'advantage' });
  await other.getByRole('link', { name: 'Lab' }).click();
  // which update it shows is said, and not as if something were missing
  const plan = other.getByTestId('linked-plan');
  await plan.getByText(/\bupdate 2\b/).waitFor();
  expect(await other.getByTestId('absent').count()).toBe(0);
  await train(other, 3);
  await other.getByRole('button', { name: 'held at update 2' }).waitFor();
  await plan.waitFor({ state: 'detached' });
  await expect.poll(() => words(other)).toEqual(then); // the same seed: the same rollout
  await expect.poll(chosen).toMatchObject({ row: 2, turn: 1, token: 3 });
  await other.context().close();
});

test('MUST-4: a step of a turn adds one turn, of an optimizer step changes the weights once, of an update is one more update', async () => {
  const { page, problems } = lab;
  const turns = () => page.getByTestId('trajectory').locator('article.turn').count();
  const scale = page.getByLabel('Step scale');
  await scale.selectOption('turn');
  await page.locator('body').press('.');
  await expect.poll(turns).toBe(2); // the prompt and a turn
  await page.locator('body').press('.');
  await expect.poll(turns).toBe(3);
  await page.locator('body').press(',');
  await expect.poll(turns).toBe(2);
  await scale.selectOption('token');
  const tokens = (await words(page)).length;
  await page.locator('body').press('.');
  await expect.poll(async () => (await words(page)).length).toBe(tokens + 1);

  await scale.selectOption('optimizer');
  const { update } = await read(page);
  const sums = [await checksum(page)];
  for (let i = 0; i < 4; i++) {
    await page.locator('body').press('.');
    await page.waitForFunction(async (last) => (await window.__playground?.checksum()) !== last, sums.at(-1));
    await stands(page); // a press while the step is under way would be taken for it
    sums.push(await checksum(page));
  }
  expect(new Set(sums).size).toBe(5);
  // two optimizer steps are an update, and the last of them brings its numbers
  await expect.poll(async () => (await read(page)).update).toBe(update + 2);
  await scale.selectOption('update');
  await page.locator('body').press('.');
  await page.waitForFunction((n) => window.__playground?.snapshot().update === n, update + 3);
  await stands(page);
  await checksum(page); // all it said before has come
  expect((await read(page)).update).toBe(update + 3);
  expect(problems).toEqual([]);
});

test('on a phone the way back to the newest batch and the slider’s last update stand apart', async () => {
  const { page } = lab;
  await stepped(page, 12);
  await page.setViewportSize(PHONE);
  const { updates } = (await read(page)).kept;
  await scrub(page, updates.length - 2);
  const held = page.getByRole('button', { name: `held at update ${updates.at(-2)}` });
  await held.waitFor();
  const last = page.getByTestId('timeline').locator('.scrubber > .faint').last();
  const boxes = async () => [await last.boundingBox(), await held.boundingBox()];
  await expect
    .poll(async () => {
      const [number, button] = await boxes();
      return number && button ? button.x - (number.x + number.width) : NaN;
    })
    .toBeGreaterThanOrEqual(0);
  const button = await held.boundingBox();
  expect((button?.x ?? NaN) + (button?.width ?? NaN)).toBeLessThanOrEqual(PHONE.width);
  await held.click();
  await page.setViewportSize(DESKTOP);
});

test('WOW-37: scrubbing to any kept update while training runs shows that update, and live returns to the newest', async () => {
  const { page, problems } = lab;
  await train(page, 8);
  const seen = new Map<number, string>();
  for (const at of [0, 3, 6, 3, 0]) {
    const update = await holdAt(page, at);
    await page.getByRole('button', { name: `held at update ${update}` }).waitFor();
    await expect.poll(() => shown(page)).toBe(`update ${update}`);
    await expect.poll(async () => (await read(page)).batch.update).toBe(update);
    await page.getByTestId('audit').getByText(`update ${update}`).waitFor();
    const text = (await words(page)).join(' ');
    expect(seen.get(update) ?? text).toBe(text);
    seen.set(update, text);
  }
  expect(seen.has(1)).toBe(true); // the first, twice
  expect(new Set(seen.values()).size).toBeGreaterThan(1);
  const before = (await read(page)).update;
  await page.waitForFunction((n) => (window.__playground?.snapshot().update ?? 0) > n + 1, before);
  expect((await read(page)).batch.update).toBe(1);
  const newest = (await read(page)).kept.updates.at(-1) ?? 0;
  await page.getByRole('button', { name: /held at update/ }).click();
  // one that comes meanwhile may be shown instead
  await page.waitForFunction((n) => (window.__playground?.snapshot().batch.update ?? 0) >= n, newest);
  expect(problems).toEqual([]);
  await pause(page);
  await still(page);
});

test('Back undoes a screen and a choice, not a knob', async () => {
  const { page } = lab;
  await page.getByRole('button', { name: /^Rollout 2:/ }).click();
  await expect.poll(() => page.url()).toContain('rollout=1');
  // choices within a second are one entry of the history
  const now = await page.evaluate(() => performance.now());
  await page.waitForFunction((then) => performance.now() > then + 1000, now);
  await page.getByRole('button', { name: /^Rollout 4:/ }).click();
  await expect.poll(() => page.url()).toContain('rollout=3');
  await page.getByRole('switch', { name: /Loss mask/ }).click();
  await expect.poll(() => page.url()).toContain('lossMask=');
  await page.getByRole('link', { name: 'Group' }).click();
  await page.getByTestId('shared').waitFor();
  await page.goBack();
  await page.getByTestId('trajectory').waitFor();
  await expect.poll(async () => (await read(page)).selection.row).toBe(3);
  await page.goBack();
  await expect.poll(async () => (await read(page)).selection.row).toBe(1);
  expect((await read(page)).config.lossMask).toBe('off');
  await expect.poll(() => page.url()).toContain('lossMask=off');
  await page.goForward();
  await expect.poll(async () => (await read(page)).selection.row).toBe(3);
  await page.getByRole('switch', { name: /Loss mask/ }).click();
  await page.getByRole('button', { name: /^Rollout 1:/ }).click();
});
