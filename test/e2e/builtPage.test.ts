import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { SCREENS } from '../../src/page/address/screens.ts';
import { simulateTranslation } from '../browser/simulateTranslation.ts';
import { leaveToWeekly } from '../weekly.ts';
import { launch, read, visitStill } from './lab.ts';

declare global {
  interface Window {
    violations?: string[];
  }
}

/** Notes what the page's policy refuses. */
function listen() {
  window.violations = [];
  addEventListener('securitypolicyviolation', (event) => {
    window.violations?.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
  });
}

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

describe('its policy', () => {
  test('it is in force: a script in the page, eval, a picture, a request and a socket to elsewhere are refused, and a socket to this machine is not', async () => {
    const { page } = await visitStill(browser, { before: [listen] });
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
    await expect
      .poll(async () => [...new Set(await sockets())].sort())
      .toEqual(['ws://127.0.0.2:9', 'ws://192.0.2.1:9']);
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
});

describe('translated', () => {
  const RUN = '#/lab?v=1&seed=7&updates=100000';
  /** What a rollout, a board or a file says, as its own words. */
  const OWN_WORDS = '.token, .word, .env-svg, .ledger, .passages, .term, .cm-content, pre, code, kbd';

  test('a page that the browser translates trains on, on the start screen and on every screen, its numbers change, and tokens, boards and code stay as they are; nothing does what the page’s policy forbids', async (current) => {
    leaveToWeekly(current, 'components that are translated one by one (browser/translatedText)');
    const { page, problems } = await visitStill(browser, {
      worker: 'fake',
      hash: RUN,
      before: [listen, simulateTranslation],
    });
    await page.getByRole('button', { name: 'Run training' }).click();
    await expect.poll(() => page.getByTestId('backend').textContent()).toContain('made up');
    await page.evaluate(() => window.__translateOn());
    await page.getByRole('button', { name: 'PAUSE' }).waitFor();
    for (const route of Object.keys(SCREENS)) {
      await page.evaluate((screen) => location.assign(`#/${screen}`), route);
      await page.locator(`.lab[data-screen="${route}"] main:not([aria-busy]):visible font`).first().waitFor();
      const { update } = await read(page);
      await expect.poll(async () => (await read(page)).update).toBeGreaterThan(update + 1);
      const translated = await page.evaluate(
        (own) =>
          [...document.querySelectorAll(own)].filter((e) => !e.closest('[translate="no"]')).map((e) => e.outerHTML),
        OWN_WORDS,
      );
      expect(translated, route).toEqual([]);
      const shown = page.locator('[data-testid="update"]:visible');
      if ((await shown.count()) === 0) continue; // no header
      const number = async () => Number(/YOUR RUN: (\d+)/.exec(await shown.innerText())?.[1]);
      const before = await number();
      await expect.poll(number, { message: route }).toBeGreaterThan(before);
    }
    expect(await page.getByTestId('broken').count()).toBe(0);
    await page.evaluate(() => location.assign('#/lab'));
    await page.getByRole('button', { name: 'Enlarge or export Entropy', exact: true }).click();
    for (const name of ['CSV', 'PNG']) {
      const button = page.getByRole('dialog').getByRole('button', { name, exact: true });
      const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
      expect(await download.failure()).toBeNull();
    }
    expect(await page.evaluate(() => window.violations)).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
