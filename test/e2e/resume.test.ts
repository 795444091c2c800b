import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checksum, finished, launch, read, stateOf, stepped, still, visitStill } from './lab.ts';

// the least of everything, as what is looked at is what comes back
const until = (updates: number) =>
  `#/lab?v=1&prompts=2&groupSize=4&layers=1&width=16&heads=2&kvHeads=2&ffn=16&warmStart=none&evalTasks=4&backend=cpu&seed=7&updates=${updates}`;
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

test('MUST-22: after a reload the run with its reward model can be resumed: update, weights and curves are back, and training goes on bit for bit', async () => {
  const knobs = '&rewardModel=on&preferenceReward=1';
  const { page, problems } = await visitStill(browser, { hash: until(6) + knobs });
  await stepped(page, 3);
  await still(page);
  await page.waitForFunction(() => window.__playground?.snapshot().saved === 3);
  const saved = await stateOf(page);
  await page.reload();
  const card = page.getByTestId('resume');
  await card.getByRole('button', { name: 'Resume update 3' }).click();
  await page.waitForFunction(() => window.__playground?.snapshot().update === 3);
  await still(page);
  expect(await stateOf(page)).toEqual(saved);
  await page.locator('.line-chart .smooth').first().waitFor();
  await finished(page, 6);
  const resumed = await stateOf(page);
  expect(resumed.checksum).not.toBe(saved.checksum);
  await page.context().close();

  const { page: other } = await visitStill(browser, { hash: until(6) + knobs });
  await finished(other, 6);
  expect(await stateOf(other)).toEqual(resumed);
  expect(problems).toEqual([]);
  await other.context().close();
});

test('MUST-5: Reset returns to update 0 and the initial weights; Undo within 8 s restores update, weights and curves', async () => {
  const { page, problems } = await visitStill(browser, { hash: until(3) });
  await stepped(page, 1);
  await page.getByRole('button', { name: 'Reset' }).click();
  await page.waitForFunction(() => window.__playground?.snapshot().update === 0);
  const initial = await checksum(page);
  await finished(page, 3);
  const before = await stateOf(page);
  await page.getByRole('button', { name: 'Reset' }).click();
  const undo = page.getByRole('status').getByRole('button', { name: 'Undo' });
  await undo.focus(); // which keeps it
  await page.waitForFunction(() => window.__playground?.snapshot().update === 0);
  await expect.poll(() => checksum(page)).toBe(initial);
  await expect.poll(async () => (await read(page)).points).toEqual({});
  await undo.click();
  await page.waitForFunction((n) => window.__playground?.snapshot().update === n, before.update);
  await still(page);
  expect(await stateOf(page)).toEqual(before);
  await expect.poll(async () => (await read(page)).kept.updates).toEqual([before.update]);
  await stepped(page, before.update + 1); // a run of fifty more may end before it is paused
  expect(await checksum(page)).not.toBe(before.checksum);
  await page.evaluate(() => {
    // an offer of 8 s is over in 1.5 s
    const usual = window.setTimeout;
    const sooner = (...[act, ms, ...given]: Parameters<typeof usual>) => usual(act, ms === 8000 ? 1500 : ms, ...given);
    Object.assign(window, { setTimeout: sooner });
  });
  await page.getByRole('button', { name: 'Reset' }).click();
  await undo.waitFor();
  await undo.waitFor({ state: 'detached' });
  expect(problems).toEqual([]);
  await page.context().close();
});
