import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { DESKTOP, launch, PHONE, read, settled, tooSmall, train, unfold, visit, visitStill } from './lab.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('adapter');
});
afterAll(() => browser.close());

test('the page is readable and useful before Run, and touches no GPU', async () => {
  const context = await browser.newContext({ serviceWorkers: 'block' });
  context.setDefaultTimeout(60_000); // a busy machine
  const page = await context.newPage();
  await page.addInitScript(() => {
    const gpu = (navigator as Partial<Navigator>).gpu;
    if (gpu) gpu.requestAdapter = () => Promise.reject(new Error('touched the GPU before Run'));
  });
  const problems: string[] = [];
  page.on('pageerror', (e) => problems.push(e.message));
  page.on('console', (m) => {
    if (m.type() === 'error') problems.push(m.text());
  });
  await page.goto(`${inject('baseURL')}#/lab`, { waitUntil: 'commit' });
  await page.getByRole('heading', { name: 'Watch a tiny language agent learn to use a tool' }).waitFor();
  await page.getByRole('button', { name: 'Run training' }).waitFor();
  await page.locator('.token[data-kind="observation"]').first().waitFor();
  await page.getByTestId('trajectory').getByText('recording').waitFor();
  expect(problems).toEqual([]);
  expect((await read(page)).session).toBe('none');
  // the chart library, which draws a class's results alone, is no part of the first load
  const scripts = await page.evaluate(() => performance.getEntriesByType('resource').map((entry) => entry.name));
  expect(scripts.filter((name) => name.includes('/ClassPlot-'))).toEqual([]);
  await context.close();
});

test('tokens say in words who wrote them and whether they are trained', async () => {
  const { page } = await visit(browser);
  for (const [kind, trained] of [
    ['observation', 'no'],
    ['call', 'yes'],
  ] as const) {
    const tokens = page.locator(`.token[data-kind="${kind}"]`);
    await tokens.first().waitFor();
    const labels = await tokens.evaluateAll((all) => all.map((e) => e.ariaLabel ?? ''));
    expect(labels.length).toBeGreaterThan(0);
    for (const label of labels) expect(label).toContain(`${kind}, in loss: ${trained}`);
  }
  await page.context().close();
});

test('the rollout is one tab stop, arrows move inside it, and the inspector follows', async () => {
  const { page } = await visitStill(browser);
  await expect.poll(() => page.locator('.token[tabindex="0"]').count()).toBe(1);
  await page.locator('.token[tabindex="0"]').focus();
  for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowRight');
  await expect.poll(async () => (await read(page)).selection.token).toBe(3);
  await page.getByTestId('inspector').getByText('in the loss', { exact: true }).waitFor();
  expect(await page.locator('body').innerText()).not.toMatch(/NaN|undefined/);
  await page.context().close();
});

test('keys choose rollouts, turns and help, and are ignored while someone types', async () => {
  const { page } = await visitStill(browser);
  await page.keyboard.press('j');
  await expect.poll(async () => (await read(page)).selection.row).toBe(1);
  await page.keyboard.press('j'); // of four turns
  await page.keyboard.press('b');
  await expect.poll(async () => (await read(page)).selection.turn).toBe(3);
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await unfold(page, 'Optimizer');
  await page.getByLabel('Learning rate η', { exact: true }).focus();
  await page.keyboard.press('j');
  expect((await read(page)).selection.row).toBe(2);
  await page.context().close();
});

test('nothing scrolls sideways on a desk or a phone', async () => {
  const { page } = await visitStill(browser);
  for (const viewport of [DESKTOP, { width: 1024, height: 768 }, PHONE]) {
    await page.setViewportSize(viewport);
    const tabs = viewport === PHONE ? ['Watch', 'Curves', 'Tune'] : [];
    for (const tab of [undefined, ...tabs]) {
      if (tab) await page.getByRole('button', { name: tab, exact: true }).click();
      const [width, height] = await settled(() =>
        page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight]),
      );
      expect(width, `${viewport.width}`).toBeLessThanOrEqual(viewport.width);
      expect(height, `${viewport.width}`).toBeLessThanOrEqual(viewport.height);
    }
  }
  await page.context().close();
});

test('on a phone every control is at least 44 px high and wide, those of opened panels too', async () => {
  const hash = '#/lab?v=1&seed=13&rewardModel=on';
  const { page } = await visit(browser, { viewport: PHONE, hasTouch: true, worker: 'fake', hash });
  const tab = (name: string) => page.getByRole('button', { name, exact: true }).click();
  for (const name of ['Watch', 'Curves', 'Tune']) {
    await tab(name);
    await expect.poll(() => tooSmall(page)).toEqual([]);
  }
  await tab('Watch');
  await train(page, 8);
  await page.getByTestId('health-panel').waitFor();
  await expect.poll(() => tooSmall(page)).toEqual([]);
  await tab('Tune');
  await unfold(page, 'What the masks do', 'Advanced: where each mask acts', 'Rewards', 'Objective', 'Rollouts');
  await expect.poll(() => tooSmall(page)).toEqual([]);
  await page.getByRole('button', { name: 'Preferences and RLHF…' }).click();
  await page.getByRole('button', { name: 'A is better' }).waitFor();
  await expect.poll(() => tooSmall(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  await page.context().close();
});

test('before Run a newcomer sees the algorithm, two switches and a sentence; the rest unfolds', async () => {
  const { page } = await visit(browser);
  await page.getByLabel('Algorithm', { exact: true }).waitFor();
  const controls = page.getByRole('region', { name: 'Controls' });
  await expect.poll(() => controls.getByRole('switch').filter({ visible: true }).count()).toBe(2);
  await page.getByTestId('mask-sentence').waitFor();
  expect(await controls.getByRole('slider').filter({ visible: true }).count()).toBe(0);
  await page.context().close();
});

const FIRST_SCRIPTS_KB = 120; // gzipped, as the build reports it

test(`the scripts the page begins with are at most ${FIRST_SCRIPTS_KB} kB gzipped, those imported at once included`, async () => {
  const html = await (await fetch(inject('baseURL'))).text();
  const entry = /<script type="module"[^>]* src="([^"]+)"/.exec(html)?.[1] ?? '';
  const kilobytes = await sizeWithImports(new URL(entry, inject('baseURL')), new Set());
  console.log(`first scripts ${kilobytes.toFixed(1)} kB gzipped`);
  expect(kilobytes).toBeGreaterThan(60); // React DOM alone
  expect(kilobytes).toBeLessThanOrEqual(FIRST_SCRIPTS_KB);
});

/** kB of a script and all it imports by `import … from`, each counted once. */
async function sizeWithImports(address: URL, seen: Set<string>): Promise<number> {
  if (seen.has(address.href)) return 0;
  seen.add(address.href);
  const script = await (await fetch(address)).text();
  let sum = gzipSync(script).length / 1000;
  for (const [, name = ''] of script.matchAll(/\b(?:from|import)\s*["'](\.[^"']+\.js)["']/g)) {
    sum += await sizeWithImports(new URL(name, address), seen);
  }
  return sum;
}
