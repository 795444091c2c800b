import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launch, train, visitStill } from './lab.ts';

const RUN = '#/lab?v=1&prompts=4&groupSize=4&evalTasks=16&backend=cpu&updates=100000';
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

/** The reward of every update as CSV. */
async function rewards(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Enlarge or export Reward', exact: true }).click();
  const csv = page.getByRole('dialog').getByRole('button', { name: 'CSV', exact: true });
  const [download] = await Promise.all([page.waitForEvent('download'), csv.click()]);
  return readFile(await download.path(), 'utf8');
}

test('MUST-6: the same seed and address give the same rewards over five updates in two fresh contexts, another seed gives others', async () => {
  const series: string[] = [];
  for (const seed of [7, 7, 8]) {
    const { page } = await visitStill(browser, { hash: `${RUN.replace('100000', '5')}&seed=${seed}` });
    await page.getByRole('button', { name: 'Run training' }).click();
    await page.waitForFunction(() => window.__playground?.snapshot().finished, null, { timeout: 240_000 });
    series.push(await rewards(page));
    await page.context().close();
  }
  expect(series[0]?.trim().split('\r\n')).toHaveLength(6);
  expect(series[1]).toBe(series[0]);
  expect(series[2]).not.toBe(series[0]);
});

test('SHOULD-31: in a hidden tab updates go on and the title tells them; nothing of the page is drawn until it is shown again', async () => {
  const { page } = await visitStill(browser, { hash: RUN });
  await train(page, 3);
  const hide = (hidden: boolean) =>
    page.evaluate((is) => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => is });
      Object.defineProperty(document, 'visibilityState', {
        configurable: true,
        get: () => (is ? 'hidden' : 'visible'),
      });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await expect.poll(() => page.locator('.dock .chart:has(.line-chart .smooth)').count()).toBe(6);
  await hide(true);
  const count = () =>
    page.evaluate(() => ({
      title: Number(/ (\d+)\//.exec(document.title)?.[1]),
      points: window.__playground?.snapshot().points['rollout/success'] ?? 0,
      shown: window.__playground?.snapshot().update ?? 0,
      drawn: (window as unknown as { drawn?: string[] }).drawn ?? [],
    }));
  await page.evaluate(() => {
    const drawn: string[] = [];
    Object.assign(window, { drawn });
    new MutationObserver((changes) => {
      for (const { type, target, addedNodes } of changes) {
        const [added] = addedNodes;
        drawn.push(
          `${type} ${(added instanceof Element ? added : (target.parentElement ?? document.body)).outerHTML.slice(0, 200)}`,
        );
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  });
  // what was under way, chunks that were loading included, is drawn
  let [drawn, same] = [-1, 0];
  await expect
    .poll(
      async () => {
        const before = drawn;
        const now = await count();
        drawn = now.drawn.length;
        same = drawn === before && now.title > 0 ? same + 1 : 0;
        return same;
      },
      { interval: 1000 },
    )
    .toBeGreaterThanOrEqual(3);
  await page.evaluate(() => (window as unknown as { drawn: string[] }).drawn.splice(0));
  const first = await count();
  // the title is written once a second, in which a fast machine makes hundreds of updates
  await page.waitForFunction(
    ({ points, title }) =>
      (window.__playground?.snapshot().points['rollout/success'] ?? 0) > points + 10 &&
      Number(/ (\d+)\//.exec(document.title)?.[1]) > title,
    first,
  );
  const last = await count();
  expect(last.drawn).toEqual([]);
  expect(last.shown).toBe(first.shown);
  await hide(false);
  await page.waitForFunction((n) => (window.__playground?.snapshot().update ?? 0) > n, last.points - 1);
  await expect.poll(async () => (await count()).drawn.length).toBeGreaterThan(0);
  await page.context().close();
});
