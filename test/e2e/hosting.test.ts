import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright';
import { preview, type PreviewServer } from 'vite';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { SPACE_HEADERS } from '../../scripts/space.mjs';
import { launch, PATIENCE_MS } from './lab.ts';

// The built page on hosts of files as others run them: no server of this project, no headers but theirs.
let browser: Browser;
let folder = '';
let server: PreviewServer | undefined;
beforeAll(async () => {
  browser = await launch('no adapter');
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'hosting-')));
});
afterEach(() => stop());
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

async function host(outDir: string, base: string, headers: Readonly<Record<string, string>>): Promise<string> {
  server = await preview({
    root: folder,
    configFile: false,
    logLevel: 'warn',
    base,
    build: { outDir },
    preview: { host: '127.0.0.1', port: 0, headers: { ...headers } },
  });
  const url = server.resolvedUrls?.local[0];
  if (url === undefined) throw new Error('the host has no address');
  return url;
}

async function stop(): Promise<void> {
  await server?.close();
  server = undefined;
}

/** A first visit, as somebody who has never been there. */
async function arrive(url: string, hash = '#/lab'): Promise<{ readonly page: Page; readonly problems: string[] }> {
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('requestfailed', (request) => problems.push(request.url()));
  page.on(
    'response',
    (response) => response.status() >= 400 && problems.push(`${response.status()} ${response.url()}`),
  );
  await page.goto(url + hash);
  await usable(page);
  return { page, problems };
}

const usable = (page: Page) => page.getByRole('button', { name: 'Run training' }).waitFor();
const isolated = (page: Page) => page.evaluate(() => crossOriginIsolated);

async function stepOnce(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Step one update' }).click();
  await page.waitForFunction(() => (window.__playground?.snapshot().update ?? 0) >= 1);
}

test('the built page has the licence of each package whose code is in it, of Pyodide and of QuickJS', () => {
  const site = inject('site');
  const files = readdirSync(site, { recursive: true, encoding: 'utf8' });
  const packages = new Set(
    files
      .filter((file) => file.endsWith('.map'))
      .flatMap((file) => (JSON.parse(readFileSync(path.join(site, file), 'utf8')) as { sources: string[] }).sources)
      .flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []),
  );
  for (const name of ['react', '@codemirror/view', 'sucrase', 'hyparquet']) expect(packages).toContain(name);
  for (const name of ['pyodide', 'quickjs'])
    expect(files.some((file) => file.includes(name) && file.endsWith('.wasm'))).toBe(true);
  const sections = readFileSync(path.join(site, 'licences.txt'), 'utf8').split(/\n={80}\n/);
  for (const name of [...packages, 'pyodide', 'quickjs-wasi']) {
    const text = sections.find((section) => section.trimStart().startsWith(`${name} `)) ?? '';
    expect(text, name).toMatch(/copyright/i);
    expect(text.length, name).toBeGreaterThan(500);
  }
  expect(sections.some((section) => section.includes('PYTHON SOFTWARE FOUNDATION LICENSE'))).toBe(true);
  expect(sections.some((section) => section.includes('Fabrice Bellard'))).toBe(true);
});

test('in a folder of a host without headers it trains at once, may share memory from the second visit on, and runs offline', async () => {
  const url = await host(inject('site'), '/rollout-playground/', {});
  expect(url).toMatch(/\/rollout-playground\/$/);
  const { page, problems } = await arrive(url, '#/lab?prompts=4&groupSize=4&evalTasks=16&evalEvery=0&backend=cpu');
  expect(await isolated(page)).toBe(false);
  await stepOnce(page);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  expect(problems).toEqual([]);

  await page.reload();
  await usable(page);
  expect(await isolated(page)).toBe(true);
  await expect.poll(() => page.evaluate(() => caches.keys())).toEqual([expect.stringContaining(` ${url} `)]); // another page of this origin deletes none of it

  await stop();
  await page.reload();
  await usable(page);
  expect(await isolated(page)).toBe(true);
  // also what was not asked for while there was a network
  expect(await page.evaluate(() => fetch('./warm/calculator-2-d32-l2-h4-4-f96.safetensors').then(({ ok }) => ok))).toBe(
    true,
  );
  await page.evaluate(() => location.assign('#/experiments'));
  await page
    .locator('.lab[data-screen="experiments"] main h1, .lab[data-screen="experiments"] main h2')
    .first()
    .waitFor();
  await page.context().close();
});

test('a tab of the old build opens its other screens after a new one is published, and the next visit is the new one', async () => {
  const site = path.join(folder, 'site');
  for (const file of readdirSync(inject('site'), { recursive: true, withFileTypes: true })) {
    const from = path.join(file.parentPath, file.name);
    const to = path.join(site, path.relative(inject('site'), from));
    if (file.isDirectory()) mkdirSync(to, { recursive: true });
    else linkSync(from, to); // nothing is copied
  }
  const worker = readFileSync(path.join(site, 'sw.js'), 'utf8');
  const smaller = worker
    .replace(/const FILES = \[.*\];/, 'const FILES = ["./"];')
    .replace(/(const CACHE = .*)";/, '$1x";');
  expect(smaller).not.toBe(worker);

  const url = await host(site, '/rollout-playground/', {});
  const { page, problems } = await arrive(url);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  // the worker answers for this tab only once it has claimed it
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  // a new build has new names for its scripts, and a page that calls them; its host stays at its port, which others could take meanwhile
  for (const name of readdirSync(path.join(site, 'assets'))) rmSync(path.join(site, 'assets', name));
  for (const name of ['index.html', 'sw.js']) rmSync(path.join(site, name)); // a link: the built page keeps its own
  writeFileSync(path.join(site, 'index.html'), '<!doctype html><title>the next build</title>');
  writeFileSync(path.join(site, 'sw.js'), smaller);
  await page.evaluate(() => navigator.serviceWorker.getRegistration().then((found) => found?.update()));
  await page.evaluate(() => location.assign('#/experiments'));
  await page
    .locator('.lab[data-screen="experiments"] main h1, .lab[data-screen="experiments"] main h2')
    .first()
    .waitFor();
  expect(problems).toEqual([]);
  await page.reload();
  await expect.poll(() => page.title()).toBe('the next build');
  await page.context().close();
});

test('with the headers of a Hugging Face Space it may share memory on the first visit', async () => {
  const { page, problems } = await arrive(await host(inject('site'), '/', SPACE_HEADERS));
  expect(await isolated(page)).toBe(true);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('opened as a file, or in a sandboxed frame, the page says what is the matter instead of staying blank', async () => {
  const page = await browser.newPage();
  await page.goto(`file://${path.join(inject('site'), 'index.html')}`);
  await page.getByText('npm start').waitFor();
  const frame = '<iframe sandbox="allow-scripts" src="./index.html"></iframe>';
  await page.route('**/frame.html', (route) => route.fulfill({ contentType: 'text/html', body: frame }));
  await page.goto(new URL('frame.html', await host(inject('site'), '/', {})).href);
  await page.frameLocator('iframe').getByText('a tab of its own').waitFor();
  await page.close();
});
