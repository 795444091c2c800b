import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, inject, onTestFinished, test, type TestContext } from 'vitest';
import { openFirefox } from './firefox.ts';
import { drawn, mainJob } from './mainJob.ts';
import { MissingProgramError, run, type Tab } from './tab.ts';
import { openWebKit } from './webkit.ts';

const SIZE = { width: 1440, height: 900 };
const PICTURES = path.join(import.meta.dirname, '../../test-results/browsers');

/** A tab of a browser that ends with the test; the test is skipped, with the reason, where the program is missing. */
async function opened(open: (size: typeof SIZE) => Promise<Tab>, { skip }: TestContext): Promise<Tab> {
  const tab = await open(SIZE).catch((error: unknown) => {
    if (error instanceof MissingProgramError) return skip(error.message);
    throw error;
  });
  onTestFinished(() => tab.close());
  console.log(tab.browser);
  return tab;
}

/** Leaves pictures to look at in test-results/browsers. */
const pictures = (tab: Tab, name: string) => async (stage: string) => {
  mkdirSync(PICTURES, { recursive: true });
  writeFileSync(path.join(PICTURES, `${name}-${stage}.png`), await tab.picture());
};

describe.each([
  ['Firefox', openFirefox],
  ['WebKitGTK', openWebKit],
] as const)('%s', (name, open) => {
  test('trains ten updates on the CPU, steps, resumes after a reload, opens a file and talks', async (context) => {
    const tab = await opened(open, context);
    await mainJob(tab, inject('baseURL'), 'cpu', pictures(tab, name));
  });

  test('draws what tells tokens apart, and nothing is scrolled sideways', async (context) => {
    const tab = await opened(open, context);
    await tab.open(`${inject('baseURL')}#/lab`);
    await expect
      .poll(() => run(tab, () => document.querySelectorAll('.legend [data-kind="call"]').length))
      .toBeGreaterThan(0);
    expect(await drawn(tab)).toEqual({
      textDecorationLine: 'underline',
      textDecorationStyle: 'double',
      scrollsSideways: 0,
    });
  });
});

test('Firefox does the same on its own WebGPU, where it has an adapter', async (context) => {
  const tab = await opened(openFirefox, context);
  await tab.open(inject('baseURL'));
  const adapter = await run(tab, async () => {
    if (!('gpu' in navigator)) return false;
    return (await navigator.gpu.requestAdapter().catch(() => null)) !== null;
  });
  if (!adapter) context.skip('Firefox finds no WebGPU adapter; install a Vulkan driver (Debian: mesa-vulkan-drivers)');
  await mainJob(tab, inject('baseURL'), 'gpu', pictures(tab, 'Firefox-WebGPU'));
});
