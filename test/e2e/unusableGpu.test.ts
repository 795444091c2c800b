import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tinyGguf } from '../speaking/tinyGguf.ts';
import { drop, launch, read, train, visitStill } from './lab.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

// all other ways in which a browser may refuse: test/noGpu.test.ts
const REASON = 'WebGPU refused the device: The platform is blocklisted.';
const ADAPTER =
  '{ features: new Set(), limits: {}, info: { vendor: "v" }, requestDevice: () => Promise.reject(new Error("The platform is blocklisted")) }';

test('where requestDevice rejects, Talk, the lab and Models use the CPU and say why', async () => {
  const { page, problems } = await visitStill(browser, {
    hash: '#/talk?v=1&prompts=4&groupSize=4&evalTasks=16&seed=7',
    // the same object each time, as in a browser
    everywhere: `{ const gpu = { requestAdapter: async () => (${ADAPTER}), getPreferredCanvasFormat: () => 'bgra8unorm' };
        Object.defineProperty((globalThis.WorkerNavigator ?? globalThis.Navigator).prototype, 'gpu', { get: () => gpu }); }`,
  });
  await page.getByRole('button', { name: 'Load the agent' }).click();
  await page.getByRole('button', { name: 'Ask the agent' }).click();
  await page.getByRole('article', { name: 'Before training' }).waitFor();
  const backend = page.getByTestId('backend');
  await expect.poll(() => backend.textContent()).toMatch(/^CPU/);
  await expect.poll(() => backend.getAttribute('title')).toContain(REASON);

  await page.getByRole('link', { name: 'Lab', exact: true }).first().click();
  await train(page, 1);
  expect((await read(page)).backend).toMatchObject({ kind: 'cpu' });

  await drop(page, { 'tiny.gguf': tinyGguf() });
  await page.getByTestId('no-gpu').getByText(REASON).waitFor();
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await page.getByText('Open on WebAssembly SIMD').waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});
