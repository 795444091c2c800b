import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { launch, loaded, toScreen, visitStill } from './lab.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

const HASH = '#/environment';
const check = (page: Page) => page.getByTestId('check');
const verdict = (page: Page) => check(page).getByTestId('verdict');
/** The names of what the page and its workers have asked for since, from a sign on. */
function asked(page: Page, sign: RegExp): () => readonly string[] {
  const names: string[] = [];
  page.on('request', (request) => {
    const [name = ''] = /[^/]*$/.exec(request.url()) ?? [];
    if (sign.test(name)) names.push(name.replace(/-[\w-]{8}\./, '.'));
  });
  return () => names;
}
/** What this browser keeps for the page: names alone. */
const kept = (page: Page) =>
  page.evaluate(async () => ({
    local: Object.keys(localStorage).toSorted(),
    databases: (await indexedDB.databases()).map(({ name }) => name).toSorted(),
    caches: (await caches.keys()).toSorted(),
  }));

test('Python is chosen, loaded at the press of Check and not before, checked, and trained on', async () => {
  const { page, problems } = await visitStill(browser, { hash: HASH });
  const brought = asked(page, /^(python|pyodide)/);
  await page.getByRole('combobox', { name: 'Language' }).selectOption('python');
  const editor = page.getByRole('textbox', { name: 'Environment, as Python' });
  await expect.poll(() => editor.innerText()).toContain('class HiddenWord:');
  await expect.poll(() => page.getByTestId('reading').innerText()).toContain('HiddenWord has one tool: guess');
  expect(await page.getByTestId('python-note').innerText()).toContain('6 MB');
  expect(brought()).toEqual([]);
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  await verdict(page).waitFor({ timeout: 300_000 });
  expect(await verdict(page).getAttribute('data-faults')).toBe('0');
  expect(new Set(brought())).toEqual(new Set(['python.js', 'pyodide.js', 'pyodide.asm.wasm', 'python_stdlib.zip']));
  expect(await check(page).locator('[data-player=expert] .number').innerText()).toBe('1.00');
  await page.getByRole('button', { name: 'Train on it' }).click();
  // its episodes are played by Python in the worker that trains
  await page.getByText(/Imitating demonstrations, step \d+ of \d+/).waitFor({ timeout: 300_000 });
  expect(problems).toEqual([]);
  await page.context().close();
});

/** The page on a host that sends no policy for its workers: only what Python's worker gave up protects then. Also whatever else is asked of it. */
async function plainHost(): Promise<{ readonly server: Server; readonly address: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    if (request.url?.includes('attempt-')) asked.push(request.url);
    void fetch(new URL(request.url ?? '/', inject('baseURL'))).then(async ({ status, headers, body }) => {
      const kept = [...headers].filter(([name]) => /^(content-type|cross-origin-.*)$/.test(name));
      response.writeHead(status, Object.fromEntries(kept));
      response.end(Buffer.from(await new Response(body).arrayBuffer()));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked };
}

test('a hostile file in Python reaches no server and no storage, and the page goes on', async () => {
  const { server, address, asked: reached } = await plainHost();
  const context = await browser.newContext({ serviceWorkers: 'block', reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(address + HASH, { timeout: 60_000 });
  await loaded(page);
  const { port } = new URL(address);
  const source = (await readFile('test/written/pythonAttempts.py', 'utf8')).replace('PORT', port);
  await page
    .locator('.environment input[type="file"]')
    .setInputFiles({ name: 'attempts.py', mimeType: 'text/x-python', buffer: Buffer.from(source) });
  await expect.poll(() => page.getByTestId('reading').innerText()).toContain('Attempts has one tool: look');
  const before = await kept(page);
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  await verdict(page).waitFor({ timeout: 300_000 });
  const findings = await page.getByRole('list', { name: 'What was found' }).innerText();
  expect(findings).toContain('Python was ended'); // all attempts before the last two were made
  expect(findings).not.toContain('REACHED');
  expect(reached).toEqual([]);
  expect(await kept(page)).toEqual(before);
  await toScreen(page, 'runs');
  await context.close();
  server.close();
});
