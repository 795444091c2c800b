import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { ListedRoute } from '../../src/page/address/screens.ts';
import { firstRows } from '../weekly.ts';
import { DESKTOP, framesLater, launch, PHONE, stepped, toScreen, visitStill } from './lab.ts';
import { SCREENS_TO_WALK } from './places.ts';

/** The least of each shape first. */
const SIZES = firstRows(
  [
    { width: 1280, height: 600 },
    { width: 390, height: 600 },
    { width: 720, height: 450 }, // a desk of 1440 × 900 at 200 %
    { width: 1000, height: 600 },
    { width: 1024, height: 768 },
    { width: 1280, height: 720 },
    DESKTOP,
    PHONE,
  ],
  3,
);
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

/** What must have room to be read, in pixels of height. */
const ROOM = {
  learn: [
    ['.learn', 220],
    ['.learn-stage', 150],
  ],
  lab: [
    ['.stage', 270],
    ['.trajectory', 300],
  ],
} as const;

async function open(page: Page, screen: ListedRoute, query = ''): Promise<void> {
  await page.goto(`${inject('baseURL')}#/${screen}${query}`);
  await page.locator(`.lab[data-screen="${screen}"] main:not([aria-busy])`).waitFor();
  await page.locator(SCREENS_TO_WALK[screen].loaded).first().waitFor({ state: 'attached' });
}

/** What is not where it belongs: header, Run or navigation out of sight, or anything scrolled that is no panel. */
function misplaced(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    for (const always of ['.header', '.run', '.screens', '.views', '.tabs']) {
      const part = document.querySelector(always);
      if (!part?.checkVisibility()) continue;
      const { top, left, bottom, right } = part.getBoundingClientRect();
      if (top < 0 || left < 0 || bottom > innerHeight || right > innerWidth) found.push(`${always} is out of sight`);
    }
    for (const box of document.querySelectorAll('*')) {
      if (box.scrollTop === 0 && box.scrollLeft === 0) continue;
      const { overflowX, overflowY } = getComputedStyle(box);
      const scrolls = /auto|scroll/.test(`${overflowX} ${overflowY}`) && box !== document.documentElement;
      if (!scrolls) {
        found.push(`${box.tagName}.${box.className} is scrolled by ${box.scrollLeft}, ${box.scrollTop}`);
      }
    }
    return found;
  });
}

// that they stay in sight wherever the focus goes, at other sizes and on every screen: test/e2e/walk.test.ts
test('at all sizes header, Run and navigation are in sight in Learn and the lab; chapter, rollout and controls have room to be read', async () => {
  const { page } = await visitStill(browser);
  for (const [screen, parts] of Object.entries(ROOM)) {
    await open(page, screen as ListedRoute);
    for (const size of SIZES) {
      await page.setViewportSize(size);
      for (const [part, least] of parts) {
        const height = async () => (await page.locator(part).boundingBox())?.height ?? 0;
        const message = `${part} of ${size.width} × ${size.height}`;
        await expect.poll(height, { message, interval: 20 }).toBeGreaterThanOrEqual(least);
      }
      await expect.poll(() => misplaced(page), { interval: 20 }).toEqual([]);
    }
    await page.setViewportSize(DESKTOP);
  }
  await page.context().close();
});

/** Tokens of the rollout that are whole in sight, of how many, and whether all of the board is. */
function inSight(page: Page): Promise<{ readonly tokens: number; readonly of: number; readonly board: boolean }> {
  return page.evaluate(() => {
    const shown = (part: Element) => {
      for (let box: Element | null = part; box; box = box.parentElement) {
        const edge = box.getBoundingClientRect();
        const clips = /auto|scroll|hidden|clip/.test(getComputedStyle(box).overflowY);
        if (clips && part.getBoundingClientRect().bottom > edge.bottom + 1) return false;
      }
      return part.getBoundingClientRect().bottom <= innerHeight;
    };
    const tokens = [...document.querySelectorAll('.trajectory .token')];
    const board = document.querySelector('.env .env-svg');
    return { tokens: tokens.filter(shown).length, of: tokens.length, board: board !== null && shown(board) };
  });
}

// how much is folded is decided as the page opens
test.each(
  firstRows(
    [
      [
        { width: 1280, height: 720, least: 15 },
        { width: 1366, height: 768, least: Infinity },
      ],
      [{ ...DESKTOP, least: Infinity }],
    ],
    1,
  ),
)(
  'at $width × $height the whole board is in sight, and $least or all of a rollout’s twenty tokens and more: of the recording, and once it trains',
  async (...sizes) => {
    const [{ width, height }] = sizes;
    const { page } = await visitStill(browser, {
      viewport: { width, height },
      hash: '#/lab?seed=7&prompts=2&groupSize=4&evalTasks=4&backend=cpu',
    });
    await page.getByRole('button', { name: /tokens shown · show all/ }).click();
    const enough = async (least: number) => {
      const seen = await inSight(page);
      expect(seen.of).toBeGreaterThanOrEqual(20);
      expect(seen.board).toBe(true);
      expect(seen.tokens).toBeGreaterThanOrEqual(Math.min(least, seen.of));
    };
    for (const trained of [false, true]) {
      if (trained) await stepped(page, 1);
      for (const { least, ...viewport } of trained ? sizes.toReversed() : sizes) {
        await page.setViewportSize(viewport);
        await expect.poll(() => enough(least).then(() => 'enough', String)).toBe('enough');
      }
    }
    await page.context().close();
  },
);

