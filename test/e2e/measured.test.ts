import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { launch, read, train, unfold, visit } from './lab.ts';
import { busy, least, longestTask, noted, rounded, watch } from './watched.ts';

const RUN = '#/lab?v=1&prompts=4&groupSize=4&evalTasks=16&backend=cpu&updates=100000';
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

test('MUST-21: while the CPU trains for 30 s no task is longer than 200 ms, and 95 of 100 moves of a slider are painted within 100 ms', async () => {
  const { page, problems } = await visit(browser, { hash: RUN });
  await train(page, 2);
  await unfold(page, 'Optimizer');
  const slider = page.getByRole('slider', { name: /Gradient clip/ }).first();
  await slider.focus();
  await watch(page);
  const before = (await read(page)).update;
  const [tasks, paints]: [number[], number[]] = [[], []];
  // Times are by the clock, so other work on the machine lengthens them: of three stretches of 10 s the calmest counts.
  await browser.startTracing(page, {
    categories: ['disabled-by-default-devtools.timeline', '__metadata'],
  });
  for (let stretch = 0; stretch < 3; stretch++) {
    for (let end = Date.now() + 10_000, n = 0; Date.now() < end; n++) {
      await page.keyboard.press(n % 8 < 4 ? 'ArrowRight' : 'ArrowLeft');
      await page.waitForTimeout(100);
    }
    const { task, paint, inputs } = await noted(page);
    expect(inputs).toBeGreaterThan(5);
    tasks.push(task);
    paints.push(paint);
  }
  const processor = longestTask(await browser.stopTracing());
  const updates = (await read(page)).update - before;
  console.log(
    `30 s of CPU training, ${updates} updates: longest task ${processor.toFixed(0)} ms of processor time, by the clock ${rounded(tasks)} ms, input to paint (95 %) ${rounded(paints)} ms`,
  );
  expect(updates).toBeGreaterThan(20);
  if (!busy) {
    expect(processor).toBeLessThan(200);
    expect(least(tasks)).toBeLessThan(200);
    expect(least(paints)).toBeLessThan(100);
  }
  expect(problems).toEqual([]);
  await page.context().close();
});

test('the first paint with content comes within 1.5 s, and the recording can be read within 2 s of asking for the page', async () => {
  const paints: number[] = [];
  const readable: number[] = [];
  for (let i = 0; i < 3; i++) {
    const context = await browser.newContext({ serviceWorkers: 'block' });
    const page = await context.newPage();
    const began = performance.now();
    await page.goto(inject('baseURL'), { waitUntil: 'commit' });
    await page.locator('.token[data-kind="observation"]').first().waitFor();
    readable.push(performance.now() - began);
    paints.push(
      await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity),
    );
    await context.close();
  }
  console.log(`first contentful paint ${rounded(paints)} ms, readable after ${rounded(readable)} ms`);
  if (!busy) {
    expect(least(paints)).toBeLessThan(1500);
    expect(least(readable)).toBeLessThan(2000);
  }
});

test('10,000 updates and 64 kept batches: memory stays flat, choosing a rollout is painted within 100 ms, and on six charts the crosshair, zooming and moving within 50 ms, 95 of 100', async () => {
  const { page, problems } = await visit(browser, { worker: 'fake', hash: '#/lab?v=1&seed=10000&updates=10000' });
  const session = await page.context().newCDPSession(page);
  const used = async () => {
    await session.send('HeapProfiler.collectGarbage');
    const usage = (await session.send('Runtime.getHeapUsage')) as { usedSize: number; backingStorageSize?: number };
    return (usage.usedSize + (usage.backingStorageSize ?? 0)) / 2 ** 20;
  };
  const reach = (n: number) =>
    page.waitForFunction((want) => (window.__playground?.snapshot().points['rollout/success'] ?? 0) >= want, n, {
      timeout: 120_000,
      polling: 250,
    });
  await page.getByRole('button', { name: 'Run training' }).click();
  await reach(2000);
  const early = await used();
  const { kept } = await read(page);
  await reach(10_000);
  await page.waitForTimeout(1500);
  const late = await used();
  expect(kept.updates).toHaveLength(64);
  expect((await read(page)).kept.updates).toHaveLength(64);
  await watch(page);
  const paints: number[] = [];
  for (let stretch = 0; stretch < 3; stretch++) {
    for (let n = 0; n < 20; n++) {
      await page.locator('body').press('j');
      await page.waitForTimeout(60);
    }
    paints.push((await noted(page)).paint);
  }
  console.log(
    `heap and buffers after 2,000 updates ${early.toFixed(1)} MiB, after 10,000 ${late.toFixed(1)} MiB; input to paint (95 %) ${rounded(paints)} ms`,
  );
  // 12 bytes a point are kept for CSV, in arrays that double: 8,000 updates of 24 metrics are 2.2 MiB, at most twice that
  expect(late - early).toBeLessThan(8);
  if (!busy) expect(least(paints)).toBeLessThan(100);

  await page.waitForTimeout(1500); // every chart has had its turn
  const box = await page.locator('.plot').nth(2).boundingBox();
  if (!box) throw new Error('there is no chart');
  const [left, y] = [box.x + 0.3 * box.width, box.y + 50];
  const wide = 0.4 * box.width; // right of it there may be no update yet
  const acts = {
    'the crosshair': (n: number) => page.mouse.move(left + (wide * (n % 30)) / 30, y),
    'the wheel': (n: number) => page.mouse.wheel(0, n % 30 < 15 ? -120 : 90),
    'the wheel, sideways': (n: number) => page.mouse.wheel(n % 30 < 15 ? 40 : -40, 0),
  };
  await page.mouse.move(left + wide / 2, y);
  await watch(page, ['pointermove', 'wheel']);
  for (const [name, act] of Object.entries(acts)) {
    const moves: number[] = [];
    for (let stretch = 0; stretch < 3; stretch++) {
      for (let n = 0; n < 30; n++) {
        await act(n);
        await page.waitForTimeout(30);
      }
      const { paint, inputs } = await noted(page);
      expect(inputs).toBeGreaterThan(20);
      moves.push(paint);
    }
    console.log(`10,000 updates, six charts: ${name} to paint (95 %) ${rounded(moves)} ms`);
    // Times are by the clock, so other work on the machine lengthens them: of three stretches the calmest counts.
    if (!busy) expect(least(moves)).toBeLessThan(50);
    expect(await page.locator('.chart-over [data-at]').count()).toBe(6);
  }
  expect(await page.getByRole('button', { name: 'Show all' }).count()).toBe(1);
  expect(problems).toEqual([]);
  await page.context().close();
}, 240_000);
