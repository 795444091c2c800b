import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tinyGguf } from '../speaking/tinyGguf.ts';
import { drop, launch, read, train, visitStill } from './lab.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

const REJECTS = '() => Promise.reject(new Error("The platform is blocklisted"))';
const THROWS = '() => { throw new TypeError("not a function"); }';
const NEVER = '() => new Promise(() => undefined)';
/** An adapter whose device is asked for so; browsers of 2023 have no `info`. */
const adapter = (requestDevice: string, info = '{ vendor: "v" }') =>
  `async () => ({ features: new Set(), limits: {}, info: ${info}, requestDevice: ${requestDevice} })`;

/** What `requestAdapter` does, and the reason that the page gives for the CPU. */
const UNUSABLE = [
  ['requestAdapter rejects', REJECTS, 'WebGPU refused the adapter: The platform is blocklisted.'],
  ['requestAdapter throws', THROWS, 'WebGPU refused the adapter: not a function.'],
  ['requestAdapter never settles', NEVER, 'WebGPU gave no adapter within 5 seconds.'],
  ['requestDevice rejects', adapter(REJECTS), 'WebGPU refused the device: The platform is blocklisted.'],
  ['requestDevice never settles', adapter(NEVER), 'WebGPU gave no device within 5 seconds.'],
  ['the adapter has no info, and requestDevice throws', adapter(THROWS, 'undefined'), 'the device: not a function.'],
] as const;

test.each(UNUSABLE)('where %s, Talk, the lab and Models use the CPU and say why', async (_, requestAdapter, reason) => {
  const { page, problems } = await visitStill(browser, {
    hash: '#/talk?v=1&prompts=4&groupSize=4&evalTasks=16&seed=7',
    // the same object each time, as in a browser: who did not answer once is not waited for again
    everywhere: `{ const gpu = { requestAdapter: ${requestAdapter}, getPreferredCanvasFormat: () => 'bgra8unorm' };
        Object.defineProperty((globalThis.WorkerNavigator ?? globalThis.Navigator).prototype, 'gpu', { get: () => gpu }); }`,
  });
  await page.getByRole('button', { name: 'Load the agent' }).click();
  await page.getByRole('button', { name: 'Ask the agent' }).click();
  await page.getByRole('article', { name: 'Before training' }).waitFor();
  const backend = page.getByTestId('backend');
  await expect.poll(() => backend.textContent()).toMatch(/^CPU/);
  await expect.poll(() => backend.getAttribute('title')).toContain(reason);

  await page.getByRole('link', { name: 'Lab', exact: true }).first().click();
  await train(page, 1);
  expect((await read(page)).backend).toMatchObject({ kind: 'cpu' });

  await drop(page, { 'tiny.gguf': tinyGguf() });
  await page.getByTestId('no-gpu').getByText(reason).waitFor();
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await page.getByText('Open on WebAssembly SIMD').waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});
