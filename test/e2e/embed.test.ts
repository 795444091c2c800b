import { createServer, type Server } from 'node:http';
import type { Browser, FrameLocator } from 'playwright';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ISOLATION } from '../../scripts/page-policy.mjs';
import { axe, type Lab, launch, lookSeldom, settled, PATIENCE_MS } from './lab.ts';
import { usedOrNew } from './usedPages.ts';

// A page of another origin (another host and port) that shows panels in frames.
let browser: Browser;
let outer: Server;
let outerURL = '';
let body = ''; // of the outer page
beforeAll(async () => {
  browser = await launch('no adapter');
  outer = createServer((request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    if (request.url === '/isolated')
      for (const [name, value] of Object.entries(ISOLATION)) response.setHeader(name, value);
    response.end(`<!doctype html><html lang="en"><title>Another page</title><body>${body}`);
  });
  await new Promise<void>((resolve) => outer.listen(0, 'localhost', resolve));
  const address = outer.address();
  if (address === null || typeof address === 'string') throw new Error('the outer page has no port');
  outerURL = `http://localhost:${address.port}/`;
});
afterAll(async () => {
  await browser.close();
  outer.closeAllConnections();
  outer.close();
});

const frameOf = (rest: string, width = 640, height = 520) =>
  `<iframe title="A panel" src="${inject('baseURL')}${rest}" width="${width}" height="${height}" style="border:0"></iframe>`;

/** A page, and what it and its frames complain of. */
async function open(): Promise<Lab> {
  const context = await browser.newContext({ reducedMotion: 'reduce', serviceWorkers: 'block' });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  lookSeldom(page);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (m) => m.type() === 'error' && problems.push(m.text()));
  return { page, problems, scripts: [] };
}

/** The outer page with one frame, and what both complained of. */
async function embedded(html: string, at = '', before?: () => void): Promise<Lab & { readonly frame: FrameLocator }> {
  body = html;
  const { page, problems, scripts } = await usedOrNew(browser, 'panels', open);
  if (before) scripts.push(await page.addInitScript(before));
  const fake = { contentType: 'text/javascript', path: `${inject('site')}/assets/fake-worker.js`, headers: ISOLATION };
  await page.route('**/assets/worker-*.js', (route) => route.fulfill(fake));
  await page.goto(outerURL + at);
  return { page, frame: page.frameLocator('iframe'), problems, scripts };
}

/** How far what is in the frame is wider and higher than the frame, px. */
const beyond = (frame: FrameLocator) =>
  frame
    .locator('html')
    .evaluate(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) => [
      Math.max(0, scrollWidth - clientWidth),
      Math.max(0, scrollHeight - clientHeight),
    ]);

