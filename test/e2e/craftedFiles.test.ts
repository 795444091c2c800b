import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CRAFTED } from '../speaking/crafted.ts';
import { tinyGguf } from '../speaking/tinyGguf.ts';
import { drop, launch, loaded, read, train, visitStill } from './lab.ts';

let browser: Browser;
let files: string;
beforeAll(async () => {
  browser = await launch('no adapter');
  files = await mkdtemp(path.join(tmpdir(), 'rollout-playground-crafted-'));
});
afterAll(async () => {
  await browser.close();
  await rm(files, { recursive: true, force: true });
});

/** Writes a crafted model to disk; its folder. */
async function written(kind: string): Promise<string> {
  const folder = path.join(files, kind.replace(/\W+/g, '-'));
  for (const { path: name, source } of CRAFTED[kind]!()) {
    const file = path.join(folder, path.basename(name));
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, await source.read(0, source.size));
  }
  return folder;
}

// all kinds, with their processor time and memory: test/speaking/crafted.test.ts
test('models made to keep a reader busy are opened or refused on Models, one after the other', async () => {
  const { page, problems } = await visitStill(browser, { hash: '#/models' });
  const over = page.locator('.models-side .model-memory, [role="alert"]').first();
  for (const kind of [
    'nested ranges',
    'a macro that calls itself twice',
    'the pattern (?:a|a)+b',
    'a header of 90 MB',
    'a header of a hundred thousand tensors',
    'two million merges',
  ]) {
    const folder = await written(kind);
    const began = performance.now();
    await page.getByLabel('A checkpoint’s folder').setInputFiles(folder);
    await over.waitFor();
    await page.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' });
    console.log(`${kind}: ${(performance.now() - began).toFixed(0)} ms`);
    await page.reload(); // what was shown of this one must not stand for the next
    await loaded(page);
  }
  expect(problems).toEqual([]);
  await page.context().close();
});

/** Keeps a worker busy for good: one that reads a file of that name, or opens a run of that seed. */
const STUCK = `if (globalThis.WorkerGlobalScope) addEventListener('message', ({ data }) => {
  if (/^stuck/.test(data.name ?? data.task?.name) || (data.type === 'start' && data.config.seed === 13)) for (;;);
});`;
const workers = (page: Page, name: string) => page.workers().filter((each) => each.url().includes(`/${name}-`)).length;

test('a file that keeps its reader busy for good is cancelled on Models, and the next one is read', async () => {
  const { page, problems } = await visitStill(browser, { everywhere: STUCK });
  await drop(page, { 'stuck.gguf': tinyGguf() });
  await page.getByText(/^Reading .*stuck\.gguf/).waitFor();
  await expect.poll(() => workers(page, 'speaker')).toBe(1);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('alert').getByText('stuck.gguf').waitFor();
  await expect.poll(() => workers(page, 'speaker')).toBe(0);
  await drop(page, { 'tiny.gguf': tinyGguf() });
  await page.getByRole('button', { name: 'Open', exact: true }).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a saved run that keeps its reader busy for good is cancelled, and the run that trains has not noticed', async () => {
  const hash = '#/lab?v=1&prompts=4&groupSize=4&evalTasks=16&backend=cpu&updates=100000';
  const { page, problems } = await visitStill(browser, { hash, everywhere: STUCK });
  await train(page, 1);
  await drop(page, { 'stuck.zip': new TextEncoder().encode('PK\u0003\u0004 and nothing more') });
  const dialog = page.getByRole('dialog', { name: 'Import a checkpoint' });
  await dialog.getByText('Reading stuck.zip').waitFor();
  await expect.poll(() => workers(page, 'worker')).toBe(2);
  const { update } = await read(page);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => workers(page, 'worker')).toBe(1);
  await page.waitForFunction((n) => (window.__playground?.snapshot().update ?? 0) > n, update);
  await drop(page, { 'broken.zip': new TextEncoder().encode('PK\u0003\u0004 and nothing more') });
  await dialog.getByRole('alert').getByText('broken.zip').waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a run that keeps its worker busy for good while it opens is cancelled, in the lab and on Talk, and another one trains', async () => {
  const hash = '#/lab?v=1&prompts=4&groupSize=4&evalTasks=16&backend=cpu&seed=13';
  const { page, problems } = await visitStill(browser, { hash, everywhere: STUCK });
  const cancelled = async () => {
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => workers(page, 'worker')).toBe(0);
    await expect.poll(() => read(page)).toMatchObject({ session: 'none', running: false, problem: null });
  };
  await page.getByRole('button', { name: 'Run training' }).click();
  await cancelled();
  await page.goto(page.url().replace('#/lab', '#/talk'));
  await page.getByRole('button', { name: 'Load the agent' }).click();
  await cancelled();
  await page.getByRole('button', { name: 'Load the agent' }).waitFor();
  await page.goto(page.url().replace(/#.*/, hash.replace('seed=13', 'seed=7')));
  await train(page, 1);
  expect(problems).toEqual([]);
  await page.context().close();
});
