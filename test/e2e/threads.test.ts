import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { threadsFor } from '../../src/model/cpu/team/threads.ts';
import { tinyGguf } from '../speaking/tinyGguf.ts';
import { drop, launch, loaded, visitStill } from './lab.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

/** What the tiny model says to something long enough that its products are shared, and what it says it is open on. */
async function said(page: Page): Promise<{ readonly tokens: readonly string[]; readonly on: string }> {
  await drop(page, { 'tiny.gguf': tinyGguf() });
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await page.getByLabel('Tokens', { exact: true }).fill('24');
  await page.getByLabel('Greedy').check();
  const message = page.getByRole('textbox', { name: 'Message' });
  await message.fill('the cat sat on the mat and looked at the other cat, '.repeat(6));
  await message.press('Enter');
  await page
    .getByTestId('pace')
    .getByText(/tokens\/s/)
    .waitFor();
  const on = (await page.getByText(/^Open on WebAssembly/).textContent()) ?? '';
  return { tokens: await page.locator('.flow .token').allTextContents(), on };
}

test('the page may share memory, and a model says in how many threads it draws what one thread draws', async () => {
  const { page, problems } = await visitStill(browser, { hash: '#/models' });
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
  const threads = threadsFor(await page.evaluate(() => navigator.hardwareConcurrency));
  const shared = await said(page);
  expect(shared.on).toContain(threads > 1 ? `WebAssembly SIMD, ${threads} threads` : '1 thread (one core)');
  expect(problems).toEqual([]);
  await page.context().close();

  // a server that sends no such headers, and no service worker to add them
  const context = await browser.newContext({ serviceWorkers: 'block', reducedMotion: 'reduce' });
  const lone = await context.newPage();
  await lone.route(inject('baseURL'), async (route) => {
    const response = await route.fetch();
    const headers = Object.entries(response.headers()).filter(([name]) => name !== 'cross-origin-embedder-policy');
    await route.fulfill({ response, headers: Object.fromEntries(headers) });
  });
  await lone.goto(`${inject('baseURL')}#/models`);
  await loaded(lone);
  expect(await lone.evaluate(() => crossOriginIsolated)).toBe(false);
  const alone = await said(lone);
  expect(alone.on).toContain('WebAssembly SIMD, 1 thread (the page is not cross-origin isolated');
  expect(alone.tokens.length).toBeGreaterThan(10);
  expect(shared.tokens).toEqual(alone.tokens);
  await context.close();
});