test('on a phone the whole board is in sight as the page opens, Share is in the header and in the sheet of keys', async () => {
  const { page } = await visitStill(browser, { viewport: PHONE, hash: '#/lab', hasTouch: true });
  await expect.poll(async () => (await inSight(page)).board).toBe(true);
  await page.getByRole('button', { name: 'Share', exact: true }).tap();
  await page.getByRole('dialog', { name: 'Share' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Keyboard help' }).click();
  const help = page.getByRole('dialog', { name: 'What a finger does' });
  await help.getByText('A word of the rollout').waitFor();
  expect(await help.locator('kbd').filter({ visible: true }).count()).toBe(0);
  await help.getByText('Keys of a keyboard').click();
  await help.getByText('run, pause').waitFor();
  await page.getByRole('button', { name: 'Share this page…' }).click();
  await page.getByRole('dialog', { name: 'Share' }).getByLabel('Link').waitFor();
  await page.context().close();
});

test('the controls and the curves fold to a line with the numbers of the update in view, a reload remembers it, and what was folded opens again', async () => {
  const { page } = await visitStill(browser, { hash: '#/lab' });
  const width = async () => (await page.locator('.trajectory').boundingBox())?.width ?? 0;
  const height = async () => (await page.locator('.trajectory').boundingBox())?.height ?? 0;
  // curves take their room as they are drawn; where there is none, it says why
  await page.waitForFunction(() => {
    const plots = [...document.querySelectorAll('.charts .plot')];
    return plots.length > 0 && plots.every((plot) => plot.querySelector('svg') ?? plot.textContent);
  });
  await framesLater(page, 3);
  const [wide, tall] = [await width(), await height()];
  const numbers = await page.locator('.charts').getByTestId('read').locator('b').allTextContents();
  expect(numbers.filter((number) => /\d/.test(number)).length).toBeGreaterThan(3);
  await page.getByRole('button', { name: 'Fold the controls away' }).click();
  await page.getByRole('button', { name: 'Fold the curves to a line' }).click();
  await expect.poll(() => page.locator('.curve-strip li b').allTextContents()).toEqual(numbers);
  await expect.poll(width).toBeGreaterThan(wide + 200);
  await expect.poll(height).toBeGreaterThan(tall + 80);
  await page.reload();
  await page.getByRole('button', { name: 'Show the controls' }).click();
  await page.getByRole('button', { name: 'Curves', exact: true }).click();
  await expect.poll(width).toBe(wide);
  await expect.poll(height).toBe(tall);
  await page.context().close();
});

// that it is read wherever it is dropped: browser/facts
test('a CSV file dropped on a screen is read, shown in the lab, and moves nothing out of sight', async () => {
  const { page, problems } = await visitStill(browser);
  const places = [
    ['lab', { width: 720, height: 450 }],
    ['learn', { width: 720, height: 450 }],
    ['rollouts', DESKTOP],
  ] as const;
  for (const [i, [screen, viewport]] of firstRows(places, 1).entries()) {
    await page.setViewportSize(viewport);
    await open(page, screen);
    await page.evaluate((name) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['a,to,b\nb,to,c'], name));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    }, `dropped-${i}.csv`);
    await page.getByTestId('facts-loaded').getByText(`dropped-${i}.csv`).waitFor();
    await expect
      .poll(() =>
        page.getByTestId('your-facts').evaluate((panel) => {
          const { top, bottom } = panel.getBoundingClientRect();
          return bottom > 60 && top < innerHeight;
        }),
      )
      .toBe(true);
    await expect.poll(() => misplaced(page), { message: screen }).toEqual([]);
  }
  expect(problems).toEqual([]);
  await page.context().close();
});

test('what an address asks for and does not get is told on each kind of screen, and stays told from one to the next', async () => {
  const { page } = await visitStill(browser);
  const own = {
    experiments: /^seed: isn’t part of an experiment/,
    rollouts: /^seed: isn’t part of this address/,
    environment: /^seed: isn’t part of this screen/,
  };
  // in one page: what each asks for has a name of its own
  for (const [i, screen] of (['lab', 'experiments', 'rollouts', 'environment'] as const).entries()) {
    await open(page, screen, `?seed=0x1${i}&nothing${i}=1`);
    await page
      .getByText(Object.entries(own).find(([name]) => name === screen)?.[1] ?? `seed: 0x1${i} isn’t possible`)
      .waitFor();
    await page.getByText(new RegExp(`^nothing${i}: (no|isn’t)`)).waitFor();
  }
  await page.goto('about:blank');
  await open(page, 'learn', '?seed=0x10');
  await toScreen(page, 'group');
  const note = page.getByTestId('corrections');
  await note.getByText(/^seed: .*\b0x10\b/).waitFor();
  await note.getByRole('button', { name: 'Dismiss' }).click();
  await note.waitFor({ state: 'detached' });
  // typed by hand while the page is open
  await page.evaluate(() => location.assign('#/profile?gamma=7'));
  await note.getByText(/^gamma: 7 isn’t possible\b.*\b0 to 1\b/).waitFor();
  await page.context().close();
});
