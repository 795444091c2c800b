import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launch, read, visit } from '../../test/e2e/lab.ts';
import { longestTask, noted, report, rounded, watch } from './watched.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

// 64 rollouts of 1,000 tokens, see test/ui/longText.ts
const LONG = '#/lab?v=1&seed=64000&updates=1000&language=text&env=calculator';
/** Aims for the longest task of what a reader does, in ms of processor time: software that draws pixels lengthens it by the clock. */
const INPUT_MS = 100;
const TASK_MS = 200;
/** Of another channel, which draws every token anew, turn by turn: 74 to 93 ms where nothing else computes. */
const CHANNEL_MS = 150;
const TRACED = { categories: ['disabled-by-default-devtools.timeline', '__metadata'] };

interface Point {
  readonly x: number;
  readonly y: number;
}
type Act = (n: number) => Promise<void>;

/** Middles of what a selector names and a pointer reaches. Looked for before anything is measured: the search is none of the page's work. */
const places = (page: Page, selector: string): Promise<Point[]> =>
  page.evaluate(
    (wanted) =>
      [...document.querySelectorAll(wanted)].flatMap((part) => {
        const { top, bottom, left, right } = part.getBoundingClientRect();
        const [x, y] = [(left + right) / 2, (top + bottom) / 2];
        return part.contains(document.elementFromPoint(x, y)) ? [{ x, y }] : [];
      }),
    selector,
  );

const clicked = (page: Page, points: readonly Point[], n: number) => {
  const at = points[n % points.length];
  if (!at) throw new Error('nothing to click is in view');
  return page.mouse.click(at.x, at.y);
};

/** What a reader does, again and again. */
const DEEDS: Readonly<Record<string, (page: Page) => Promise<Act>>> = {
  'another rollout by key': (page) => Promise.resolve((n) => page.keyboard.press(n % 4 < 3 ? 'j' : 'k')),
  'a token by click': async (page) => {
    const points = await places(page, '.trajectory .token');
    expect(points.length).toBeGreaterThan(30);
    return (n) => clicked(page, points, n * 7);
  },
  'the next token by key': (page) => Promise.resolve(() => page.keyboard.press('ArrowRight')),
  scrolling: async (page) => {
    const box = await page.locator('.trajectory .turns').boundingBox();
    if (box) await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    return (n) => page.mouse.wheel(0, n % 12 < 8 ? 240 : -400);
  },
  'another channel': async (page) => {
    const points = await places(page, '.channels button');
    expect(points.length).toBeGreaterThan(5);
    return (n) => clicked(page, points, n);
  },
};

test.each([
  ['still', false],
  ['while batches of the same size come in', true],
] as const)(
  '64 rollouts of 1,000 tokens, %s: the longest task of what a reader does, and the time from input to paint',
  async (_, running) => {
    const { page, problems } = await visit(browser, { worker: 'fake', hash: LONG });
    await page.getByRole('button', { name: 'Run training' }).click();
    await page.waitForFunction(() => (window.__playground?.snapshot().update ?? 0) >= 2);
    if (!running) await page.keyboard.press(' ');
    expect((await read(page)).batch).toMatchObject({ rows: 64 });
    await expect.poll(() => page.locator('.trajectory .token').count()).toBeGreaterThan(500);
    await watch(page);
    for (const [deed, prepare] of Object.entries(DEEDS)) {
      const act = await prepare(page);
      const paints: number[] = [];
      const tasks: number[] = [];
      await browser.startTracing(page, TRACED);
      // other work on the machine lengthens times by the clock: of two stretches the calmer counts
      for (let stretch = 0; stretch < 2; stretch++) {
        for (let n = 0; n < 12; n++) {
          await act(n);
          await page.waitForTimeout(80);
        }
        const { task, paint, inputs } = await noted(page);
        expect(inputs, deed).toBeGreaterThanOrEqual(10);
        paints.push(paint);
        tasks.push(task);
      }
      const processor = longestTask(await browser.stopTracing());
      const still = deed === 'another channel' ? CHANNEL_MS : INPUT_MS;
      report(`${deed}${running ? ', running' : ''}, longest task`, processor, running ? TASK_MS : still);
      console.log(`  by the clock ${rounded(tasks)} ms, input to paint (95 %) ${rounded(paints)} ms`);
    }
    expect(problems).toEqual([]);
    await page.context().close();
  },
  240_000,
);
