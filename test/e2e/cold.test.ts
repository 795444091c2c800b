import { readdirSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { choosePreset, fold, launch, type Lab, PHONE, read, settled, toScreen, unfold, visitStill } from './lab.ts';

/** One page for all of these, on which nothing has been trained. */
let cold: Lab;
let browser: Browser;
beforeAll(async () => {
  browser = await launch('adapter');
  cold = await visitStill(browser, {
    before: [
      () => {
        const gpu = (navigator as Partial<Navigator>).gpu;
        if (gpu) gpu.requestAdapter = () => Promise.reject(new Error('touched the GPU before Run'));
      },
    ],
  });
});
afterAll(() => browser.close());

test('the page is readable and useful before Run, and touches no GPU', async () => {
  const { page, problems } = cold;
  await page.getByRole('heading', { name: 'Watch a tiny language agent learn to use a tool' }).waitFor();
  await page.locator('.token[data-kind="observation"]').first().waitFor();
  await page.getByTestId('trajectory').getByText('recording').waitFor();
  expect(problems).toEqual([]);
  expect((await read(page)).session).toBe('none');
  // the chart library, which draws a class's results alone, is no part of the first load
  const scripts = await page.evaluate(() => performance.getEntriesByType('resource').map((entry) => entry.name));
  expect(scripts.filter((name) => name.includes('/ClassPlot-'))).toEqual([]);
  // a few scripts, not one for each part of the screen (tools/pageScripts.ts): each takes its time to ask for
  expect(scripts.filter((name) => name.endsWith('.js')).length).toBeLessThan(10);
});

test('tokens say in words who wrote them and whether they are trained', async () => {
  for (const [kind, trained] of [
    ['observation', 'no'],
    ['call', 'yes'],
  ] as const) {
    const tokens = cold.page.locator(`.token[data-kind="${kind}"]`);
    await tokens.first().waitFor();
    const labels = await tokens.evaluateAll((all) => all.map((e) => e.ariaLabel ?? ''));
    expect(labels.length).toBeGreaterThan(0);
    for (const label of labels) expect(label).toContain(`${kind}, in loss: ${trained}`);
  }
});

test('before Run a newcomer sees the algorithm, two switches, what observations weigh and a sentence; the rest unfolds', async () => {
  const { page } = cold;
  await page.getByLabel('Algorithm', { exact: true }).waitFor();
  const controls = page.getByRole('region', { name: 'Controls' });
  await expect.poll(() => controls.getByRole('switch').filter({ visible: true }).count()).toBe(2);
  await page.getByTestId('mask-sentence').waitFor();
  expect(await controls.getByRole('slider').filter({ visible: true }).count()).toBe(1);
});

test('the rollout is one tab stop, arrows move inside it, and the inspector follows', async () => {
  const { page } = cold;
  await expect.poll(() => page.locator('.token[tabindex="0"]').count()).toBe(1);
  await page.locator('.token[tabindex="0"]').focus();
  for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowRight');
  await expect.poll(async () => (await read(page)).selection.token).toBe(3);
  await page.getByTestId('inspector').getByText('in the loss', { exact: true }).waitFor();
  expect(await page.locator('body').innerText()).not.toMatch(/NaN|undefined/);
  await page.keyboard.press('Escape');
  await expect.poll(async () => (await read(page)).selection.token).toBe(null);
});

test('keys choose rollouts, turns and help, and are ignored while someone types', async () => {
  const { page } = cold;
  await page.locator('body').press('j');
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
  await fold(page, 'Optimizer');
  for (const key of ['k', 'k', 'Escape']) await page.locator('body').press(key);
  await expect.poll(async () => (await read(page)).selection).toMatchObject({ row: 0, turn: null });
});

test('before any run the update screen tells what a recorded update changed, and why; what is not held is said', async () => {
  const { page } = cold;
  await page.getByRole('button', { name: 'Update 25 of the recording' }).click();
  await page.getByRole('link', { name: 'Update', exact: true }).click();
  const changes = page.getByTestId('changes').getByRole('button');
  await changes.first().click();
  await page.getByTestId('why').getByText('rollouts of other tasks').waitFor();
  await page
    .getByTestId('rerun')
    .getByText(/replayed with the same random draws/)
    .waitFor();
  await page.getByTestId('distribution').waitFor();
  await expect.poll(() => page.getByTestId('clip-map').count()).toBe(1);
  await changes.last().click();
  await page.getByText(/explains only its 4 biggest movers/).waitFor();
  expect((await read(page)).session).toBe('none');
  await toScreen(page, 'lab');
});

const choice = (page: Page) => page.getByRole('dialog', { name: 'Choose what to train' });

test('a task is chosen by picture, with keys alone, and plays its own recording', async () => {
  const { page, problems } = cold;
  await page.locator('body').press('c');
  await choice(page)
    .getByRole('button', { name: /Number hunt · GRPO/, pressed: true })
    .waitFor();
  // from the first card to its neighbour
  await choice(page).locator('[aria-pressed="true"]:focus').waitFor();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await choice(page).waitFor({ state: 'detached' });
  await page
    .getByTestId('replay')
    .getByText('Calculator chain · GRPO, seed 7, on the CPU')
    .waitFor({ state: 'attached' });
  await expect.poll(async () => (await read(page)).batch.rows).toBe(8);
  await choosePreset(page, 'number-hunt');
  expect(problems).toEqual([]);
});

test('the picture cards lie as they do without the styles of the other screens: no style of one reaches them', async () => {
  const { page } = cold;
  await page.locator('body').press('c');
  await choice(page)
    .getByRole('button', { name: /Number hunt · GRPO/ })
    .waitFor();
  const places = () =>
    settled(() =>
      choice(page)
        .locator('button, h3, p')
        .evaluateAll((parts) =>
          parts.map((part) => {
            const { x, y, width, height } = part.getBoundingClientRect();
            return [x, y, width, height].map(Math.round).join(' ');
          }),
        ),
    );
  const before = await places();
  expect(before.length).toBeGreaterThan(10);
  const styles = readdirSync(path.join(inject('site'), 'assets')).filter((name) => name.endsWith('.css'));
  expect(styles.length).toBeGreaterThan(5);
  for (const name of styles) await page.addStyleTag({ url: `assets/${name}` });
  expect(await places()).toEqual(before);
  await page.reload();
});

test('on a phone your facts opens with a place to drop them, in sight; the sample file trains', async () => {
  const { page, problems } = await visitStill(browser, { viewport: PHONE, hasTouch: true });
  await choosePreset(page, 'your-facts');
  const door = page.getByTestId('facts-door');
  await door.getByText('Drop a CSV file, or choose one').waitFor();
  const box = await settled(() => door.boundingBox());
  expect((box?.y ?? NaN) + (box?.height ?? NaN)).toBeLessThan(PHONE.height);
  await door.getByRole('button', { name: 'Try the sample file' }).click();
  await door.getByText('sample.csv').waitFor();
  await door.getByRole('button', { name: 'Train on these facts' }).click();
  await expect.poll(async () => (await read(page)).session).toBe('ready');
  await door.waitFor({ state: 'detached' });
  expect(problems).toEqual([]);
  await page.context().close();
});

test('the theme follows the system, can be set, and is kept', async () => {
  const { page } = cold;
  await page.emulateMedia({ colorScheme: 'light' });
  const base = () =>
    page.evaluate(() => getComputedStyle(document.querySelector('.trajectory') ?? document.body).backgroundColor);
  await expect.poll(base).toBe('rgb(255, 255, 255)');
  await page.getByRole('button', { name: 'Theme: system' }).click();
  await expect.poll(base).toBe('rgb(15, 19, 24)');
  await page.reload();
  await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
  await expect.poll(base).toBe('rgb(15, 19, 24)');
});

const FIRST_SCRIPTS_KB = 106; // gzipped, as the build reports it

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
