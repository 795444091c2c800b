import { readFile } from 'node:fs/promises';
import type { Browser, Download, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe, launch, pause, PHONE, read, settled, tooSmall, toScreen, train, visitStill } from './lab.ts';

const RUN = '#/lab?v=1&seed=7&updates=100000';
const SPIKE = { update: 2345, reward: 77 }; // of the fake worker's run of 5,000 updates
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

/** What a press on a button downloads. */
async function downloaded(page: Page, button: string): Promise<Download> {
  const [download] = await Promise.all([
    page.waitForEvent('download', { timeout: 240_000 }), // of 5,000 updates, on a busy machine
    page.getByRole('dialog').getByRole('button', { name: button, exact: true }).click(),
  ]);
  return download;
}
const text = async (download: Download) => readFile(await download.path(), 'utf8');
const lines = (csv: string) => csv.trimEnd().split('\r\n');
const enlarge = (page: Page, label: string) =>
  page.getByRole('button', { name: `Enlarge or export ${label}`, exact: true }).click();

/** A run of 5,000 updates, as the fake worker makes it. */
async function long(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Run training' }).click();
  await page.waitForFunction(() => window.__playground?.snapshot().points['rollout/success'] === 5000, null, {
    timeout: 300_000,
  });
  await expect.poll(() => page.locator('.dock .chart:has(.line-chart .smooth)').count()).toBe(6);
  await settled(() => page.locator('.dock .chart svg').evaluateAll((charts) => charts.map((chart) => chart.innerHTML)));
}

test('SHOULD-23: of 5,000 points a chart draws at most 300 positions and a spike of one of them, and CSV has 5,000 rows', async () => {
  const { page, problems } = await visitStill(browser, { worker: 'fake', hash: '#/lab?v=1&seed=5000&updates=5000' });
  await long(page);
  for (const chart of await page.locator('.chart').all()) {
    expect(await chart.locator('svg *').count()).toBeLessThan(1000);
    for (const path of await chart.locator('.line-chart :is(.raw, .smooth, .held)').all()) {
      const positions = ((await path.getAttribute('d')) ?? '').match(/[ML]/g)?.length ?? 0;
      expect(positions).toBeLessThanOrEqual(300);
      expect(positions).toBeGreaterThan(50); // of a chart 170 px wide
    }
  }
  // heights are pixels from the top: the band of the spike's position goes up alone
  const band = await page.locator('[data-metric="critic/score/mean"] .line-chart .band').getAttribute('d');
  const heights = [...(band ?? '').matchAll(/[ML][\d.]+ ([\d.]+)/g)].map(([, y]) => Number(y));
  const [top = 0, next = 0] = [...new Set(heights)].sort((a, b) => a - b);
  expect(next - top).toBeGreaterThan(40);

  await enlarge(page, 'Reward');
  const rows = lines(await text(await downloaded(page, 'CSV')));
  expect(rows[0]).toBe('update,Reward (1) [critic/score/mean]');
  expect(rows).toHaveLength(1 + 5000);
  expect(rows[SPIKE.update]).toBe(`${SPIKE.update},${SPIKE.reward}`);
  expect(new Set(rows).size).toBe(5001);
  const all = lines(await text(await downloaded(page, 'Every metric of run 1, CSV')));
  expect(all).toHaveLength(1 + 5000);
  expect(all[0]).toContain('Entropy (nats) [actor/entropy]');
  expect(problems).toEqual([]);
  await page.context().close();
});

test('SHOULD-25: a curve is exported as SVG without a var(, with legend, title and unit; as PNG of its size; as CSV with units in the header', async () => {
  const { page, problems } = await visitStill(browser, { worker: 'fake', hash: RUN });
  await train(page, 30);
  await pause(page);
  const points = (await settled(async () => (await read(page)).points))['actor/entropy'] ?? 0;

  await enlarge(page, 'Entropy');
  await page.getByRole('dialog').locator('.line-chart .smooth').first().waitFor();
  await settled(() => page.getByRole('dialog').locator('svg').first().boundingBox()); // all files are of one size
  const download = await downloaded(page, 'SVG');
  expect(download.suggestedFilename()).toBe('entropy-nats.svg');
  const svg = await text(download);
  expect(svg).not.toMatch(/var\(|class=|light-dark/);
  for (const words of ['Entropy (nats)', 'each update', 'smoothed', 'seed 7', 'x: update'])
    expect(svg).toContain(words);
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
  expect(problems).toEqual([]);
  await page.context().close();
});

test('runs are exported too: the chart of several with their names, one as CSV and as a log that opens again with the same numbers', async () => {
  const { page, problems } = await visitStill(browser, { worker: 'fake', hash: RUN });
  await train(page, 12);
  await pause(page);
  const points = await settled(async () => (await read(page)).points); // what was on its way has come
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
  await page.getByLabel('Files of runs').setInputFiles({ name: 'run-1.jsonl', mimeType: '', buffer: Buffer.from(log) });
  await page.locator('.overlay .run-line[data-run="2"]').waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test.each([
  ['dark', undefined],
  ['light', PHONE],
] as const)('the enlarged curve is accessible: %s', async (colorScheme, viewport) => {
  const { page } = await visitStill(browser, {
    worker: 'fake',
    hash: RUN,
    colorScheme,
    ...(viewport && { viewport }),
  });
  await train(page, 8);
  if (viewport) await page.getByRole('button', { name: 'Curves', exact: true }).click();
  await enlarge(page, 'Training success');
  await page.getByRole('dialog').locator('.line-chart .smooth').first().waitFor();
  expect(await axe(page)).toEqual([]);
  if (viewport) {
    await expect.poll(() => tooSmall(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(viewport.width);
  }
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.context().close();
});
