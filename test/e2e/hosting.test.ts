import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { fileAt, TYPES } from '../../scripts/page-server.mjs';
import { SPACE_HEADERS } from '../../scripts/space.mjs';
import { launch, PATIENCE_MS } from './lab.ts';

// The built page on hosts of files as others run them: no headers but theirs and the type of a file.
let browser: Browser;
let folder = '';
const servers: Server[] = [];
beforeAll(async () => {
  browser = await launch('no adapter');
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'hosting-')));
});
afterAll(async () => {
  await browser.close();
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  rmSync(folder, { recursive: true, force: true });
});

interface Host {
  readonly url: string;
  find: (address: string) => string | null; // the file that it has at an address under its own
  away: boolean; // whether it can't be reached
}

async function host(base: string, headers: Readonly<Record<string, string>> = {}): Promise<Host> {
  const site = realpathSync(inject('site'));
  const server = createServer((request, response) => {
    const address = request.url ?? '';
    const file = address.startsWith(base) ? own.find(address.slice(base.length - 1)) : null;
    if (own.away) request.socket.destroy();
    else if (file === null) response.writeHead(404).end();
    else {
      response.writeHead(200, { ...headers, 'content-type': TYPES[path.extname(file)] ?? 'application/octet-stream' });
      response.end(readFileSync(file));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  const { port } = server.address() as AddressInfo;
  const own: Host = { url: `http://127.0.0.1:${port}${base}`, find: (address) => fileAt(site, address), away: false };
  return own;
}

/** A first visit, as somebody who has never been there. */
async function arrive(
  address: string,
  options: BrowserContextOptions = {},
): Promise<{ readonly page: Page; readonly problems: string[] }> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('requestfailed', (request) => problems.push(request.url()));
  page.on(
    'response',
    (response) => response.status() >= 400 && problems.push(`${response.status()} ${response.url()}`),
  );
  await page.goto(address);
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

describe('a host without headers', () => {
  let pages: Host;
  let page: Page;
  let problems: string[];
  beforeAll(async () => {
    pages = await host('/rollout-playground/');
    ({ page, problems } = await arrive(`${pages.url}#/lab?prompts=2&groupSize=2&evalTasks=2&evalEvery=0&backend=cpu`));
  });
  afterAll(() => page.context().close());
  const opens = async (screen: string) => {
    await page.evaluate((name) => location.assign(`#/${name}`), screen);
    await page.locator(`.lab[data-screen="${screen}"] main :is(h1, h2)`).first().waitFor();
  };

  test('in a folder of a host without headers it trains at once, may share memory from the second visit on, and runs offline', async () => {
    expect(await isolated(page)).toBe(false);
    await stepOnce(page);
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
    expect(problems).toEqual([]);

    await page.reload();
    await usable(page);
    expect(await isolated(page)).toBe(true);
    // another page of this origin deletes none of it
    await expect.poll(() => page.evaluate(() => caches.keys())).toEqual([expect.stringContaining(` ${pages.url} `)]);

    pages.away = true;
    await page.reload();
    await usable(page);
    expect(await isolated(page)).toBe(true);
    // also what was not asked for while there was a network
    const warm = './warm/calculator-2-d32-l2-h4-4-f96.safetensors';
    expect(await page.evaluate((file) => fetch(file).then(({ ok }) => ok), warm)).toBe(true);
    await opens('runs');
    pages.away = false;
  });

  test('a tab of the old build opens its other screens after a new one is published, and the next visit is the new one', async () => {
    problems.splice(0); // what failed while the host was away
    // the worker answers for this tab only once it has claimed it
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    // a new build has new names for its scripts, and a page that calls them
    const worker = readFileSync(path.join(inject('site'), 'sw.js'), 'utf8');
    const smaller = worker
      .replace(/const FILES = \[.*\];/, 'const FILES = ["./"];')
      .replace(/(const CACHE = .*)";/, '$1x";');
    expect(smaller).not.toBe(worker);
    writeFileSync(path.join(folder, 'index.html'), '<!doctype html><title>the next build</title>');
    writeFileSync(path.join(folder, 'sw.js'), smaller);
    const { find } = pages;
    pages.find = (address) => {
      if (address.startsWith('/assets/')) return null;
      return ['/', '/sw.js'].includes(address) ? fileAt(folder, address) : find(address);
    };
    await page.evaluate(() => navigator.serviceWorker.getRegistration().then((found) => found?.update()));
    await opens('experiments');
    expect(problems).toEqual([]);
    await page.reload();
    await expect.poll(() => page.title()).toBe('the next build');
  });
});

test('with the headers of a Hugging Face Space it may share memory on the first visit', async () => {
  const { url } = await host('/', SPACE_HEADERS);
  const { page, problems } = await arrive(`${url}#/lab`, { serviceWorkers: 'block' }); // its headers alone do it
  expect(await isolated(page)).toBe(true);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('opened as a file, or in a sandboxed frame, the page says what is the matter instead of staying blank', async () => {
  const context = await browser.newContext();
  const [framed, file] = [await context.newPage(), await context.newPage()];
  const frame = '<iframe sandbox="allow-scripts" src="./index.html"></iframe>';
  await framed.route('**/frame.html', (route) => route.fulfill({ contentType: 'text/html', body: frame }));
  await framed.goto(`${(await host('/')).url}frame.html`);
  await file.goto(`file://${path.join(inject('site'), 'index.html')}`);
  await file.getByText('npm start').waitFor(); // after a few seconds
  await framed.frameLocator('iframe').getByText('a tab of its own').waitFor();
  await context.close();
});
