import { readFile } from 'node:fs/promises';
import type { Browser, Download, Locator, Page } from 'playwright';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { launch, pause, read, settled, toScreen, train, unfold, visitStill } from './lab.ts';

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

const enlarge = (page: Page, label: string) =>
  page.getByRole('button', { name: `Enlarge or export ${label}`, exact: true }).click();
/** What a press on a button of the dialog downloads. */
async function downloaded(page: Page, button: string): Promise<Download> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('dialog').getByRole('button', { name: button, exact: true }).click(),
  ]);
  return download;
}
const text = async (download: Download) => readFile(await download.path(), 'utf8');
const lines = (csv: string) => csv.trimEnd().split('\r\n');

/** A run of forty updates that stands still, and the middle of its second chart. */
async function paused() {
  const { page, problems } = await visitStill(browser, { worker: 'fake', hash: RUN });
  await train(page, 40, 240_000);
  await pause(page);
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
  });
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
    await enlarge(page, 'Entropy');
    const row = lines(await text(await downloaded(page, 'CSV'))).find((line) => line.startsWith(`${at},`));
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

  test('SHOULD-25: a curve is exported as SVG, PNG and CSV; pictures are white under the dark theme, need no style of the page, and name run, preset, seed, metric, unit and smoothing', async () => {
    const { page, problems } = desk;
    const points = (await read(page)).points['actor/entropy'] ?? 0;
    await page.emulateMedia({ colorScheme: 'dark' });
    await enlarge(page, 'Entropy');
    await page.getByRole('dialog').locator('.line-chart .smooth').first().waitFor();
    await settled(() => page.getByRole('dialog').locator('svg').first().boundingBox()); // all files are of one size
    const download = await downloaded(page, 'SVG');
    expect(download.suggestedFilename()).toBe('entropy-nats.svg');
    const svg = await text(download);
    expect(svg).not.toMatch(/var\(|class=|light-dark/);
    for (const words of ['Run 1: ', 'preset Number hunt', 'seed 7', 'metric actor/entropy', 'weight 0.8', 'y: linear'])
      expect(svg).toContain(words);
    for (const words of ['Entropy (nats)', 'each update', 'smoothed', 'x: update']) expect(svg).toContain(words);
    expect(svg).toContain('fill="#ffffff"');
    // ink of the light theme, not of the dark one it is looked at in
    expect(svg).toContain('fill="rgb(18, 23, 29)"');
    expect(svg).not.toContain('rgb(233, 238, 243)');
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBeUndefined();
    // it is well-formed and draws the same curve in a page that has none of our styles
    const bare = await page.context().newPage();
    await bare.setContent(svg.replace(/^<\?xml.*?\?>/, ''));
    const path = bare.locator('.none, path[fill="none"]').last();
    expect(await path.evaluate((e) => getComputedStyle(e).stroke)).toMatch(/^rgb\((?!0, 0, 0\))/);
    const box = await bare.locator('svg').first().boundingBox();
    await bare.close();

    const png = await readFile(await (await downloaded(page, 'PNG')).path());
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([2 * (box?.width ?? 0), 2 * (box?.height ?? 0)]);
    expect(png.length).toBeGreaterThan(5000);

    const csv = lines(await text(await downloaded(page, 'CSV')));
    expect(csv[0]).toBe('update,Entropy (nats) [actor/entropy]');
    expect(csv).toHaveLength(1 + points);
    const all = lines(await text(await downloaded(page, 'Every metric of run 1, CSV')));
    expect(all).toHaveLength(1 + points);
    expect(all[0]).toContain('Entropy (nats) [actor/entropy]');
    expect(problems).toEqual([]);
  });

  test('runs are exported too: the chart of several with their names, one as CSV and as a log that opens again with the same numbers', async () => {
    const { page, problems } = desk;
    const { points } = await read(page);
    await toScreen(page, 'runs');
    await page.locator('.overlay .run-line[data-run="1"]').waitFor();
    const press = async (name: string) => {
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
      return text(download);
    };
    const svg = await press('SVG');
    expect(svg).not.toContain('var(');
    expect(svg).toContain('#1 Number hunt');
    const csv = lines(await press('Run 1 as CSV'));
    expect(csv.length).toBe(1 + (points['rollout/success'] ?? 0));
    const log = await press('Run 1 as JSONL');
    const head = JSON.parse(log.split('\n', 1).join('')) as Readonly<Record<string, unknown>>;
    expect(head).toMatchObject({ complete: true, begun: { seed: 7 } });
    expect(String(head['address'])).toContain('#/lab?v=2&');
    const file = { name: 'run-1.jsonl', mimeType: '', buffer: Buffer.from(log) };
    await page.getByLabel('Files of runs').setInputFiles(file);
    await page.locator('.overlay .run-line[data-run="2"]').waitFor();
    await toScreen(page, 'lab');
    await page.locator('.dock .plot:has(.line-chart .smooth)').nth(5).waitFor();
    expect(problems).toEqual([]);
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
    await expect.poll(() => roughness('smooth')).toBeLessThan(usual / 2);
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

  test('changes of knobs are numbered on the charts and listed with what became what, and what the curves were before and since; a press points at one', async () => {
    const { page, problems } = desk;
    await page.getByRole('button', { name: 'Run training' }).click();
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
  });
});
