import { readFile } from 'node:fs/promises';
import type { Browser, Locator, Page } from 'playwright';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { axeInBothThemes, launch, pause, PHONE, read, settled, tooSmall, train, unfold, visitStill } from './lab.ts';

const RUN = '#/lab?v=1&seed=7&updates=100000';
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

const slider = (page: Page) => page.getByRole('slider', { name: 'Update read in all charts' });
const inView = async (page: Page) => {
  const text = await page.locator('.dock .in-view [role="status"]').textContent();
  const [, from, to] = /Updates (\d+) to (\d+) in view/.exec(text ?? '') ?? [];
  return from === undefined ? null : { from: Number(from), to: Number(to) };
};
/** The update of the crosshair on each chart that has one. */
const crosses = (page: Page) =>
  page.locator('.dock .chart-over [data-at]').evaluateAll((list) => list.map((e) => e.getAttribute('data-at')));
const boxOf = async (place: Locator) => {
  const box = await place.boundingBox();
  if (!box) throw new Error('it is not to be seen');
  return box;
};

/** A run of about a hundred updates that stands still, and the middle of its second chart. */
async function paused(options: Parameters<typeof visitStill>[1] = {}) {
  const { page, problems } = await visitStill(browser, { worker: 'fake', hash: RUN, ...options });
  await train(page, 100, 240_000);
  await pause(page);
  if ((page.viewportSize()?.width ?? 0) < 500) await page.getByRole('button', { name: 'Curves', exact: true }).click();
  const drawn = () => document.querySelectorAll('.dock .plot:has(.line-chart .smooth)').length === 6;
  await page.waitForFunction(drawn);
  // what was under way has arrived, and the chart stays where it is
  const { x, y } = await settled(async () => {
    const { points } = await read(page);
    return { ...(await boxOf(page.locator('.dock .plot').nth(1))), points };
  });
  return { page, problems, x, y: y + 50 };
}