// in a page that is not isolated: below
test('a frame of an isolated page shows the rollout that its address names, trains it there, and leads to the whole page', async () => {
  const moment = '#/lab?v=2&recorded=160&rollout=1';
  const { page, frame, problems } = await embedded(frameOf(`?embed=rollout${moment}`), 'isolated');
  await frame.locator('.guess').first().waitFor();
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
  await frame.getByRole('button', { name: 'Update 160 of the recording', pressed: true }).waitFor();
  await expect.poll(() => frame.locator('.token').count()).toBeGreaterThan(10);
  await expect.poll(() => beyond(frame)).toEqual([0, 0]);
  expect(await frame.locator('nav, .controls, .dock').count()).toBe(0);

  const coming = page.context().waitForEvent('page');
  await frame.getByRole('link', { name: 'Open the whole page' }).click();
  const whole = await coming;
  await whole.waitForFunction(() => window.__playground?.snapshot().batch.update === 160);
  await whole.waitForFunction(() => window.__playground?.snapshot().selection.row === 1);
  expect(new URL(whole.url()).search).toBe('');
  await whole.close();

  await frame.getByRole('button', { name: 'Train it here' }).click();
  await expect
    .poll(() => frame.locator('html').evaluate(() => window.__playground?.snapshot().update ?? 0))
    .toBeGreaterThan(2);
  await frame.getByRole('button', { name: 'Pause', exact: true }).click();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('in a narrow frame and a wide one the curve is as large as the frame leaves room for, and axe finds nothing', async () => {
  const { page, problems } = await embedded(
    frameOf('?embed=curve#/lab?recorded=160', 360, 260) + frameOf('?embed=curve#/lab?recorded=160', 900, 420),
  );
  for (const [n, width] of [
    [0, 360],
    [1, 900],
  ] as const) {
    const frame = page.frameLocator(`iframe >> nth=${n}`);
    const curve = frame.locator('.plot svg').first();
    await curve.waitFor();
    await expect.poll(async () => (await curve.boundingBox())?.width).toBeGreaterThan(0.8 * width);
    await expect.poll(() => beyond(frame)).toEqual([0, 0]);
    await frame.getByText('84 %').waitFor();
  }
  // a panel is no visit: it is not where the page goes on next time
  await page.goto(`${inject('baseURL')}?embed=curve#/lab?recorded=160`);
  await page.locator('.plot svg').first().waitFor();
  expect(await page.evaluate(() => localStorage.getItem('rollout-playground-left'))).toBe(null);
  expect(await axe(page)).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('what an address got wrong and why a run doesn’t start is said below the panel in a frame, not over it', async () => {
  const { page, frame } = await embedded(
    frameOf('?embed=rollout#/lab?v=2&env=your-environment&groupSize=5000&preset=none&rollout=1&update=900&updates=9'),
  );
  await frame.getByText('2 notes').waitFor();
  expect(await frame.getByTestId('corrections').isVisible()).toBe(false);
  await frame.getByRole('button', { name: 'Train it here' }).click();
  await frame.getByRole('alert').waitFor();
  await frame.getByText('2 notes').click();
  const notes = frame.locator('.address-notes');
  await notes.getByTestId('corrections').waitFor();
  const [panel, note] = await settled(() =>
    Promise.all([frame.locator('.embed-panel').boundingBox(), notes.boundingBox()]),
  );
  if (!panel || !note) throw new Error('nothing is drawn');
  expect(note.y).toBeGreaterThanOrEqual(panel.y + panel.height);
  expect(panel.height).toBeGreaterThan(200);
  await expect.poll(() => beyond(frame)).toEqual([0, 0]);
  await page.context().close();
});

test('an exercise in a frame is predicted, done and answered there', async () => {
  const { page, frame, problems } = await embedded(frameOf('?embed=exercise#/learn/rollout/drawn'));
  const exercise = frame.getByTestId('exercise-drawn');
  await exercise.locator('.choices button').first().click();
  await exercise.locator('button.primary').click();
  await frame.locator('[data-testid="exercise-drawn"][data-verdict]').waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('an answer in a frame shows its question, its recorded number and its buttons', async () => {
  const { page, frame, problems } = await embedded(frameOf('?embed=answer#/answers/observations'));
  await frame.getByRole('heading', { name: 'Should tool outputs be trained on?' }).waitFor();
  expect(await frame.getByTestId('trial-illness').innerText()).toMatch(/ % of the update was spent.*Recorded: seed 7/s);
  expect((await beyond(frame))[0]).toBe(0);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a browser that refuses storage to frames still shows a panel and trains in it', async () => {
  const { page, frame, problems } = await embedded(frameOf('?embed=rollout'), '', () => {
    if (self === top) return;
    const refuse = () => {
      throw new DOMException('The request was denied.', 'SecurityError');
    };
    for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches']) {
      Object.defineProperty(window, name, { get: refuse });
    }
  });
  await frame.getByRole('button', { name: 'Train it here' }).click();
  await expect
    .poll(() => frame.locator('html').evaluate(() => window.__playground?.snapshot().update ?? 0))
    .toBeGreaterThan(2);
  expect(problems).toEqual([]);
  await page.context().close();
});
