import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reportProblem } from '../../src/domain/adapterReport.ts';
import { launch, train, visitStill } from './lab.ts';
import { leaveToWeekly } from '../weekly.ts';

const RUN = '#/lab?v=1&prompts=4&groupSize=4&evalTasks=4&evalEvery=0&miEvery=0&backend=cpu&updates=100000';
// the least of everything: what takes time is compiling, in software
const TINY_ON_GPU =
  '#/lab?v=1&backend=gpu&env=bandit&prompts=2&groupSize=2&minibatches=1&epochs=1&layers=1&width=8&heads=1&kvHeads=1&ffn=8&critic=none&evalTasks=4&evalEvery=0&miEvery=0&warmStart=none&updates=100000';
const SLOW_MS = 240_000; // a busy machine
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

/** Trains and goes to the profile, the run going on. */
async function profile(page: Page): Promise<void> {
  await train(page, 3);
  await page.getByTestId('backend').getByRole('link').click();
  await page.getByTestId('stages').waitFor();
}

interface Tick {
  readonly at: number;
  readonly update: number;
}

/**
 * The page's own clock and count, read together when the count has just gone up, and once more `updates` later, when the run is paused:
 * all of it in the page, for only so many updates are kept, and the test may be late.
 */
function ticks(page: Page, updates: number): Promise<readonly [Tick, Tick]> {
  return page.evaluate(async (further) => {
    const count = () => window.__playground?.snapshot().update ?? 0;
    const past = async (n: number) => {
      while (count() <= n) await new Promise((resolve) => setTimeout(resolve, 2));
      return { at: performance.now(), update: count() };
    };
    const first = await past(count());
    const last = await past(first.update + further);
    for (const button of document.querySelectorAll('button')) if (button.textContent.trim() === 'Pause') button.click();
    return [first, last] as const;
  }, updates);
}

test('WOW-40: the stages of an update sum to its time within 5 %, by another clock too, labelled CPU without a GPU', async () => {
  const { page, problems } = await visitStill(browser, { hash: RUN, worker: 'unpaced' });
  await profile(page);
  // the trace has single updates; the page's own clock sees when they arrive
  const [first, last] = await ticks(page, 40);
  await page.getByRole('button', { name: 'Run training' }).waitFor();
  await expect.poll(() => page.getByTestId('stage-clock').textContent()).toBe('CPU');
  const foot = page.locator('[data-testid="stages"] tfoot tr');
  const { sum, whole } = await foot.evaluate((e: HTMLElement) => ({
    sum: Number(e.dataset['sum']),
    whole: Number(e.dataset['whole']),
  }));
  expect(sum / whole).toBeGreaterThan(0.95);
  expect(sum / whole).toBeLessThan(1.05);
  // the environment's time is a part of sampling's, and has a row under it
  const part = page.getByTestId('environment-time');
  const msOf = (row: Element) => Number((row as HTMLElement).dataset['ms']);
  const environment = await part.evaluate(msOf);
  expect(environment).toBeGreaterThan(0);
  expect(environment).toBeLessThan(await part.locator('xpath=preceding-sibling::tr[1]').evaluate(msOf));
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download Chrome trace' }).click();
  const trace = JSON.parse(await readFile(await (await download).path(), 'utf8')) as {
    traceEvents: { name: string; ph: string; dur: number; tid: number; args: { update?: number; ms?: number } }[];
  };
  const stages = trace.traceEvents.filter(
    ({ ph, args: { update = 0 } }) => ph === 'X' && update > first.update && update <= last.update,
  );
  const spanned = stages.reduce((all, { dur }) => all + dur, 0) / 1000;
  const elapsed = last.at - first.at;
  // updates are told to the page at most ten times a second: 100 ms at each end are not the stages' fault
  const updates = last.update - first.update;
  expect(new Set(stages.map(({ args }) => args.update)).size).toBe(updates);
  expect(Math.abs(spanned - elapsed)).toBeLessThan(0.05 * elapsed + 200);
  const named = stages.filter(({ name }) => name !== 'other').reduce((all, { dur }) => all + dur, 0) / 1000;
  expect(named / spanned).toBeGreaterThan(0.5);
  expect(problems).toEqual([]);
  await page.context().close();
});

interface KernelEvent {
  readonly name: string;
  readonly ph: string;
  readonly tid: number;
  readonly ts: number;
  readonly dur: number;
  readonly args: { readonly calls: number; readonly flops: number };
}

test('on WebGPU stages wait for the device while the profile is open; kernels have WGSL, limits, memory, a place in the trace and in the report', async (current) => {
  leaveToWeekly(current, 'kernels timed (gpu/profile) and reports read (adapterReport) below the page');
  const gpu = await launch('adapter');
  try {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const { page, problems } = await visitStill(gpu, { hash: TINY_ON_GPU, permissions });
    await train(page, 2, SLOW_MS);
    await page.getByTestId('backend').getByRole('link').click();
    const clock = page.getByTestId('stage-clock');
    await expect.poll(() => clock.textContent(), { timeout: SLOW_MS }).toMatch(/^CPU clock.* GPU$/);
    await page.getByRole('button', { name: 'Measure', exact: true }).click();
    await page.getByText('Adam’s moments').waitFor({ timeout: SLOW_MS });
    await page.getByTestId('kernels').getByRole('button', { name: 'adamw' }).click();
    await expect.poll(() => page.locator('.profile-source').textContent()).toContain('fn main(');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download Chrome trace' }).click();
    const text = await readFile(await (await download).path(), 'utf8');
    const { traceEvents } = JSON.parse(text) as { readonly traceEvents: readonly KernelEvent[] };
    const kernels = traceEvents.filter(({ ph, tid }) => ph === 'X' && tid === 3);
    expect(kernels.find(({ name }) => name === 'adamw')?.args.calls).toBe(1); // one minibatch, one epoch
    const end = kernels.reduce((at, { ts, dur }) => {
      expect(ts).toBeCloseTo(at, 3); // end to end; µs
      return at + dur;
    }, kernels[0]?.ts ?? NaN);
    expect(end).toBeGreaterThan(kernels[0]?.ts ?? Infinity);

    // SwiftShader is a CPU behind WebGPU
    expect(await page.getByTestId('choice').textContent()).toContain('defaultplain');
    await page.getByRole('button', { name: 'Share my adapter' }).click();
    await page.getByText('Copied.').waitFor();
    const report: unknown = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
    expect(reportProblem(report)).toBeNull();
    expect(report).toMatchObject({ writtenBy: 'page', software: true, parts: [{ name: 'run' }, { name: 'kernels' }] });
    expect(problems).toEqual([]);
  } finally {
    await gpu.close();
  }
});
