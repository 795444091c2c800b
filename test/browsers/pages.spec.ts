import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'vite';
import { beforeAll, describe, expect, inject, onTestFinished, test, type TestContext } from 'vitest';
import type { checksumOfPlays } from '../written/thousandEpisodes.ts';
import { TEMPLATES } from '../written/templates.ts';
import { openFirefox } from './firefox.ts';
import { drawn, environmentJob, mainJob } from './mainJob.ts';
import { MissingProgramError, run, type Tab, until } from './tab.ts';
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

const THOUSAND = 'thousand';
const TESTS = path.join(import.meta.dirname, '..');
beforeAll(async () => {
  // what plays a thousand tasks, as a script beside the page, so that the page's policy holds for it
  await build({
    ...{ configFile: false, publicDir: false, logLevel: 'warn' },
    build: {
      ...{ outDir: inject('site'), emptyOutDir: false },
      lib: {
        entry: path.join(TESTS, 'written/thousandEpisodes.ts'),
        ...{ formats: ['iife'], name: THOUSAND, fileName: () => `${THOUSAND}.js` },
      },
    },
  });
});

describe.each([
  ['Firefox', openFirefox],
  ['WebKitGTK', openWebKit],
] as const)('%s', (name, open) => {
  test('trains ten updates on the CPU, steps, resumes after a reload, opens a file and talks', async (context) => {
    const tab = await opened(open, context);
    await mainJob(tab, inject('baseURL'), 'cpu', pictures(tab, name));
  });

  test('plays the same thousand tasks of each template as Node', { timeout: 1_200_000 }, async (context) => {
    const tab = await opened(open, context);
    await tab.open(`${inject('baseURL')}?thousand#/learn`);
    await run(
      tab,
      (src) => document.head.append(Object.assign(document.createElement('script'), { src })),
      `${THOUSAND}.js`,
    );
    await until(tab, 'its script', 60_000, (name) => name in window, THOUSAND);
    const machine =
      readdirSync(path.join(inject('site'), 'assets')).find((name) => /^quickjs-.*wasm$/.test(name)) ?? '';
    const lines: string[] = [];
    for (const [name, source] of TEMPLATES) {
      const sum = await run(
        tab,
        async (text, wasm) => {
          const { thousand } = window as unknown as { thousand: { checksumOfPlays: typeof checksumOfPlays } };
          return thousand.checksumOfPlays(text, await (await fetch(wasm)).arrayBuffer());
        },
        ...([source, `assets/${machine}`] as const),
      );
      lines.push(`${name} ${sum}\n`);
    }
    expect(lines.join('')).toBe(readFileSync(path.join(TESTS, 'written/thousandEpisodes.txt'), 'utf8'));
  });

  test.for(['typescript', 'python'] as const)(
    'checks an environment that a person writes in %s, and trains on it',
    { timeout: 1_500_000 },
    async (language, context) => {
      const tab = await opened(open, context);
      await environmentJob(tab, inject('baseURL'), language, pictures(tab, `${name}-${language}`));
    },
  );

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