describe('charts on a desk', () => {
  /** One run for all of these: to make it and draw its charts takes longer than to look at them. */
  let desk: Awaited<ReturnType<typeof paused>>;
  beforeAll(async () => {
    desk = await paused();
  }, 300_000);
  beforeEach(async () => {
    const { page } = desk;
    await page.emulateMedia({ colorScheme: 'light' });
    const dialog = page.getByRole('dialog');
    if (await dialog.isVisible()) await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    const all = page.getByRole('button', { name: 'Show all' });
    if (await all.isVisible()) await all.click();
    await all.waitFor({ state: 'hidden' });
    await page.mouse.move(5, 5);
  });
  afterAll(() => desk.page.context().close());

  test('the crosshair stands at one update on all charts, with the values that were measured there', async () => {
    const { page, problems, x, y } = desk;
    await page.mouse.move(x + 90, y);
    // each chart draws in its own time
    const places = async () => {
      const all = await crosses(page);
      return [all.length, new Set(all).size];
    };
    await expect.poll(places).toEqual([6, 1]);
    const [at] = await crosses(page);
    expect(Number(at)).toBeGreaterThan(10);
    // what the chart says is what the CSV has
    const value = await page.locator('[data-metric="actor/entropy"]').getByTestId('read').locator('b').textContent();
    await page.getByRole('button', { name: 'Enlarge or export Entropy', exact: true }).click();
    const [csv] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('dialog').getByRole('button', { name: 'CSV', exact: true }).click(),
    ]);
    const row = (await readFile(await csv.path(), 'utf8')).split('\r\n').find((line) => line.startsWith(`${at},`));
    expect(Number(row?.split(',')[1])).toBeCloseTo(Number(value), 2);
    expect(Number(value)).toBeGreaterThan(0.1);
    await page.keyboard.press('Escape');
    await page.mouse.move(5, 5);
    await expect.poll(() => crosses(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('a drag chooses what is in view of all charts, the wheel goes closer, Shift moves it, a double click shows all', async () => {
    const { page, problems, x, y } = desk;
    await page.mouse.move(x + 70, y);
    await page.mouse.down();
    await page.mouse.move(x + 120, y, { steps: 5 });
    await expect.poll(() => page.locator('.chart-over .chosen').count()).toBe(6);
    await page.mouse.up();
    await expect.poll(() => inView(page)).not.toBeNull();
    const chosen = await inView(page);
    const width = (range: typeof chosen) => (range?.to ?? 0) - (range?.from ?? 0);
    expect(width(chosen)).toBeGreaterThan(10);
    // every chart ends where it says
    const ends = () =>
      page.locator('.dock .plot').evaluateAll((plots) =>
        plots.map((plot) => {
          const ticks = plot.querySelectorAll('.line-chart .updates text');
          return [ticks[0], ticks[ticks.length - 1]].map((tick) => Number(tick?.textContent));
        }),
      );
    await expect.poll(ends).toEqual(Array.from({ length: 6 }, () => [chosen?.from, chosen?.to]));
    await page.mouse.move(x + 90, y);
    await page.mouse.wheel(0, -200);
    await expect.poll(async () => width(await inView(page))).toBeLessThan(width(chosen));
    const closer = await settled(() => inView(page));
    await page.keyboard.down('Shift');
    await page.mouse.down();
    await page.mouse.move(x + 130, y, { steps: 5 });
    await page.mouse.up();
    await page.keyboard.up('Shift');
    await expect.poll(async () => (await inView(page))?.from).toBeLessThan(closer?.from ?? 0);
    const beside = async () => Math.abs(width(await inView(page)) - width(closer));
    await expect.poll(beside).toBeLessThanOrEqual(1); // ends are told in whole updates
    await page.mouse.dblclick(x + 90, y);
    await expect.poll(() => inView(page)).toBeNull();
    expect(problems).toEqual([]);
  });

  test('the keyboard reads and moves the charts, and what they show is said', async () => {
    const { page, problems } = desk;
    await slider(page).focus();
    await page.keyboard.press('End');
    await page.keyboard.press('PageDown');
    const said = async () => (await slider(page).getAttribute('aria-valuetext')) ?? '';
    await expect.poll(said).toMatch(/^update \d+: Reward [\d.]+, Training success \d+ %, .*Entropy [\d.]+ nats/);
    const update = async () => Number(/update (\d+)/.exec(await said())?.[1]);
    const before = await update();
    await page.keyboard.press('Shift+ArrowLeft');
    await expect.poll(update).toBe(before - 1);
    await page.keyboard.press('+');
    await page.keyboard.press('+');
    const closer = await settled(() => inView(page));
    expect(closer).not.toBeNull();
    await page.keyboard.press('<');
    await expect.poll(async () => (await inView(page))?.from).toBeLessThan(closer?.from ?? 0);
    await page.keyboard.press('Escape');
    await expect.poll(() => inView(page)).toBeNull();
    await expect.poll(() => crosses(page)).toHaveLength(6);
    await page.keyboard.press('Escape');
    await expect.poll(() => crosses(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('pictures are white under the dark theme, and name run, preset, seed, metric and smoothing', async () => {
    const { page, problems } = desk;
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.getByRole('button', { name: 'Enlarge or export Entropy', exact: true }).click();
    await page.getByRole('dialog').locator('.line-chart .smooth').first().waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('dialog').getByRole('button', { name: 'SVG', exact: true }).click(),
    ]);
    const svg = await readFile(await download.path(), 'utf8');
    for (const words of ['Run 1: ', 'preset Number hunt', 'seed 7', 'metric actor/entropy', 'weight 0.8', 'y: linear'])
      expect(svg).toContain(words);
    expect(svg).toContain('fill="#ffffff"');
    // ink of the light theme, not of the dark one it is looked at in
    expect(svg).toContain('fill="rgb(18, 23, 29)"');
    expect(svg).not.toContain('rgb(233, 238, 243)');
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBeUndefined();
    expect(problems).toEqual([]);
  });

  test('zoomed charts with a crosshair are accessible, in both themes', async () => {
    const { page } = desk;
    await slider(page).focus();
    for (const key of ['ArrowLeft', '+', '+']) await page.keyboard.press(key);
    await expect.poll(() => inView(page)).not.toBeNull();
    await expect.poll(() => crosses(page)).toHaveLength(6);
    expect(await axeInBothThemes(page)).toEqual([]);
  });

  test('smoothing is a control: 0 draws what was measured, more follows more slowly; log is refused with the reason', async () => {
    const { page, problems } = desk;
    const curve = (line: 'raw' | 'smooth') =>
      page.locator(`[data-metric="actor/grad_norm"] .line-chart .${line}`).getAttribute('d');
    const roughness = async (line: 'raw' | 'smooth') => {
      const ys = [...((await curve(line)) ?? '').matchAll(/ ([\d.]+)/g)].map(([, y]) => Number(y));
      return ys.slice(1).reduce((sum, y, i) => sum + Math.abs(y - (ys[i] ?? y)), 0);
    };
    const usual = await roughness('smooth');
    const smoothing = page.getByRole('slider', { name: 'Smoothing' });
    await smoothing.fill('0');
    await expect.poll(async () => (await curve('smooth')) === (await curve('raw'))).toBe(true);
    await smoothing.fill('0.99');
    await expect.poll(() => roughness('smooth')).toBeLessThan(usual / 4);
    expect(await roughness('raw')).toBeGreaterThan(usual);
    await page.getByRole('button', { name: 'Log', exact: true }).click();
    await page.locator('[data-metric="rollout/success"]').getByText('linear: a share, from 0 to 1').waitFor();
    const ticks = page.locator('[data-metric="actor/entropy"] .line-chart .values text');
    // the made-up entropy falls from .88 to about .26: no 0 on a logarithmic axis
    const told = async () => {
      const texts = await ticks.allTextContents();
      return texts.length > 1 && !texts.includes('0');
    };
    await expect.poll(told).toBe(true);
    // the next visit draws as this one did
    const next = await page.context().newPage();
    await next.goto(page.url());
    await expect.poll(() => next.getByRole('slider', { name: 'Smoothing' }).inputValue()).toBe('0.99');
    await next.getByRole('button', { name: 'Log', exact: true, pressed: true }).waitFor();
    await next.close();
    expect(problems).toEqual([]);
  });
});

test('a finger points and two fingers look closer, accessible in both themes; a button shows all again', async () => {
  const { page, problems, x, y } = await paused({ viewport: PHONE, hasTouch: true });
  await page.touchscreen.tap(x + 200, y);
  const places = async () => new Set(await crosses(page)).size;
  await expect.poll(places).toBe(1);
  const session = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...at: readonly number[]) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints: at.map((left, id) => ({ x: x + left, y, id })) });
  await touch('touchStart', 150);
  await touch('touchStart', 150, 220);
  for (let n = 1; n <= 5; n++) await touch('touchMove', 150 - 12 * n, 220 + 12 * n);
  await touch('touchEnd');
  // 70 px are pulled to 190: about a third of the updates is left
  await expect.poll(() => inView(page)).not.toBeNull();
  await expect.poll(places).toBe(1);
  expect(await axeInBothThemes(page)).toEqual([]);
  expect(await tooSmall(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  await page.getByRole('button', { name: 'Show all' }).click();
  await expect.poll(() => inView(page)).toBeNull();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('changes of knobs are numbered on the charts and listed with what became what, and what the curves were before and since; a press points at one', async () => {
  const { page, problems } = await visitStill(browser, { worker: 'fake', hash: RUN });
  await train(page, 10);
  await unfold(page, 'Optimizer');
  const clip = page.getByRole('slider', { name: /Gradient clip/ }).first();
  await clip.focus();
  await page.keyboard.press('ArrowRight');
  await page
    .getByTestId('last-flag')
    .getByText(/Gradient clip 1 → /)
    .waitFor();
  await pause(page);
  await page.locator('[data-metric="actor/entropy"] .mark-label').getByText('1', { exact: true }).waitFor();
  const turned = page.locator('[data-knob="maxGradNorm"]').getByTestId('since-turned');
  await turned.getByText(/update \d+: success \d+ % → \d+ %.* \d+ before .*\d+ after/).waitFor();
  await page.getByTestId('last-flag').click();
  const list = page.getByRole('dialog').getByRole('listitem');
  await expect.poll(() => list.count()).toBe(1);
  await expect.poll(() => list.textContent()).toMatch(/^1update \d+Gradient clip 1 → .*\d+ .* → \d+ .*Entropy/);
  await list.getByRole('button').click();
  await expect.poll(async () => new Set(await crosses(page)).size).toBe(1);
  expect(problems).toEqual([]);
  await page.context().close();
});
