import { appendFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Locator, Page } from 'playwright';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { servePage } from '../../scripts/page-server.mjs';
import { leaveToWeekly } from '../weekly.ts';
import { allTurnsDrawn, launch, openUsed, read, settled, train, visitStill } from './lab.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

const lines = (page: Page) => page.getByRole('listbox', { name: /^Rollouts/ }).getByRole('option');

test('a sample opens: listed, filtered, searched, one looked at, its group, two steps side by side, and back', async () => {
  const { page, problems } = await visitStill(browser, { hash: '#/rollouts' });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText(/40 .*recording-rollouts\.jsonl/).waitFor();
  await page.getByRole('button', { name: 'Look at a sample' }).click();
  await page.getByText('40 of 40').waitFor();
  const record = page.getByTestId('record');
  await record.getByRole('heading', { name: '1-0' }).waitFor();
  await page.getByText('Filter', { exact: true }).click();
  await page.locator('.filter-fields select').selectOption('solved');
  await page.getByLabel('step from').fill('60');
  await page.getByText('9 of 40').waitFor();
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByRole('searchbox').fill('<obs> higher');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByText('31 of 40').waitFor();
  await page.getByRole('button', { name: 'by reward' }).click();
  await lines(page).nth(1).click();
  const chosen = await settled(() => record.getByRole('heading', { level: 2 }).textContent());
  await page.getByRole('listbox', { name: /^Rollouts/ }).press('ArrowDown');
  await expect.poll(() => record.getByRole('heading', { level: 2 }).textContent()).not.toBe(chosen);
  await record.getByRole('button', { name: 'Adv.' }).click();
  await record.locator('.token').first().waitFor();
  await page.getByRole('button', { name: 'Its group' }).click();
  await expect.poll(() => page.getByTestId('group-look').locator('article.record').count()).toBe(8);
  await page.getByRole('button', { name: 'Two steps' }).click();
  await page
    .getByRole('region', { name: 'Step 160' })
    .getByText(/^mean reward/)
    .waitFor();
  await expect.poll(() => page.url()).toContain('look=steps');
  await page.goBack();
  await page.getByTestId('group-look').waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('files of verl dropped on the lab open on their own screen, guessed roles and absent numbers said to be so', async () => {
  const { page, problems } = await visitStill(browser);
  const text = await readFile('test/fixtures/rollouts/verl-v1/2.jsonl', 'utf8');
  await page.evaluate((content) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([`${content}{"input": "cut`], '2.jsonl'));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  }, text);
  await page.getByText('Not in this file: token ids, masks, log-probabilities').waitFor();
  await page.getByText(/1 line could not be read/).click();
  await page.getByText('2.jsonl, line 4').waitFor();
  await page.getByText('guessed', { exact: true }).click();
  await lines(page).nth(1).click();
  await expect.poll(() => page.getByTestId('record').locator('[data-kind="call"]').count()).toBe(1);
  await page.getByLabel('tags of calls').fill('nothing');
  await page.getByRole('button', { name: 'Apply' }).click();
  const record = page.getByTestId('record');
  const calls = () =>
    Promise.all([record.getByText('Nabokov wrote it').count(), record.locator('[data-kind="call"]').count()]);
  await expect.poll(calls).toEqual([1, 0]); // the same rollout, split otherwise
  expect(problems).toEqual([]);
  await page.context().close();
});

const CHANNELS = ['Mask', 'Adv.', 'Push', 'Entropy', 'KL', 'Value', 'Reward'];
const RUN = '#/lab?v=1&seed=3&prompts=2&groupSize=4&updates=2&backend=cpu&estimator=gae&critic=shared&klCoef=0.1';

