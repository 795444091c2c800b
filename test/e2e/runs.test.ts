import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { updateLine } from '../../src/runs/log.ts';
import { launch, read, settled, toScreen, train, unfold, visitStill } from './lab.ts';

const RUN = '#/lab?v=1&seed=7&updates=100000';
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

async function runs(page: Page, updates: number): Promise<void> {
  await train(page, updates);
  await page.getByRole('button', { name: 'Pause' }).click();
}
const toRuns = (page: Page) => toScreen(page, 'runs');

/** Two runs that differ in one knob. */
async function twoRuns(page: Page): Promise<void> {
  await runs(page, 40); // longer than the second run on any machine, or the second would change the axis
  await page.getByRole('button', { name: 'Reset' }).click();
  await page.waitForFunction(() => window.__playground?.snapshot().update === 0);
  await unfold(page, 'Optimizer');
  await page.getByLabel('Learning rate η', { exact: true }).fill('0.0005');
  await page.getByRole('button', { name: 'Reset' }).click();
  await page.waitForFunction(() => window.__playground?.snapshot().applied?.learningRate === 0.0005);
  await runs(page, 6);
  await toRuns(page);
  await page.getByRole('article', { name: 'Run 2' }).waitFor();
}

describe('two runs that differ in one knob', () => {
  let page: Page;
  let problems: readonly string[];
  beforeAll(async () => {
    ({ page, problems } = await visitStill(browser, { hash: RUN, worker: 'fake' }));
    await twoRuns(page);
  });
  afterAll(() => page.context().close());

  test('SHOULD-26: of two runs that differ in one knob, the second is named by it and both values, and one row differs', async () => {
    const name = page.getByRole('article', { name: 'Run 2' }).locator('.run-name');
    await expect.poll(() => name.textContent()).toBe('Learning rate η 0.002 → 5e-4');
    await expect.poll(() => page.getByTestId('different-knobs').locator('tbody tr').count()).toBe(1);
    await expect
      .poll(() => page.getByTestId('different-knobs').locator('tbody tr').innerText())
      .toMatch(/Learning rate η\s+0.002\s+5e-4/);
    await page.getByRole('article', { name: 'Run 1' }).getByRole('button', { name: 'baseline' }).click();
    await page.getByText(/difference to run 1/).waitFor();
    await page.getByRole('article', { name: 'Run 1' }).getByRole('button', { name: 'baseline' }).click();
    expect(problems).toEqual([]);
  });

  test('SHOULD-24: the curve of a run is the same path before and after another is drawn', async () => {
    const path = () => page.locator('.overlay .run-line[data-run="1"]').getAttribute('d');
    const draw = page.getByLabel('Draw run 2');
    await draw.uncheck();
    await page.locator('.overlay .run-line[data-run="2"]').waitFor({ state: 'detached' });
    const alone = await settled(path);
    await draw.check();
    await page.locator('.overlay .run-line[data-run="2"]').waitFor();
    expect(await settled(path)).toBe(alone);
    expect(alone?.length).toBeGreaterThan(50);
    // of a run alone all curves are there, and one that is pressed is drawn large
    await draw.uncheck();
    await expect.poll(() => page.locator('.every-curve .run-line').count()).toBeGreaterThan(4);
    await page
      .locator('.every-curve')
      .getByRole('button', { name: /^Entropy/ })
      .click();
    await expect.poll(() => page.getByLabel('Metric').inputValue()).toBe('actor/entropy');
    await expect.poll(path).not.toBe(alone);
    await draw.check();
  });

  test('a deleted run comes back by Undo, with its curves; runs outlive a reload, and what is damaged in storage is put aside and told', async () => {
    const first = page.getByRole('article', { name: 'Run 1' });
    await page.getByRole('button', { name: 'Delete run 1' }).click();
    await first.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await first.waitFor();
    await page.evaluate(() => localStorage.setItem('rollout-playground-run-9', '{"id":9,"curves":'));
    await page.reload();
    await first.waitFor();
    await expect.poll(() => page.getByRole('article').count()).toBe(2);
    await page
      .getByTestId('notices')
      .getByText(/runs could not be read: 9\./)
      .waitFor();
    await page.getByTestId('notices').getByRole('button', { name: 'Dismiss' }).click();
    await page.getByLabel('Draw run 1').check();
    await page.locator('.overlay .run-line[data-run="1"]').waitFor();
    await page.getByRole('button', { name: 'Delete run 1' }).click();
    await first.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('article', { name: 'Run 2' }).waitFor();
    expect(await first.count()).toBe(0);
  });
});

test('no run yet: one sentence and one button, which trains; the recorded run stands where a run’s curves will', async () => {
  const { page } = await visitStill(browser, { hash: '#/runs', worker: 'fake' });
  await page.getByText('No runs yet.').waitFor();
  const comparison = page.getByRole('region', { name: 'Comparison' });
  await comparison.getByText('recording').waitFor();
  const curves = comparison.locator('.every-curve path.run-line');
  await expect.poll(() => curves.count()).toBe(7);
  await expect.poll(() => curves.first().getAttribute('d')).toMatch(/(L[\d.]+ [\d.]+){150}/); // a point an update
  await page.getByRole('button', { name: 'Run it' }).click();
  await page.getByRole('article', { name: 'Run 1' }).waitFor();
  await expect.poll(async () => (await read(page)).running).toBe(true);
  await expect.poll(() => comparison.getByText('recording').count()).toBe(0);
  await page.context().close();
});

describe('runs of files', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'saved-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('a saved folder and a log of the command line are chosen, drawn over each other and told apart by their knobs', async () => {
    const begun = parseConfig({ env: 'bandit', seed: 9 });
    const run = {
      name: 'A job of the night',
      started: '2026-11-23T00:00:00.000Z',
      begun,
      backend: { kind: 'cpu', adapter: '' },
    };
    const lines = Array.from({ length: 30 }, (_, i) => updateLine(i + 1, { 'rollout/success': (i + 1) / 30 })).join(
      '\n',
    );
    const job = path.join(folder, 'job');
    mkdirSync(job);
    writeFileSync(path.join(job, 'playground.json'), JSON.stringify({ run }));
    writeFileSync(path.join(job, 'metrics.jsonl'), lines);
    writeFileSync(path.join(folder, 'bad.jsonl'), 'hello\n');
    const { page, problems } = await visitStill(browser, { hash: '#/runs', worker: 'fake' });
    await page.getByLabel('Folder of runs').setInputFiles(job);
    await page.getByRole('article', { name: 'Run 1' }).getByText('A job of the night').waitFor();
    await page.locator('.overlay .run-line[data-run="1"]').waitFor();
    await page
      .getByLabel('Files of runs')
      .setInputFiles([path.join(job, 'metrics.jsonl'), path.join(folder, 'bad.jsonl')]);
    await page.getByText(/bad\.jsonl: No metrics found/).waitFor();
    await page.locator('.overlay .run-line[data-run="2"]').waitFor();
    await expect.poll(() => page.getByTestId('different-knobs').locator('tbody tr').count()).toBe(2); // environment and seed
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
