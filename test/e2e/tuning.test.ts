import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readHash } from '../../src/page/address/hash.ts';
import { launch, read, toScreen, train, visitStill } from './lab.ts';

// the least of everything: what takes time is compiling, in software
const TINY =
  '#/lab?v=1&backend=gpu&env=bandit&prompts=2&groupSize=2&minibatches=1&layers=1&width=8&heads=1&kvHeads=1&ffn=8&critic=none&evalTasks=4&evalEvery=0&miEvery=0&warmStart=none&updates=100000';
const SLOW_MS = 240_000; // to compile all kernels in software, on a busy machine
let browser: Browser;
beforeAll(async () => {
  browser = await launch('adapter');
});
afterAll(() => browser.close());

/** How many tunings this browser keeps. */
function kept(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const request = indexedDB.open('rollout-playground-kernels', 1);
        request.onupgradeneeded = () => request.result.createObjectStore('tunings');
        request.onerror = () => resolve(0);
        request.onsuccess = () => {
          const database = request.result;
          const count = database.transaction('tunings').objectStore('tunings').count();
          count.onsuccess = () => {
            database.close();
            resolve(count.result);
          };
        };
      }),
  );
}

/** The knobs of an address. */
const knobs = (address: string | null) => readHash(address?.slice(address.indexOf('#')) ?? '').config;

test('kernels measured while a run goes on are taken by the next start, and the profile says why', async () => {
  const { page, problems } = await visitStill(browser, { hash: TINY });
  await train(page, 2, SLOW_MS);
  expect((await read(page)).backend?.kernels).toMatchObject({ why: 'default', tried: [] });
  const began = Date.now();
  await expect.poll(() => kept(page), { timeout: SLOW_MS, interval: 500 }).toBe(1);
  console.log(`tuned after ${Date.now() - began} ms`);
  await page.getByRole('button', { name: 'Reset' }).click();
  await expect.poll(async () => (await read(page)).backend?.kernels?.why, { timeout: SLOW_MS }).toBe('measured');
  const { backend } = await read(page);
  // both have a row; whether both are timed before the time for it is over depends on the machine
  expect(backend?.kernels?.tried.length).toBe(2);
  expect(backend?.kernels?.tried.map((row) => row.set)).toContain(backend?.kernels?.choice);
  await page.getByTestId('backend').getByRole('link').click();
  const panel = page.getByTestId('choice');
  await panel.getByRole('table').waitFor();
  await expect.poll(() => panel.getByText('taken').count()).toBe(1);
  await expect.poll(() => panel.textContent()).toContain('earlier run');
  // auto may take others another time: those it took are named where the run is shared and where it is taken away
  const took = backend?.kernels?.choice ?? '';
  await page.keyboard.press('s');
  const dialog = page.getByRole('dialog', { name: 'Share' });
  const shared = async () => knobs(await dialog.getByLabel('Link').inputValue());
  await expect.poll(async () => (await shared()).kernels).toBe('auto');
  await dialog.getByLabel(`kernels=${took}`).check();
  await expect.poll(shared).toMatchObject({ backend: 'gpu', kernels: took });
  await page.keyboard.press('Escape');
  await toScreen(page, 'runs');
  const first = page.getByRole('article', { name: 'Run 1' }).getByRole('link', { name: 'kernels=plain' });
  await expect
    .poll(async () => knobs(await first.getAttribute('href')))
    .toMatchObject({ backend: 'gpu', kernels: 'plain' });
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Run 1 as JSONL' }).click(),
  ]);
  const [head = ''] = (await readFile(await download.path(), 'utf8')).split('\n');
  const file = JSON.parse(head) as { address: string; sameKernels: string };
  expect([file.address, file.sameKernels].map((address) => knobs(address).kernels)).toEqual(['auto', 'plain']);
  expect(problems).toEqual([]);
  await page.context().close();
});