/** All that tells tokens apart under each channel that needs no weights: words, kinds, masks, numbers, colours. */
async function looks(
  within: Locator,
  drawn: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Readonly<Record<string, readonly string[]>>> {
  const found: Record<string, readonly string[]> = {};
  for (const channel of CHANNELS) {
    const button = within.getByRole('group', { name: 'Channel' }).getByRole('button', { name: channel, exact: true });
    await button.click();
    await expect.poll(() => button.getAttribute('aria-pressed')).toBe('true');
    await drawn();
    found[channel] = await within.locator('.token').evaluateAll((all) =>
      all.map((token) => {
        const { kind, tag, loss, clipped, ramp, na, sign } = token.dataset;
        return [token.textContent, kind, tag, loss, clipped, ramp, na, sign, token.style.cssText].join(' ');
      }),
    );
  }
  return found;
}

test('files that were named on the command line open by themselves, and their token leaves the address', async () => {
  const place = path.resolve('test/fixtures/rollouts/verl-v1/2.jsonl');
  const watched = { token: 'abc', files: [{ path: 'step/2.jsonl', place }] };
  const server = await servePage(inject('site'), { host: '127.0.0.1', port: 0, watched });
  const { port } = server.address() as AddressInfo;
  const { page } = await openUsed(browser, { reducedMotion: 'reduce' });
  await page.goto(`http://127.0.0.1:${port}/?open=abc`);
  await page.getByText('Not in this file: token ids, masks, log-probabilities').waitFor();
  expect(page.url()).toBe(`http://127.0.0.1:${port}/#/rollouts`);
  await page.context().close();
  server.closeAllConnections();
  server.close();
});

test('Try this here: a rollout of a search opens the lab with that task and the settings of its config.yaml', async () => {
  const { page, problems } = await visitStill(browser, { hash: '#/rollouts' });
  await page.evaluate(() => {
    const dataTransfer = new DataTransfer();
    const line = { input: 'user\nWho wrote it?\nassistant\n', output: '<search>it</search>', score: 1, step: 3 };
    const yaml =
      'algorithm: {adv_estimator: rloo}\nactor_rollout_ref: {actor: {optim: {lr: 1.0e-6}}, rollout: {n: 5}}\n';
    dataTransfer.items.add(new File([JSON.stringify(line)], '3.jsonl'));
    dataTransfer.items.add(new File([yaml], 'config.yaml'));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  });
  await page.getByRole('button', { name: 'Try this here' }).click();
  await page.getByText(/It has 2 settings of config\.yaml/).waitFor();
  await expect.poll(() => page.url()).toMatch(/#\/lab.*env=multi-hop/);
  expect(page.url()).toMatch(/estimator=rloo/);
  expect(page.url()).toMatch(/groupSize=5/);
  expect(problems).toEqual([]);
});

test('a step that a job writes into a watched folder appears; the rollout in view, the selection and the place in the list stay', async () => {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), 'watched-')), 'run');
  const watched = { token: 'abc', folder };
  const server = await servePage(inject('site'), { host: '127.0.0.1', port: 0, watched });
  const { port } = server.address() as AddressInfo;
  const page = await browser.newPage({ serviceWorkers: 'block' });
  await page.goto(`http://127.0.0.1:${port}/?watch=abc`);
  const line = page.getByLabel('Watched folder');
  await line.getByText('The folder isn’t there').waitFor();
  mkdirSync(folder);
  const step = (at: number, rollouts: number) =>
    Array.from(
      { length: rollouts },
      (_, i) => `${JSON.stringify({ input: `q${at}-${i}`, output: 'a', score: i, step: at })}\n`,
    ).join('');
  writeFileSync(path.join(folder, 'all.jsonl'), step(1, 100));
  await page.getByText('100 of 100').waitFor();
  await page.getByRole('button', { name: 'by reward' }).click();
  await lines(page).filter({ hasText: 'q1-97' }).click();
  const list = page.getByRole('listbox', { name: /^Rollouts/ });
  await list.evaluate((box) => box.scrollTo({ top: 28 * 40 }));
  const top = () => list.evaluate((box) => box.querySelector('[aria-posinset]') && Math.round(box.scrollTop / 28));
  await expect.poll(top).toBe(40);
  appendFileSync(path.join(folder, 'all.jsonl'), step(2, 100)); // half of them are above what is in view
  await page.getByText('200 of 200').waitFor();
  await line.getByText('step 2').waitFor();
  await expect.poll(top).toBe(80);
  await page.getByTestId('record').getByText('q1-97').waitFor();
  await line.getByRole('button', { name: 'Pause' }).click();
  appendFileSync(path.join(folder, 'all.jsonl'), step(3, 10));
  await line.getByRole('button', { name: 'Go on' }).click();
  await page.getByText('210 of 210').waitFor();
  // the job's log of metrics becomes one run, which grows; the command starts again, and the page goes on by itself
  const entry = (at: number) => `step:${at} - critic/score/mean:0.5 - timing_s/gen:${at}\n`;
  writeFileSync(path.join(folder, 'job.log'), `Loading\n${entry(1)}`);
  await line.getByText('Its log, as curves').click();
  await page.getByText('Also in the log, under its own names: 1').waitFor(); // all of the screen's code is there
  server.closeAllConnections();
  server.close();
  appendFileSync(path.join(folder, 'job.log'), entry(2) + entry(3));
  const again = await servePage(inject('site'), { host: '127.0.0.1', port, watched });
  await page.getByText('3 updates · log of verl, knobs unknown').waitFor();
  await page.getByText('Also in the log, under its own names: 1').click();
  await page.getByRole('button', { name: 'timing_s/gen' }).click();
  await page.getByRole('img', { name: /^timing_s\/gen\. Run #1: from 1 to/ }).waitFor();
  await page.reload();
  await page.getByText('Draw run 1').waitFor({ state: 'attached' }); // on the screen that was in view
  await page.evaluate(() => location.assign('#/rollouts'));
  await line.getByText('Its log, as curves').waitFor();
  expect(await page.evaluate(() => Object.keys(localStorage).filter((key) => /-run-\d/.test(key)))).toHaveLength(1);
  await page.close();
  again.closeAllConnections();
  again.close();
});

