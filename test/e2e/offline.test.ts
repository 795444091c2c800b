import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium, type Browser } from 'playwright';
import { build, preview, type InlineConfig, type Plugin, type PreviewServer } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchOptions } from '../../scripts/browser.mjs';
import { offline } from '../../tools/pwa-plugin.ts';

// The service worker over a page of its own: offline the last build runs, online the newest one is seen at once.
let root = '';
let browser: Browser;
let server: PreviewServer | undefined;
let away = false;
/** While it is away the server hangs up on everybody. It keeps its port, which others could take meanwhile. */
const hangsUp: Plugin = {
  name: 'hangs up',
  configurePreviewServer: ({ middlewares }) => {
    middlewares.use(({ socket }, _response, next) => (away ? socket.destroy() : next()));
  },
};

beforeAll(async () => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'offline-')));
  mkdirSync(path.join(root, 'public'));
  writeFileSync(path.join(root, 'public', 'weights.txt'), 'weights');
  writeFileSync(path.join(root, 'index.html'), '<!doctype html><p></p><script type="module" src="./main.js"></script>');
  browser = await chromium.launch(launchOptions());
});
afterAll(async () => {
  await browser.close();
  await server?.close();
  rmSync(root, { recursive: true, force: true });
});

async function publish(text: string): Promise<void> {
  const lines = [
    `document.querySelector('p').textContent = ${JSON.stringify(text)};`,
    `import('./later.js').then((later) => (document.title = later.title));`,
    `navigator.serviceWorker.register('./sw.js');`,
  ];
  writeFileSync(path.join(root, 'main.js'), lines.join('\n'));
  writeFileSync(path.join(root, 'later.js'), `export const title = ${JSON.stringify(`late ${text}`)};`);
  const config: InlineConfig = { root, configFile: false, base: './', logLevel: 'warn' };
  await build({ ...config, plugins: [offline({ name: 'offline', themeColor: '#000', icon: './icon.svg' })] });
  server ??= await preview({ ...config, plugins: [hangsUp], preview: { host: '127.0.0.1', port: 0 } });
}

test('offline the last build runs, online a new build is seen at once', async () => {
  await publish('first');
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000); // a busy machine
  const shown = () => page.textContent('p');
  await page.goto(server?.resolvedUrls?.local[0] ?? '');
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(false);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.reload(); // now under the worker
  await expect.poll(shown).toBe('first');
  // the server sends no headers: the worker adds those that let threads share memory
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);

  away = true;
  await page.reload();
  await expect.poll(shown).toBe('first');
  await expect.poll(() => page.title()).toBe('late first');
  expect(await page.evaluate(() => fetch('./weights.txt').then((response) => response.text()))).toBe('weights');
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);

  await publish('second');
  away = false;
  await page.reload();
  await expect.poll(shown).toBe('second');
  await expect.poll(() => page.title()).toBe('late second');
});
