import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { framesLater, launch, pause, read, still, train, unfold, visitStill } from './lab.ts';

// no run ends before the test is through
const SMALL = '#/lab?v=1&prompts=4&groupSize=4&evalTasks=4&updates=100000';
let gpu: Browser;
let plain: Browser;
beforeAll(async () => {
  [gpu, plain] = await Promise.all([launch('adapter'), launch('no adapter')]);
});
afterAll(() => Promise.all([gpu.close(), plain.close()]));

test('with WebGPU: Run trains on the adapter, named, and no observation token is in the loss', async () => {
  const { page, problems } = await visitStill(gpu, { hash: `${SMALL}&backend=gpu` });
  const first = await train(page, 2);
  console.log(`first update after ${first} ms`);
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Run training' }).waitFor();
  await expect.poll(() => page.getByTestId('backend').textContent()).toMatch(/WebGPU.*software GPU/);
  await still(page);
  await page
    .getByTestId('group')
    .getByText(/update \d+/)
    .waitFor();
  const { batch, backend, metrics } = await read(page);
  expect(backend?.kind).toBe('gpu');
  expect(batch).toMatchObject({ isExample: false, rows: 16, observationsTrained: 0 });
  expect(batch.trained).toBeGreaterThan(0);
  expect(metrics['rollout/logprob_mismatch']).toBeLessThan(1e-3);
  for (const label of await page
    .locator('.token[data-kind="observation"]')
    .evaluateAll((all) => all.map((e) => e.ariaLabel))) {
    expect(label).toContain('in loss: no');
  }
  expect(problems).toEqual([]);
  await page.context().close();
});

describe('a run on the CPU', () => {
  let page: Page;
  let problems: readonly string[];
  beforeAll(async () => {
    ({ page, problems } = await visitStill(plain, { hash: `${SMALL}&backend=cpu` }));
    await train(page, 2);
  });
  afterAll(() => page.context().close());
  const updates = async (further: number) => {
    const { update } = await read(page);
    await page.waitForFunction((n) => (window.__playground?.snapshot().update ?? 0) >= n, update + further);
  };

  test('a live knob acts without a restart and leaves a flag; a restart knob waits for its button', async () => {
    await unfold(page, 'Optimizer', 'Model');
    await page.getByLabel('Learning rate η', { exact: true }).fill('0.0005');
    await page.getByTestId('last-flag').getByText('Learning rate η 0.002 → 5e-4').waitFor();
    await page.waitForFunction(
      () => Math.abs((window.__playground?.snapshot().metrics['actor/lr'] ?? 0) - 0.0005) < 1e-9,
    );
    expect((await read(page)).update).toBeGreaterThan(1);
    await expect.poll(() => page.url()).toContain('learningRate=5e-4');

    await page.getByLabel('Layers', { exact: true }).fill('1');
    const restart = page.getByRole('button', { name: 'Restart to apply' });
    await restart.waitFor();
    expect((await read(page)).applied?.layers).toBe(2);
    await restart.click();
    await page.waitForFunction(() => window.__playground?.snapshot().applied?.layers === 1);
    await expect.poll(() => restart.count()).toBe(0);
    await updates(1);
  });

  // what every cell promises is counted in test/ui/masks.test.ts
  test('with the loss mask off, observation tokens enter the loss and are labelled so', async () => {
    await unfold(page, 'What the masks do');
    const cells = page.getByRole('table').getByRole('button');
    const mask = (want: string) => page.waitForFunction((is) => window.__playground?.snapshot().applied?.lossMask === is, want); // prettier-ignore
    await cells.nth(1).click();
    await mask('off');
    await updates(2);
    await pause(page);
    await still(page);
    const trained = page.locator('.token[data-kind="observation"][aria-label*="in loss: yes"]');
    // an agent that calls no tool has no observation: one of the sixteen rollouts has
    for (let rollout = 0; rollout < 16 && (await trained.count()) === 0; rollout++) {
      await page.locator('body').press('j');
      await framesLater(page, 2);
    }
    expect(await trained.count()).toBeGreaterThan(0);
    const { batch, applied } = await read(page);
    expect(applied?.advantageMask).toBe('off');
    expect(batch.observationsTrained).toBe(batch.observations);
    await cells.nth(2).click();
    await page.getByRole('button', { name: 'Run training' }).click();
    await mask('on');
  });

  test('Space pauses and the count then stands still; a step adds exactly one update; Reset goes back to 0', async () => {
    await updates(1);
    await page.locator('body').press('Space');
    await still(page);
    const paused = (await read(page)).update;
    await framesLater(page, 90);
    expect((await read(page)).update).toBe(paused);
    await page.getByRole('button', { name: 'Step one update' }).click();
    await page.waitForFunction((n) => window.__playground?.snapshot().update === n, paused + 1);
    await framesLater(page, 90);
    expect((await read(page)).update).toBe(paused + 1);
    await page.getByRole('button', { name: 'Reset' }).click();
    await page.waitForFunction(() => window.__playground?.snapshot().update === 0);
    expect(problems).toEqual([]);
  });
});

test('SHOULD-31: in a hidden tab updates go on and the title tells them; nothing of the page is drawn until it is shown again', async () => {
  const { page } = await visitStill(plain, { worker: 'fake', hash: `${SMALL}&backend=cpu` });
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
