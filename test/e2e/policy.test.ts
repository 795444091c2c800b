import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { SCREEN_LIST } from '../../src/page/address/screens.ts';
import { launch, toScreen, train, visitStill } from './lab.ts';

declare global {
  interface Window {
    violations?: string[];
  }
}

let browser: Browser;
beforeAll(async () => {
  browser = await launch('adapter');
});
afterAll(() => browser.close());

const listen = () => {
  window.violations = [];
  addEventListener('securitypolicyviolation', (event) => {
    window.violations?.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
  });
};

test('no screen does what the page’s policy forbids, while a run goes on in WebAssembly', async () => {
  const { page, problems } = await visitStill(browser, {
    before: listen,
    hash: '#/lab?v=1&seed=7&backend=cpu&updates=4&evalTasks=16',
  });
  await train(page, 1);
  // a worker that may not compile WebAssembly says nothing of it and takes plain TypeScript
  await expect.poll(() => page.getByTestId('backend').textContent()).toMatch(/WebAssembly/);
  for (const [screen] of SCREEN_LIST) {
    await toScreen(page, screen);
    await page.waitForLoadState('networkidle');
  }
  await page.evaluate(() => location.assign('#/lab'));
  await page.getByRole('button', { name: 'Enlarge or export Entropy', exact: true }).click();
  for (const name of ['CSV', 'PNG']) {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('dialog').getByRole('button', { name, exact: true }).click(),
    ]);
    expect(await download.failure()).toBeNull();
  }
  expect(await page.evaluate(() => window.violations)).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('it is in force: a script in the page, eval, a picture, a request and a socket to elsewhere are refused, and a socket to this machine is not', async () => {
  const { page } = await visitStill(browser, { before: listen });
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.violations = null';
    document.head.append(script);
    const picture = new Image();
    picture.src = 'http://127.0.0.1:9/x.png';
    document.body.append(picture);
    void fetch('http://127.0.0.1:9/').catch(() => undefined);
    for (const host of ['127.0.0.1:9', 'localhost:9', '127.0.0.2:9', '192.0.2.1:9']) {
      try {
        new WebSocket(`ws://${host}/`);
      } catch {
        // Firefox throws
      }
    }
    Reflect.apply(setTimeout, window, ['window.violations = null']); // eval by another name
  });
  // each twice: as the page says it and as its server does
  const seen = () => page.evaluate(() => [...new Set(window.violations?.map((line) => line.split(' ')[0]))].sort());
  await expect.poll(seen).toEqual(['connect-src', 'img-src', 'script-src', 'script-src-elem']);
  const sockets = () =>
    page.evaluate(() => window.violations?.flatMap((line) => /ws:\/\/[^/ ]+/.exec(line)?.[0] ?? []));
  await expect.poll(async () => [...new Set(await sockets())].sort()).toEqual(['ws://127.0.0.2:9', 'ws://192.0.2.1:9']);
  await page.context().close();
});

/** What sucrase would write into the code of a page that react-hot-loader mends. It is never asked to, and nothing runs it. */
const WRITTEN_FOR_OTHERS = '__reactstandin__regenerateByEval(key, code) {this[key] = eval(code);}';

test('nothing that is shipped makes code of text', async () => {
  const base = inject('baseURL');
  const worker = await (await fetch(new URL('sw.js', base))).text();
  const files = JSON.parse(/const FILES = (\[.*?\]);/.exec(worker)?.[1] ?? '[]') as string[];
  const scripts = files.filter((file) => file.endsWith('.js'));
  expect(scripts.length).toBeGreaterThan(5);
  for (const file of scripts) {
    const text = (await (await fetch(new URL(file, base))).text()).replaceAll(WRITTEN_FOR_OTHERS, '');
    expect(
      /\beval\(|\bnew Function\b|[^.\w]Function\(|set(?:Timeout|Interval)\(["'`]/.exec(text)?.[0],
      file,
    ).toBeUndefined();
  }
});
