import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { axe, DEVICES, launch, visitStill } from './lab.ts';

const TINY = '#/experiments?experiment=rollout-shaping&seeds=1&updates=3&backend=cpu&arms=responses-8,turns-2';
const RUN_MS = 240_000; // on a slow shared machine
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

type Options = Parameters<typeof visitStill>[1];

/** The experiments screen at an address, in a fresh context. */
async function open(hash: string, options: Options = {}) {
  const { page, problems } = await visitStill(browser, options);
  await page.goto(inject('baseURL') + hash);
  await page.getByRole('form', { name: 'Experiment' }).waitFor();
  return { page, problems };
}

const state = (page: Page, arm: string) =>
  page.getByRole('region', { name: 'Runs' }).getByRole('row', { name: arm }).getByRole('cell');
const EIGHT = '8 responses × 16 prompts';
const TWO = '2 turns';

test('a queue runs, survives a reload in the middle, and ends in a table that is copied as it stands', async () => {
  const { page, problems } = await open(TINY.replace('updates=3', 'updates=20'));
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByText(/^2 runs, 40 updates\b/).waitFor();
  await page.getByRole('button', { name: 'Start' }).click();
  // in its middle, however late the test is: by the page itself, as soon as the second run is under way
  await page.evaluate((arm) => {
    const rows = () => [...document.querySelectorAll('tr:has(progress, [role="progressbar"])')];
    const look = () => {
      if (rows().some((row) => row.textContent.includes(arm))) location.reload();
      else setTimeout(look, 20);
    };
    look();
  }, TWO);
  await page.getByText(/^Resumed\. turns-2, seed 1\b/).waitFor({ timeout: RUN_MS });
  await expect.poll(() => state(page, EIGHT).textContent()).toContain('done');
  await state(page, TWO).getByText('done').waitFor({ timeout: RUN_MS });
  await page.getByText('2 of 2 done').waitFor();
  await page.getByRole('button', { name: 'Start' }).waitFor(); // nothing is left to pause
  await expect.poll(() => page.getByRole('button', { name: 'Pause' }).count()).toBe(0);

  await page.getByRole('button', { name: 'Copy Markdown' }).click();
  await page.getByText('Copied.').waitFor();
  const markdown = await page.evaluate(() => navigator.clipboard.readText());
  for (const arm of [EIGHT, TWO]) {
    const row = page.getByRole('region', { name: 'Results' }).getByRole('row', { name: arm, exact: false }).first();
    const [, n, before, after] = await row.getByRole('cell').allTextContents();
    expect([n, before, after].join()).toMatch(/^1,0\.\d{3},0\.\d{3}$/);
    expect(markdown).toContain(`| ${arm} | ${n} | ${before} | ${after} |`);
  }
  const header = page.getByRole('columnheader', { name: /^Published: Qwen2\.5-0\.5B-Instruct, trained on Sokoban/ });
  await expect.poll(() => header.count()).toBe(1);

  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download CSV' }).click();
  expect((await download).suggestedFilename()).toBe('rollout-shaping.csv');

  await page.getByRole('button', { name: 'Delete these results' }).click();
  await page.getByText('0 of 2 done').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('2 of 2 done').waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a paused queue stays paused over a reload; cancelling keeps what is finished', async () => {
  const { page } = await open(TINY.replace('updates=3', 'updates=60')); // long enough to be cancelled in
  await page.getByRole('button', { name: 'Start' }).click();
  await state(page, EIGHT).getByRole('progressbar').waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.reload();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  await expect.poll(() => state(page, EIGHT).textContent()).toBe('waiting');
  await page.getByRole('button', { name: 'Resume' }).click();
  await state(page, EIGHT).getByText('done').waitFor({ timeout: RUN_MS });
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText(/^Cancelled\./).waitFor();
  await expect.poll(() => state(page, TWO).textContent()).toBe('not started');
  await expect.poll(() => state(page, EIGHT).textContent()).toContain('done');
  await page.context().close();
});

test('without storage it says so and goes on', async () => {
  const { page } = await visitStill(browser);
  await page.addInitScript(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException('full', 'QuotaExceededError');
    };
  });
  await page.reload();
  await page.goto(`${inject('baseURL')}${TINY.replace('updates=3', 'updates=1').replace('responses-8,', '')}`);
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByText(/^Not saved\b.*storage/).waitFor();
  await state(page, TWO).getByText('done').waitFor({ timeout: RUN_MS });
  await page.context().close();
});

test('the lab keeps its knobs and its keys while the other screen is open, and its link is that of the experiment', async () => {
  const { page, problems } = await visitStill(browser, { hash: '#/lab?v=1&learningRate=0.003', worker: 'fake' });
  await page.locator('body').press('e');
  await page.getByRole('heading', { name: 'What it learns' }).waitFor();
  await page.waitForFunction(() => location.hash === '#/experiments?experiment=learning');
  await page.locator('body').press('Space');
  await page.getByRole('radio', { name: /^Algorithms/ }).check();
  await page.waitForFunction(() => location.hash === '#/experiments?experiment=algorithms');
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  await expect
    .poll(async () => (await page.getByRole('textbox', { name: 'Link' }).inputValue()) === page.url())
    .toBe(true);
  await page.getByRole('button', { name: 'Close' }).click();
  const { config, running, session } = await page.evaluate(() => {
    const playground = window.__playground;
    if (!playground) throw new Error('the page has no __playground');
    return playground.snapshot();
  });
  expect([config.learningRate, running, session]).toEqual([0.003, false, 'none']);
  await page.goBack();
  await page.getByRole('button', { name: 'Run training' }).waitFor();
  await page.waitForFunction(() => /^#\/lab\?v=2&.*learningRate=0\.003/.test(location.hash));
  await page.goForward();
  await page.getByRole('heading', { name: 'Algorithms' }).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a hostile address is put right and says so', async () => {
  const { page, problems } = await open('#/experiments?experiment=chess&seeds=1e9&updates=-1&arms=x');
  await page.getByText('experiment: chess isn’t one of learning').waitFor();
  await expect.poll(() => page.getByLabel('Seeds', { exact: true }).inputValue()).toBe('20');
  expect(problems).toEqual([]);
  await page.context().close();
});

test.each(DEVICES)('axe finds nothing serious, while it runs and after: %s', async (device, viewport, colorScheme) => {
  const hash = TINY.replace('updates=3', 'updates=12').replace('responses-8,', ''); // long enough to be looked at in
  const { page } = await open(hash, { viewport, colorScheme });
  const underWay = state(page, TWO).getByRole('progressbar').waitFor(); // looked for before it comes: it passes
  await Promise.all([underWay, page.getByRole('button', { name: 'Start' }).click()]);
  expect(await axe(page)).toEqual([]);
  await state(page, TWO).getByText('done').waitFor({ timeout: RUN_MS });
  expect(await axe(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(viewport.width);
  if (device === 'phone') {
    const controls = page.locator(
      'button:visible, select:visible, input[type=number]:visible, label.choice:visible, :is(.tabs, .views) a:visible, summary:visible',
    );
    const small = () =>
      controls.evaluateAll((all) =>
        all
          .map((e) => [e.textContent, e.getBoundingClientRect().height] as const)
          .filter(([, height]) => height < 43.5),
      );
    await expect.poll(small).toEqual([]);
  }
  await page.context().close();
});
