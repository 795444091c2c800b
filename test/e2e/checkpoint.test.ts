import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FILE_NAMES } from '../../src/checkpoints/checkpointFolder.ts';
import { readCheckpointFiles } from '../../src/checkpoints/read.ts';
import { checkpointFiles } from '../../src/checkpoints/write.ts';
import { filesOfZip, zipOf } from '../../src/formats/zip.ts';
import { unpackedRun } from '../../src/runs/packed.ts';
import { open, packed, to } from '../checkpoints/runs.ts';
import { tinyGguf } from '../speaking/tinyGguf.ts';
import { leaveToWeekly } from '../weekly.ts';
import { checksum, drop, type Lab, launch, pause, read, stepped, train, visitStill } from './lab.ts';

const RUN =
  '#/lab?v=1&seed=7&backend=cpu&prompts=4&groupSize=2&minibatches=2&layers=1&width=16&heads=2&kvHeads=2&ffn=16&warmStart=none&evalTasks=8';
let browser: Browser;
let lab: Lab; // one run of two updates
beforeAll(async () => {
  browser = await launch('no adapter');
  lab = await visitStill(browser, { hash: RUN });
  await stepped(lab.page, 2);
});
afterAll(() => browser.close());

/** The zip that the Runs screen hands out of the run under way. */
async function exported(page: Page): Promise<Uint8Array> {
  await page.goto(page.url().replace(/#.*/, '#/runs'));
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Run 1 as a checkpoint' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^run-1-update-\d+\.zip$/);
  return new Uint8Array(await readFile(await download.path()));
}

test('a run goes from the page to Node and back to another page, and each goes on to the same weights', async () => {
  const { page, problems } = lab;
  const zip = await exported(page);
  const read2 = readCheckpointFiles(filesOfZip('run.zip', zip));
  if (read2.kind !== 'ours') throw new Error('want a run of this project');
  expect(read2.run.update).toBe(2);

  const inNode = await open({}, read2.run);
  await to(inNode, 3);
  const run = await packed({ ...inNode, log: inNode.log });
  const back = { ...read2.run, ...run, points: read2.run.points };

  await page.goto(page.url().replace(/#.*/, '#/lab'));
  await page.getByRole('button', { name: 'Step one update' }).click();
  await page.waitForFunction(() => window.__playground?.snapshot().update === 3);
  expect(await checksum(page)).toBe(await inNode.session.parametersHash());

  const other = await visitStill(browser);
  await drop(other.page, { 'from-node.zip': zipOf(checkpointFiles({ ...back, update: 3 })) });
  const dialog = other.page.getByRole('dialog', { name: 'Import a checkpoint' });
  await dialog.getByText('3 of 150').waitFor();
  expect((await read(other.page)).session).toBe('none'); // nothing changes before it is asked for
  await dialog.getByRole('button', { name: 'Continue from update 3' }).click();
  await other.page.waitForFunction(() => window.__playground?.snapshot().session === 'ready');
  await other.page.getByRole('button', { name: 'Step one update' }).click();
  await other.page.waitForFunction(() => window.__playground?.snapshot().update === 4);
  await to(inNode, 4);
  expect(await checksum(other.page)).toBe(await inNode.session.parametersHash());
  expect(unpackedRun(read2.run).series.get('rollout/success')?.length).toBe(2);
  expect([...problems, ...other.problems]).toEqual([]);
  await other.page.context().close();
});

test('what is no checkpoint is refused with its reasons, and the run that is there stays', async () => {
  const { page, problems } = lab;
  const before = await checksum(page);
  const run = checkpointFiles(await packed(await at(1)));
  const files = new Map(run);
  files.delete(FILE_NAMES.manifest); // now it is another program's
  files.set(FILE_NAMES.config, new TextEncoder().encode('{"architectures":["GPT2LMHeadModel"],"vocab_size":-1}'));
  await drop(page, { 'gpt2.zip': zipOf(files) });
  const dialog = page.getByRole('dialog', { name: 'Import a checkpoint' });
  await dialog.getByText('gpt2.zip can’t be imported.').waitFor();
  await dialog.getByText('config.json: architectures: found GPT2LMHeadModel, expected LlamaForCausalLM').waitFor();
  await dialog.getByText('config.json: vocab_size: found -1, expected a whole number above 0.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await dialog.waitFor({ state: 'detached' });
  await drop(page, { 'bomb.zip': zipOf(new Map([['../x', new Uint8Array(9)]])) });
  await dialog.getByText('a name that leads elsewhere').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await dialog.waitFor({ state: 'detached' });
  files.set(FILE_NAMES.config, run.get(FILE_NAMES.config) ?? new Uint8Array());
  await drop(page, { 'plain.zip': zipOf(files) });
  await dialog.getByText('an external model, Llama').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(await checksum(page)).toBe(before);
  expect(problems).toEqual([]);
});

/** Keeps a worker from answering for good: one that reads a file of that name, or opens a run of that seed. */
const STUCK = `if (globalThis.WorkerGlobalScope) addEventListener('message', ({ data }) => {
  if (/^stuck/.test(data.name ?? data.task?.name) || (data.type === 'start' && data.config.seed === 13)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});`;
const workers = (page: Page, name: string) => page.workers().filter((each) => each.url().includes(`/${name}-`)).length;

test('what keeps a worker busy for good is cancelled, and what follows works: a run that opens, in the lab and on Talk, a saved run beside one that trains, a model', async (context) => {
  leaveToWeekly(
    context,
    'each worker that hangs ended below the page (ui/client, ui/rollouts, ui/modelsWatch, ui/examine)',
  );
  const hash = '#/lab?v=1&prompts=4&groupSize=4&evalTasks=16&backend=cpu&updates=100000&seed=13';
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

  await drop(page, { 'stuck.zip': new TextEncoder().encode('PK\u0003\u0004 and nothing more') });
  const dialog = page.getByRole('dialog', { name: 'Import a checkpoint' });
  await dialog.getByText('Reading stuck.zip').waitFor();
  await expect.poll(() => workers(page, 'worker')).toBe(2);
  const { update } = await read(page);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => workers(page, 'worker')).toBe(1);
  await page.waitForFunction((n) => (window.__playground?.snapshot().update ?? 0) > n, update);
  await pause(page);
  await drop(page, { 'broken.zip': new TextEncoder().encode('PK\u0003\u0004 and nothing more') });
  await dialog.getByRole('alert').getByText('broken.zip').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();

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

/** The run of a test, at an update. */
async function at(update: number) {
  const running = await open({ maxTurns: 4 });
  await to(running, update);
  return running;
}