test('a rollout of a run, opened again from its file, looks as in the lab: the same channels, masks, numbers and colours', async (current) => {
  leaveToWeekly(current, 'the spans and channels of both (ui/sameSpans, ui/tokenAdapters)');
  const { page, problems } = await visitStill(browser, { hash: RUN });
  await train(page, 2);
  await page.waitForFunction(() => window.__playground?.snapshot().finished);
  const update = 2;
  await expect.poll(async () => (await read(page)).batch.update).toBe(update);
  await allTurnsDrawn(page);
  const lab = page.getByTestId('trajectory');
  const inLab = await looks(lab, () => allTurnsDrawn(page));
  const names = () => page.getByRole('group', { name: 'Channel' }).getByRole('button').allTextContents();
  const channels = await names();
  const spans = (of: Locator) =>
    of.locator('.span').evaluateAll((all) => all.map((span) => `${span.dataset['kind']} ${span.textContent}`));
  const inTurns = await spans(lab);
  expect(new Set(inLab['Adv.']).size).toBeGreaterThan(3);
  await page.evaluate(() => location.assign('#/rollouts'));
  await page.getByRole('button', { name: 'Open here' }).click();
  await page.getByText('16 of 16').waitFor();
  await page.getByText('Filter', { exact: true }).click();
  await page.getByLabel('step from').fill(String(update));
  await page.getByText('8 of 16').waitFor();
  await lines(page).first().click();
  const record = page.getByTestId('record');
  await record.getByRole('heading', { name: `${update}-0` }).waitFor();
  expect(await names()).toEqual(channels);
  await expect.poll(() => looks(record)).toEqual(inLab); // colours once the rest of the batch has been read
  expect(await spans(record)).toEqual(inTurns);
  await record.getByRole('button', { name: 'Ratio' }).click();
  await record
    .getByText(/^Not in this file/)
    .first()
    .waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});
