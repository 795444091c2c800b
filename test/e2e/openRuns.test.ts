import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { updateLine } from '../../src/runs/log.ts';
import { launch, visitStill } from './lab.ts';

let browser: Browser;
let folder = '';
beforeAll(async () => {
  browser = await launch('no adapter');
  folder = mkdtempSync(path.join(tmpdir(), 'saved-'));
});
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

test('a saved folder and a log of the command line are chosen, drawn over each other and told apart by their knobs', async () => {
  const begun = parseConfig({ env: 'bandit', seed: 9 });
  const run = {
    name: 'A job of the night',
    started: '2026-11-23T00:00:00.000Z',
    begun,
    backend: { kind: 'cpu', adapter: '' },
  };
  const lines = Array.from({ length: 30 }, (_, i) => updateLine(i + 1, { 'rollout/success': (i + 1) / 30 })).join('\n');
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
  await page.getByText('bad.jsonl: line 1: found hello, expected a JSON object.').waitFor();
  await page.locator('.overlay .run-line[data-run="2"]').waitFor();
  await expect.poll(() => page.getByTestId('different-knobs').locator('tbody tr').count()).toBe(2); // environment and seed
  expect(problems).toEqual([]);
  await page.context().close();
});
