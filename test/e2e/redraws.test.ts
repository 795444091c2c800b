import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allTurnsDrawn, launch, read, settled, train, visitStill } from './lab.ts';
import { leaveToWeekly } from '../weekly.ts';

// Whether the page stays quick is measured by `npm run bench -- page`. What makes it quick is counted here, which no other work changes.

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

interface Drawn {
  readonly most: number; // elements that one task touched at most
  readonly tasks: number;
  readonly outside: number; // drawings of anything but charts and their numbers: tasks less than a frame apart are one
  readonly charts: Readonly<Record<string, number>>; // tasks by chart
  readonly ms: number; // in which it was counted
}

/** Begins to count the elements that each task adds, removes from view or changes. */
const countDrawn = (page: Page) =>
  page.evaluate(() => {
    const FRAME_MS = 16;
    const none = () => ({ most: 0, tasks: 0, outside: 0, charts: {}, since: performance.now() });
    const drawn: { most: number; tasks: number; outside: number; charts: Record<string, number>; since: number } =
      none();
    let lastOutside = -Infinity;
    const size = (node: Node) => (node instanceof Element ? 1 + node.querySelectorAll('*').length : 1);
    const within = (node: Node, what: string) =>
      (node instanceof Element ? node : node.parentElement)?.closest(what) ?? null;
    new MutationObserver((records) => {
      const added = records.flatMap(({ addedNodes }) => [...addedNodes]).reduce((sum, node) => sum + size(node), 0);
      const changed = new Set(records.map(({ target }) => target)).size;
      drawn.most = Math.max(drawn.most, added + changed);
      drawn.tasks++;
      const all = [...document.querySelectorAll('.chart .plot')];
      for (const plot of new Set(records.map(({ target }) => within(target, '.chart .plot'))))
        if (plot) drawn.charts[all.indexOf(plot)] = (drawn.charts[all.indexOf(plot)] ?? 0) + 1;
      if (records.every(({ target }) => within(target, '.chart')) || performance.now() < lastOutside + FRAME_MS) return;
      drawn.outside++;
      lastOutside = performance.now();
    }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
    Object.assign(window, { drawn, drawnNone: none });
  });

/** What was counted since the last call. */
const drawnSince = (page: Page): Promise<Drawn> =>
  page.evaluate(() => {
    const { drawn, drawnNone } = window as unknown as {
      drawn: Omit<Drawn, 'ms'> & { since: number };
      drawnNone: () => object;
    };
    const { since, ...counted } = drawn;
    Object.assign(drawn, drawnNone());
    return { ...counted, ms: drawn.since - since };
  });

/** Resolves once two frames in a row have drawn nothing. */
const rested = (page: Page) =>
  page.evaluate(async () => {
    const { drawn } = window as unknown as { drawn: { tasks: number } };
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
    for (let still = 0, before = -1; still < 2; before = drawn.tasks) {
      still = drawn.tasks === before ? still + 1 : 0;
      await frame();
    }
  });

test('of 64 rollouts of 1,000 tokens, choosing a token touches a few elements, another channel one turn at a time, another rollout its own tokens', async (current) => {
  leaveToWeekly(current, 'what is drawn while a run trains, and turn by turn (browser/turnByTurn)');
  const { page, problems } = await visitStill(browser, {
    worker: 'fake',
    hash: '#/lab?v=1&seed=64000&updates=1000&language=text&env=calculator',
  });
  await page.getByRole('button', { name: 'Run training' }).click();
  await page.waitForFunction(() => (window.__playground?.snapshot().update ?? 0) >= 2);
  await page.keyboard.press(' ');
  await page.getByRole('button', { name: 'Run training' }).waitFor();
  await settled(async () => (await read(page)).update); // what was on its way has come
  expect((await read(page)).batch).toMatchObject({ rows: 64 });
  await page.locator('.trajectory .token').nth(500).waitFor({ state: 'attached' });
  await allTurnsDrawn(page);
  const tokens = await page.locator('.trajectory .token').count();
  const turn = await page
    .locator('.trajectory .turn')
    .evaluateAll((turns) => Math.max(...turns.map((one) => one.querySelectorAll('*').length)));

  await page.locator('.trajectory .token').nth(3).click(); // the inspector has loaded what it shows
  await page.getByTestId('inspector').waitFor();
  await settled(() => page.getByTestId('inspector').innerHTML());
  await countDrawn(page);
  const most: Record<string, number> = {};
  const doing = async (name: string, act: () => Promise<unknown>) => {
    await rested(page);
    await drawnSince(page);
    for (let n = 0; n < 4; n++) {
      await act();
      await rested(page);
    }
    most[name] = (await drawnSince(page)).most;
  };
  await doing('next token', () => page.keyboard.press('ArrowRight'));
  const channels = page.locator('.channels button');
  let channel = 0;
  await doing('channel', () => channels.nth(1 + (channel++ % 3)).click());
  await doing('rollout', () => page.keyboard.press('j'));
  // two tokens and what the inspector says: 21 elements
  expect(most['next token']).toBeLessThan(60);
  // one turn with its legend, 492 elements where the longest turn has 344; all turns have some 2,000
  expect(most['channel']).toBeLessThan(2 * turn);
  // a rollout in place of another: some three elements a token
  expect(most['rollout']).toBeLessThan(4 * tokens);
  expect(most['rollout']).toBeGreaterThan(tokens); // and they are counted
  expect(problems).toEqual([]);
  await page.context().close();
});

test('MUST-21: while it trains the page draws at most fifteen times a second, each chart four times, and less than a thousand elements at once', async () => {
  // sixteen updates a second
  const { page, problems } = await visitStill(browser, { worker: 'fake', hash: '#/lab?v=1&updates=100000' });
  await train(page, 3);
  await expect.poll(() => page.locator('.chart:has(.line-chart .smooth)').count()).toBe(6);
  await countDrawn(page);
  const { update } = await read(page);
  // a rate is told by several seconds
  await page.waitForFunction(
    ([updates, milliseconds]) => {
      const { drawn } = window as unknown as { drawn: { since: number } };
      const past = performance.now() - drawn.since;
      return (window.__playground?.snapshot().update ?? 0) >= updates && past >= milliseconds;
    },
    [update + 20, 5000] as const,
  );
  const { outside, charts, most, ms } = await drawnSince(page);
  expect(outside).toBeGreaterThan(0);
  expect(outside / (ms / 1000)).toBeLessThan(15); // ten times a second, and sentences that come more seldom
  expect(Object.keys(charts)).toHaveLength(6);
  // four times a second in one task each, and one that the five seconds begin or end with
  expect(Math.max(...Object.values(charts)) / (ms / 1000)).toBeLessThan(4 + 1);
  expect(most).toBeLessThan(1000); // six charts and the rollout in view: 450
  expect(problems).toEqual([]);
  await page.context().close();
});

test('10,000 updates and 64 kept batches: after the first 2,000 memory grows by no more than the curves take', async (current) => {
  leaveToWeekly(current, 'what is kept of long runs, counted in Node (history)');
  const { page } = await visitStill(browser, { worker: 'fake', hash: '#/lab?v=1&seed=10000&updates=10000' });
  const session = await page.context().newCDPSession(page);
  const used = async () => {
    for (let again = 0; again < 3; again++) await session.send('HeapProfiler.collectGarbage');
    const usage = (await session.send('Runtime.getHeapUsage')) as { usedSize: number; backingStorageSize?: number };
    return (usage.usedSize + (usage.backingStorageSize ?? 0)) / 2 ** 20;
  };
  const reach = (n: number) =>
    page.waitForFunction((want) => (window.__playground?.snapshot().points['rollout/success'] ?? 0) >= want, n, {
      timeout: 300_000,
      polling: 250,
    });
  await page.getByRole('button', { name: 'Run training' }).click();
  await reach(2000);
  const early = await used();
  await reach(10_000);
  await page.waitForFunction(() => window.__playground?.snapshot().finished);
  const late = await used();
  expect((await read(page)).kept.updates).toHaveLength(64);
  // 12 bytes a point are kept for CSV, in arrays that double: 8,000 updates of 24 metrics are 2.2 MiB, at most twice that
  expect(late - early).toBeLessThan(8);
  expect(late).toBeLessThan(60); // 37 MiB of page, batches and curves
  await page.context().close();
});
