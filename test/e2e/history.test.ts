import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checksum, launch, numberIn, PHONE, read, settled, stepped, train, visitStill } from './lab.ts';

const RUN = '#/lab?v=1&prompts=4&groupSize=4&evalTasks=16&backend=cpu&seed=7&updates=100000';
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
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

test('WOW-37: scrubbing to any kept update while training runs shows that update, and live returns to the newest', async () => {
  const { page, problems } = await visitStill(browser, { hash: RUN });
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
  await page.context().close();
});

test('MUST-4: a step of a turn adds one turn, of an optimizer step changes the weights once, of an update is one more update', async () => {
  const { page, problems } = await visitStill(browser, { hash: `${RUN}&minibatches=2&epochs=1` });
  await stepped(page, 2);
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
    sums.push(await settled(() => checksum(page)));
  }
  expect(new Set(sums).size).toBe(5);
  // two optimizer steps are an update, and the last of them brings its numbers
  await expect.poll(async () => (await read(page)).update).toBe(update + 2);
  await scale.selectOption('update');
  await page.locator('body').press('.');
  await page.waitForFunction((n) => window.__playground?.snapshot().update === n, update + 3);
  expect(await settled(async () => (await read(page)).update)).toBe(update + 3);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('MUST-9: the address holds what is looked at; opened elsewhere it brings screen, rollout, turn, token and channel, and the update once it is trained', async () => {
  const { page } = await visitStill(browser, { hash: RUN });
  await stepped(page, 4);
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
  await page.context().close();

  const { page: other } = await visitStill(browser, { hash: url.slice(url.indexOf('#')) });
  await other.getByTestId('shared').waitFor();
  const chosen = async () => (await read(other)).selection;
  await expect.poll(chosen).toEqual({ shownUpdate: 2, row: 2, turn: 1, token: 3, channel: 'advantage' });
  await other.getByRole('link', { name: 'Lab' }).click();
  await train(other, 3);
  await other.getByRole('button', { name: 'held at update 2' }).waitFor();
  await expect.poll(() => words(other)).toEqual(then); // the same seed: the same rollout
  await expect.poll(chosen).toMatchObject({ row: 2, turn: 1, token: 3 });
  await other.context().close();
});

test('on a phone the way back to the newest batch and the slider’s last update stand apart', async () => {
  const { page } = await visitStill(browser, { hash: RUN, viewport: PHONE });
  await stepped(page, 12);
  await scrub(page, 9);
  const held = page.getByRole('button', { name: 'held at update 10' });
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
  await page.context().close();
});

test('Back undoes a screen and a choice, not a knob', async () => {
  const { page } = await visitStill(browser, { hash: RUN, worker: 'fake' });
  await page.getByRole('button', { name: /^Rollout 2:/ }).click();
  await expect.poll(() => page.url()).toContain('rollout=1');
  // choices within a second are one entry of the history
  const now = await page.evaluate(() => performance.now());
  await page.waitForFunction((then) => performance.now() > then + 1000, now);
  await page.getByRole('button', { name: /^Rollout 5:/ }).click();
  await expect.poll(() => page.url()).toContain('rollout=4');
  await page.getByRole('switch', { name: /Loss mask/ }).click();
  await expect.poll(() => page.url()).toContain('lossMask=');
  await page.getByRole('link', { name: 'Group' }).click();
  await page.getByTestId('shared').waitFor();
  await page.goBack();
  await page.getByTestId('trajectory').waitFor();
  await expect.poll(async () => (await read(page)).selection.row).toBe(4);
  await page.goBack();
  await expect.poll(async () => (await read(page)).selection.row).toBe(1);
  expect((await read(page)).config.lossMask).toBe('off');
  await expect.poll(() => page.url()).toContain('lossMask=off');
  await page.goForward();
  await expect.poll(async () => (await read(page)).selection.row).toBe(4);
  await page.context().close();
});

test('MUST-14: displayed advantages are (r − mean) / (std + ε) of the displayed rewards, and what the trainer used', async () => {
  const { page } = await visitStill(browser, { hash: `${RUN}&processReward=0.5&groupSize=8` });
  await stepped(page, 2);
  await page.getByRole('link', { name: 'Group' }).click();
  await page.getByTestId('shared').waitFor();
  await page.getByText('/ (standard deviation + ε)').waitFor();
  await expect.poll(() => page.getByTestId('group-advantage').count()).toBe(8);
  const rewards = (await page.getByTestId('group-score').allTextContents()).map(numberIn);
  const advantages = (await page.getByTestId('group-advantage').allTextContents()).map(numberIn);
  const mean = rewards.reduce((a, b) => a + b, 0) / rewards.length;
  const std = Math.sqrt(rewards.reduce((a, r) => a + (r - mean) ** 2, 0) / (rewards.length - 1));
  expect(rewards).toHaveLength(8);
  advantages.forEach((a, i) => expect(Math.abs(a - ((rewards[i] ?? 0) - mean) / (std + 1e-6))).toBeLessThan(1e-3));
  expect(advantages).toHaveLength(8);
  // on a small laptop all eight are in sight
  await page.setViewportSize({ width: 1280, height: 720 });
  const status = (await page.locator('.status').boundingBox())?.y ?? 0;
  const lowest = () =>
    page.locator('.group-table tbody tr').evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().bottom));
  await expect.poll(async () => Math.max(...(await lowest()))).toBeLessThan(status);
  expect(await page.locator('.group-table').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(
    0,
  );
  await page.context().close();
});

test('MUST-14: a group without spread says that it teaches nothing, and why', async () => {
  const { page } = await visitStill(browser, { hash: `${RUN}&topK=1&updates=1` });
  await train(page, 1);
  await page.getByRole('link', { name: 'Group' }).first().click();
  await page.getByTestId('flat-group').getByText('teaches nothing').waitFor();
  await page.getByText(/All 4 .*identical/).waitFor();
  const advantages = page.getByTestId('group-advantage');
  await expect.poll(() => advantages.allTextContents()).toEqual(['0', '0', '0', '0']);
  await page.context().close();
});
