import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { filesOfZip } from '../../src/formats/zip.ts';
import { axe, launch, PHONE, tooSmall, toScreen, visitStill } from './lab.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

test('the run in the lab is downloaded as a folder for an engine, with what becomes of its knobs', async () => {
  const { page, problems } = await visitStill(browser, {
    hash: '#/lab?v=1&backend=cpu&seed=7&warmStart=none&updates=1&evalTasks=8',
  });
  await page.getByRole('button', { name: 'Run training' }).click();
  await expect.poll(() => page.evaluate(() => window.__playground?.snapshot().update)).toBe(1);
  await toScreen(page, 'runs');
  await page.getByRole('button', { name: 'Export run 1 for a cluster' }).click();
  const dialog = page.getByRole('dialog', { name: 'Run 1 for a cluster' });
  await dialog
    .getByRole('row', { name: /Group size/ })
    .getByText('actor_rollout_ref.rollout.n=8')
    .waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'TRL' }).click();
  await dialog
    .getByRole('row', { name: /Group size/ })
    .getByText('num_generations=8')
    .waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Download zip' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('run-1-for-trl.zip');
  const files = filesOfZip('zip', await readFile(await download.path()));
  expect([...files.keys()]).toEqual(
    expect.arrayContaining(['README.md', 'train_trl.py', 'train.jsonl', 'model/model.safetensors']),
  );
  await page.setViewportSize(PHONE);
  await expect.poll(() => tooSmall(page)).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
});
