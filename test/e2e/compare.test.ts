import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { filesOfZip } from '../../src/formats/zip.ts';
import { checksum, launch, read, settled, stepped, toScreen, visitStill } from './lab.ts';

const RUN =
  '#/lab?v=1&seed=7&prompts=2&groupSize=4&evalTasks=8&evalEvery=0&backend=cpu&updates=1000&warmStart=none&layers=1&width=16&heads=2&kvHeads=2&ffn=16';
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

test('a run of the lab is downloaded as a folder for an engine and forked; SHOULD-27: a fork begins twice with the same weights and draws, differs in the flipped knob, shares the fork point and ends at the same update; the run stays', async () => {
  const { page, problems } = await visitStill(browser, { hash: RUN });
  await stepped(page, 2);
  await toScreen(page, 'runs');
  await page.getByRole('button', { name: 'Export run 1 for a cluster' }).click();
  const dialog = page.getByRole('dialog', { name: 'Run 1 for a cluster' });
  const groupSize = dialog.getByRole('row', { name: /Group size/ });
  await groupSize.getByText('actor_rollout_ref.rollout.n=4').waitFor();
  await dialog.getByRole('button', { name: 'TRL' }).click();
  await groupSize.getByText('num_generations=4').waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Download zip' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('run-1-for-trl.zip');
  expect([...filesOfZip('zip', await readFile(await download.path())).keys()]).toEqual(
    expect.arrayContaining([
      'README.md',
      'train_trl.py',
      'train.jsonl',
      'model/model.safetensors',
      'machine/environment.js',
      'machine/quickjs.wasm',
    ]),
  );
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  await toScreen(page, 'lab');
  await page.locator('body').press('x');
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('fork-knob');
  await page.getByLabel('Knob to change').selectOption('learningRate');
  await page.getByLabel('Value in B').fill('0.0005');
  await page.getByRole('spinbutton', { name: 'Updates' }).fill('5');
  await page.getByRole('button', { name: 'Fork', exact: true }).click();
  const comparison = page.getByTestId('comparison');
  await comparison.locator('.comparison-verdict').waitFor({ timeout: 300_000 }); // on a busy machine
  const { update, running } = await read(page);
  expect({ update, running }).toEqual({ update: 2, running: false });
  const weights = await checksum(page);
  // both began with the very weights that the run still has
  await expect
    .poll(() => page.getByTestId('comparison-start').textContent())
    .toMatch(new RegExp(`update 2 .*${weights}.* seed 7\\b`));
  await expect
    .poll(() => page.getByTestId('different-knobs').locator('tbody tr').allInnerTexts())
    .toEqual([expect.stringMatching(/^Learning rate η\s+0.002\s+5e-4$/)]);
  const updates = page.getByTestId('results').getByRole('row', { name: /^Updates/ });
  await expect.poll(() => updates.innerText()).toMatch(/^Updates\s+7\s+7$/);
  const lines = () =>
    page
      .locator('.overlay .run-line:is([data-run="2"], [data-run="3"])')
      .evaluateAll((paths) => paths.map((path) => path.getAttribute('d') ?? ''));
  const [two = '', three = ''] = await settled(lines);
  expect(two.split('L')[0]).toMatch(/^M[\d.]+[ ,][\d.]+$/);
  expect(three.split('L')[0]).toBe(two.split('L')[0]);
  expect(three).not.toBe(two);
  await comparison.getByText(/From update 2 to 7: A .* solves \d+ % of its rollouts, B .* \d+ %/).waitFor();

  // the run goes on as if nothing had been
  await page.getByRole('button', { name: 'Step one update' }).click();
  await expect.poll(async () => (await read(page)).update).toBe(3);
  await expect.poll(() => page.getByRole('article', { name: /^Run/ }).count()).toBe(2);
  await page.getByRole('button', { name: 'Undo: delete these runs' }).click();
  await expect.poll(() => page.getByRole('article', { name: /^Run/ }).count()).toBe(0);
  // the run that was forked stands among all
  await toScreen(page, 'runs');
  await expect.poll(() => page.getByRole('article', { name: /^Run/ }).count()).toBe(1);
  expect(problems).toEqual([]);
  await page.context().close();
});

const TINY = '#/experiments?experiment=rollout-shaping&seeds=1&updates=2&backend=cpu&arms=responses-8,turns-2';
const EIGHT = '8 responses × 16 prompts';
const TWO = '2 turns';
const RUN_MS = 240_000; // on a slow shared machine
const state = (page: Page, arm: string) =>
  page.getByRole('region', { name: 'Runs' }).getByRole('row', { name: arm }).getByRole('cell');

test('the lab keeps its knobs and its keys while an experiment is open; a queue runs, survives a reload in the middle, and ends in a table that is copied as it stands', async () => {
  const { page, problems } = await visitStill(browser, { hash: '#/lab?v=1&learningRate=0.003' });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('body').press('e');
  await page.getByRole('heading', { name: 'What it learns' }).waitFor();
  await page.waitForFunction(() => location.hash === '#/experiments?experiment=learning');
  await page.locator('body').press('Space'); // which starts the lab's run elsewhere
  const { config, running, session } = await read(page);
  expect([config.learningRate, running, session]).toEqual([0.003, false, 'none']);
  await page.goBack();
  await page.waitForFunction(() => /^#\/lab\?v=2&.*learningRate=0\.003/.test(location.hash));

  await page.goto(inject('baseURL') + TINY);
  await page.getByText(/^2 runs, 4 updates\b/).waitFor();
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

test('an experiment of one’s own: two values × two seeds × one update, a table with a difference, a link that opens it elsewhere', async () => {
  const { page, problems } = await visitStill(browser, { hash: RUN });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('body').press('e');
  await page.getByRole('button', { name: 'Make your own' }).click();
  const values = page.getByLabel('Values');
  await values.fill('0.001, x');
  await values.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'arms[1].set.learningRate: x isn’t a number' }).waitFor();
  await values.fill('0.001, 0.01');
  await values.press('Enter');
  await page.getByRole('spinbutton', { name: 'Seeds' }).fill('2');
  await page.getByRole('spinbutton', { name: 'Updates in a run' }).fill('1');
  await page.getByText(/^4 runs, 4 updates\b/).waitFor();
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByText('4 of 4 done').waitFor({ timeout: RUN_MS });
  const row = page.getByRole('region', { name: 'Results' }).getByRole('row', { name: 'Learning rate η 0.01' }).last();
  await expect.poll(() => row.innerText()).toMatch(/[+−]?0\.\d{3}.*compared with Learning rate η 0\.001/s);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByText('Copied.').waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link.length).toBeLessThan(1000);

  await page.evaluate(() => localStorage.removeItem('rollout-playground-experiments')); // as in another browser
  await page.goto(link);
  await page.reload();
  await page.getByText('0 of 4 done').waitFor();
  await expect.poll(() => page.getByLabel('Values').inputValue()).toBe('0.001, 0.01');
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('heading', { name: 'What it learns' }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('heading', { name: 'Learning rate η' }).waitFor();

  // the runs that come with the page stand in for those of a changed copy, too
  await page.getByRole('radio', { name: /^Preferences/ }).click();
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  await page.getByRole('spinbutton', { name: 'Seeds' }).fill('3');
  await page.getByText('6 of 6 done').waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});
