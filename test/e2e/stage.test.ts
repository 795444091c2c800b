import type { Browser, BrowserContextOptions, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { STEP_MS } from '../../src/page/stage/stageStore.ts';
import { firstRows, leaveToWeekly } from '../weekly.ts';
import { axeInBothThemes, DESKTOP, launch, openUsed, PHONE, read, settled, tooSmall, PATIENCE_MS } from './lab.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

/** Small enough to be trained while a test waits. */
const SMALL = 'prompts=4&groupSize=4&evalTasks=4&backend=cpu&updates=3';
const MOST_WORDS = 60;

interface Visit extends BrowserContextOptions {
  readonly begun?: boolean; // the play stands still at its beginning, for as long as it takes to look
}

/** A first visit, or one by an address. */
async function arrive(hash = '', { begun = false, ...options }: Visit = {}): Promise<Page> {
  // what runs before the page's own scripts needs a page of its own
  const page = begun
    ? await browser.newPage({ viewport: DESKTOP, serviceWorkers: 'block' })
    : (await openUsed(browser, options)).page;
  page.setDefaultTimeout(PATIENCE_MS);
  if (begun) await page.addInitScript(holdPlays, STEP_MS);
  await page.goto(inject('baseURL') + hash);
  await page.getByRole('button', { name: 'Beat the agent' }).waitFor();
  await page.waitForFunction(() => window.__playground !== undefined); // from here on keys are heard
  return page;
}

/** Has no step of a play come. Runs in the page, before its own scripts. */
function holdPlays(steps: typeof STEP_MS): void {
  const usual = window.setTimeout;
  const later = (...[act, ms, ...given]: Parameters<typeof usual>) =>
    ms === steps.first || ms === steps.later ? 0 : usual(act, ms, ...given);
  Object.assign(window, { setTimeout: later });
}

/**
 * Lets the play run until both boards have ended, and pauses it there, before the next task comes; how often what the trained agent
 * wrote was another. Watched and paused within the page: the end of a play is passed by in seconds.
 */
const playedOut = (page: Page) =>
  page.evaluate(async () => {
    const seen = new Set<string>();
    for (;;) {
      const [before, after] = ['before', 'after'].map((side) => document.querySelector(`.board[data-side="${side}"]`));
      seen.add(after?.querySelector('.token-line')?.textContent ?? '');
      if ([before, after].every((side) => side?.getAttribute('data-over') === 'true')) break;
      await new Promise(requestAnimationFrame);
    }
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: ' ', bubbles: true, cancelable: true }));
    return seen.size;
  });

const board = (page: Page, side: 'before' | 'after') => page.locator(`.board[data-side="${side}"]`);
const tokens = (page: Page, side: 'before' | 'after') => board(page, side).locator('.token-line').innerText();
const solved = (page: Page, side: 'before' | 'after') => board(page, side).getAttribute('data-solved');

describe('a first visit', () => {
  let page: Page;
  afterAll(() => page.context().close());

  test('a first visit shows an agent before and after training at the same task; within ten seconds one has solved it and the other has not', async () => {
    page = await arrive(); // here, so that a second try sees a play from its beginning
    expect(await playedOut(page)).toBeGreaterThan(3);
    await board(page, 'before').locator('.guess').first().waitFor();
    await page.locator('.board[data-side="after"][data-solved="true"]').waitFor();
    // told by its steps, a token each: a busy machine's clock says nothing of the page
    expect((await board(page, 'after').locator('.token').count()) * STEP_MS.first).toBeLessThan(10_000);
    await page.locator('.board[data-side="before"][data-over="true"]').waitFor();
    expect(await solved(page, 'before')).toBe('false');
    const hidden = (side: 'before' | 'after') => board(page, side).locator('.target-tick').textContent();
    expect(await hidden('before')).toBe(await hidden('after'));
    await page
      .getByRole('status')
      .getByText(/not solved\..* 160 .* solved in \d/)
      .waitFor({ state: 'attached' });
    // what the tool wrote is hatched: the loss leaves it out
    const trained = await board(page, 'after').locator('.token').evaluateAll((all) => all.map((e) => [e.dataset['kind'], e.dataset['loss']].join(' '))); // prettier-ignore
    expect(new Set(trained)).toEqual(new Set(['call true', 'observation false']));
  });

  test(`before anything is pressed there are at most ${MOST_WORDS} words to read, drawings and rollouts apart`, async () => {
    const words = await page.evaluate(() => {
      const copy = [...document.querySelectorAll<HTMLElement>('.lab > *')].flatMap((part) => {
        const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
        const texts: string[] = [];
        while (walker.nextNode()) {
          const parent = walker.currentNode.parentElement;
          if (!parent?.checkVisibility({ visibilityProperty: true })) continue;
          if (parent.closest('svg, .token-line, .visually-hidden')) continue;
          texts.push(walker.currentNode.textContent ?? '');
        }
        return texts;
      });
      return copy.join(' ').split(/\s+/).filter((word) => /\p{L}/u.test(word)); // prettier-ignore
    });
    expect(words.length).toBeGreaterThan(20);
    expect(words.length, words.join(' ')).toBeLessThanOrEqual(MOST_WORDS);
    expect(await axeInBothThemes(page)).toEqual([]);
  });
});

/** Waits until both agents' boards are within a window of this height, one above the other, each with a drawing to look at. */
async function bothInSight(page: Page, height: number): Promise<void> {
  const boxes = () =>
    Promise.all((['before', 'after'] as const).map((side) => settled(() => board(page, side).boundingBox())));
  const [before, after] = await boxes();
  if (!before || !after) throw new Error('a board is not drawn');
  expect(after.x).toBe(before.x);
  expect(after.y).toBeGreaterThanOrEqual(before.y + before.height);
  expect(after.y + after.height).toBeLessThanOrEqual(height);
  for (const side of ['before', 'after'] as const) {
    const drawing = await board(page, side).locator('.env-svg').boundingBox();
    expect(drawing?.height, side).toBeGreaterThan(60);
  }
}

describe('a first visit without motion', () => {
  let page: Page;
  beforeAll(async () => {
    page = await arrive('', { reducedMotion: 'reduce' });
  });
  afterAll(() => page.context().close());

  test('without motion a press takes the play a step further', async () => {
    const next = page.getByRole('button', { name: 'Next step' });
    await expect.poll(() => next.innerText()).toBe('Next step');
    const shown = () => board(page, 'after').locator('.token').count();
    const over = () => board(page, 'after').getAttribute('data-over');
    for (let step = 1; (await over()) !== 'true'; step++) {
      await next.click();
      await expect.poll(shown).toBe(step);
    }
    expect(await shown()).toBeGreaterThan(2);
    await expect.poll(() => solved(page, 'after')).toBe('true');
  });

  test.each(
    firstRows(
      [
        [844, 390],
        [720, 450],
      ],
      1,
    ),
  )('in a low window, %i × %i, both boards, the curve and the three buttons are in sight', async (width, height) => {
    await page.setViewportSize({ width, height });
    for (const part of [
      '.board[data-side="before"]',
      '.board[data-side="after"]',
      '.learning-curve',
      '.duel-buttons',
    ]) {
      const box = await settled(() => page.locator(part).boundingBox());
      expect(box?.height, part).toBeGreaterThan(40);
      expect((box?.y ?? NaN) + (box?.height ?? NaN), part).toBeLessThanOrEqual(height);
    }
    const drawing = board(page, 'after').locator('.env-svg');
    await expect.poll(async () => (await drawing.boundingBox())?.height).toBeGreaterThan(60);
  });

  test('on a phone both boards, one above the other, the curve and the three buttons are in sight at once', async () => {
    await page.setViewportSize(PHONE);
    await board(page, 'after').locator('.env-svg').waitFor();
    const sizes = () =>
      page.evaluate(() => {
        const main = document.querySelector('.duel');
        const { scrollWidth, scrollHeight } = document.documentElement;
        return { scrollWidth, scrollHeight, hidden: (main?.scrollHeight ?? NaN) - (main?.clientHeight ?? NaN) };
      });
    await expect.poll(sizes).toEqual({ scrollWidth: PHONE.width, scrollHeight: PHONE.height, hidden: 0 });
    expect(await tooSmall(page)).toEqual([]);
    await bothInSight(page, PHONE.height);
    const button = await page.getByRole('button', { name: 'Open the lab' }).boundingBox();
    expect(button?.y).toBeGreaterThan(PHONE.height * 0.75);
    await page.setViewportSize(DESKTOP);
  });

  test('Beat the agent: the board of whoever won the round glows, and no other: where both solve it, that of fewer turns', async () => {
    await page.getByRole('button', { name: 'Beat the agent' }).click();
    const pad = page.getByRole('group', { name: 'Your next choice' });
    await pad.getByRole('button', { name: '3', exact: true }).click(); // the first round hides a 3
    await page
      .getByTestId('tally')
      .getByText(/solved in 1 .* solved in 4 /)
      .waitFor();
    await expect.poll(() => Promise.all([solved(page, 'before'), solved(page, 'after')])).toEqual(['true', 'true']);
    const glows = (side: 'before' | 'after') => board(page, side).getAttribute('data-glows');
    await expect.poll(() => Promise.all([glows('before'), glows('after')])).toEqual(['true', 'false']);
  });

  test('Beat the agent: a press is a guess, the hidden number stays hidden until the end, then the agent plays it and the round counts', async () => {
    await page.getByRole('button', { name: 'Next round' }).click();
    const pad = page.getByRole('group', { name: 'Your next choice' });
    await page.locator('.contest-board .env-svg').waitFor();
    for (let turn = 1; turn <= 4; turn++) {
      await page.getByText(`turn ${turn} of 4`).waitFor();
      expect(await page.locator('.target-line').count()).toBe(0);
      await pad.getByRole('button', { name: '14', exact: true }).click(); // in none of these tasks it is 14
      await page.locator('.contest-board .guess').nth(turn - 1).waitFor(); // prettier-ignore
    }
    await board(page, 'after').locator('.board-outcome').getByText(/solved/).waitFor(); // prettier-ignore
    await expect.poll(() => page.locator('.contest-board .target-line').count()).toBe(1);
    await expect.poll(() => page.getByTestId('tally').innerText()).toMatch(/\b2\b.*\b1\s*:\s*[01]\b/s);
    await page.getByRole('button', { name: 'Next round' }).click();
    await page.getByText('turn 1 of 4').waitFor();
    await page.getByRole('button', { name: 'Back' }).click();
    await page.getByRole('slider', { name: 'Drag through training' }).waitFor();
  });

  test('the curve is a slider through training: keys and the pointer bring the agent of an update, and the board follows', async () => {
    const slider = page.getByRole('slider', { name: 'Drag through training' });
    const at = async () => Number(await slider.getAttribute('aria-valuenow'));
    await expect.poll(at).toBe(160);
    await slider.press('Home');
    await expect.poll(() => slider.getAttribute('aria-valuetext')).toBe('Before training');
    const untrained = await tokens(page, 'before');
    await expect.poll(() => tokens(page, 'after')).toBe(untrained);
    await slider.press('End');
    await expect.poll(() => tokens(page, 'after')).not.toBe(untrained);
    // both axes say what they are of
    const titles = await slider.locator('svg text').allTextContents();
    expect(titles).toEqual(expect.arrayContaining(['Training success', 'update 0', 'update 160']));
    const box = await settled(() => slider.boundingBox());
    if (!box) throw new Error('the curve is not drawn');
    await page.mouse.move(box.x + box.width - 10, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y + 20);
    // the page hears of the pointer with its next frame
    const half = async () => Math.abs((await at()) - 80);
    await expect.poll(half).toBeLessThan(30);
    await page.mouse.move(box.x + 45, box.y + 20);
    await page.mouse.up();
    await expect.poll(at).toBeLessThan(8);
    await expect.poll(() => solved(page, 'after')).toBe('false');
    // the lab opens at the recorded update nearest to it
    await page.getByRole('button', { name: 'Open the lab' }).click();
    await page.getByRole('button', { name: 'Run training' }).waitFor();
    await expect.poll(async () => (await read(page)).batch).toMatchObject({ update: 1, isExample: true });
  });

  test('the sign in the header leads back to the start screen', async () => {
    await page.getByRole('link', { name: 'Rollout Playground' }).click();
    await page.getByRole('button', { name: 'Train your own' }).waitFor();
  });

  test('the tab’s title names the screen that is shown, and in Learn the chapter', async () => {
    const titles = [await page.title()];
    // of every screen: test/ui/pageTitle.test.ts
    for (const [hash, title] of [
      ['#/group', 'Lab · Group'],
      ['#/learn/clip', 'Learn · Chapters · The clip'],
    ] as const) {
      await page.evaluate((to) => location.assign(to), hash);
      await page.waitForFunction((shown) => document.title.startsWith(shown), title);
      titles.push(await page.title());
    }
    expect(new Set(titles).size).toBe(3);
  });
});

test('Train your own: the right board becomes the run’s, the curve grows before the recorded one, and the end says what it came to', async () => {
  const page = await arrive(`#/stage?${SMALL}`);
  await page.getByRole('button', { name: 'Train your own' }).click();
  await page.getByRole('heading', { name: /^Yours, after [1-3] updates?$/ }).waitFor();
  await page.locator('b', { hasText: /: .+ → .+ 3 updates/ }).waitFor(); // screen readers are told it in a sentence of their own
  // the recorded run has seed 7: with the same one the reader's curve would retrace it
  await page.waitForURL(/seed=8/);
  const drawn = page.locator('.learning-curve');
  await expect.poll(async () => (await drawn.locator('.so-far').getAttribute('d'))?.split('L').length).toBe(3);
  await expect.poll(async () => (await drawn.locator('.ahead').first().getAttribute('d'))?.split('L').length).toBe(160);
  await page.getByRole('button', { name: 'Open the lab' }).click();
  await page.getByRole('button', { name: 'Run training' }).waitFor();
  await expect.poll(() => read(page)).toMatchObject({ update: 3, finished: true, batch: { isExample: false } });
  await expect.poll(() => page.url()).toContain('updates=3');
  // who comes back by the bare address gets the lab
  const again = await page.context().newPage();
  await again.goto(inject('baseURL'));
  await again.locator('.lab[data-screen="lab"]').waitFor();
  await expect.poll(() => new URL(again.url()).hash).toContain('updates=3');
  await page.context().close();
});

test('Space pauses what plays', async () => {
  const page = await arrive('', { begun: true });
  await page.getByRole('button', { name: 'Pause the play' }).waitFor();
  await page.locator('.duel-headline').click();
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
  await page.context().close();
});

test('as a panel in a frame, wide or narrow, it shows both agents before anything is pressed, and nothing has to be scrolled', async () => {
  const page = await arrive('?embed=stage', { viewport: { width: 900, height: 640 }, reducedMotion: 'reduce' });
  const beyond = () =>
    page.evaluate(() => {
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = document.documentElement;
      return [scrollWidth - clientWidth, scrollHeight - clientHeight];
    });
  await board(page, 'before').locator('.env-svg').waitFor();
  await expect.poll(() => page.locator('.board').count()).toBe(2);
  await page.getByRole('button', { name: 'Train your own' }).waitFor();
  expect(await page.getByRole('button', { name: 'Open the lab' }).count()).toBe(0);
  await expect.poll(beyond).toEqual([0, 0]);
  await page.setViewportSize({ width: 390, height: 640 });
  await bothInSight(page, 640);
  await expect.poll(beyond).toEqual([0, 0]);
  await page.setViewportSize({ width: 340, height: 420 });
  await bothInSight(page, 420);
  await page.context().close();
});

test('after a reload the first screen offers to resume the run that trained there, and a press trains on', async (current) => {
  leaveToWeekly(current, 'a run resumed in the lab (e2e/resume)');
  const page = await arrive(`#/stage?${SMALL.replace('updates=3', 'updates=100000')}`, { reducedMotion: 'reduce' });
  await page.getByRole('button', { name: 'Train your own' }).click();
  await expect.poll(async () => (await read(page)).saved).toBeGreaterThan(2);
  await page.reload();
  const button = page.getByRole('button', { name: /^Resume update \d+$/ });
  const saved = Number(/\d+$/.exec(await button.innerText())?.[0]);
  expect(saved).toBeGreaterThan(0);
  await button.click();
  await page.getByRole('heading', { name: /^Yours, after \d+ updates$/ }).waitFor();
  await expect.poll(async () => (await read(page)).update).toBeGreaterThan(saved + 2);
  expect(await page.getByTestId('resume').count()).toBe(0);
  await page.context().close();
});

test('another preset brings its own boards and curve; one whose recording shows no difference has one board', async () => {
  const page = await arrive('#/stage?preset=frozen-lake', { reducedMotion: 'reduce' });
  await page.locator('.board[data-side="after"] .walker').waitFor();
  await expect.poll(() => page.locator('.board').count()).toBe(2);
  await page.evaluate(() => location.assign('#/stage?preset=smollm2-search'));
  await expect.poll(() => page.locator('.board').count()).toBe(1);
  await page.getByRole('link', { name: 'Train your own' }).waitFor();
  await page.context().close();
});

test('a link and a frame show the task and the agent of the duel in view, and so does the card of a clip', async (current) => {
  leaveToWeekly(current, 'addresses of the start screen (ui/sharedLinks, ui/share)');
  const page = await arrive('', { reducedMotion: 'reduce' });
  const curve = page.getByRole('slider', { name: 'Drag through training' });
  await curve.focus();
  for (let presses = 0; presses < 3; presses++) await page.keyboard.press('ArrowLeft');
  const update = Number(await curve.getAttribute('aria-valuenow'));
  expect(update).toBeLessThan(160);
  const written = await tokens(page, 'after');
  await page.keyboard.press('s');
  const dialog = page.getByRole('dialog', { name: 'Share' });
  const link = await dialog.getByLabel('Link').inputValue();
  expect(link).toContain(`#/stage/1/${update}?`);
  await dialog.getByRole('button', { name: 'Embed', exact: true }).click();
  expect(await dialog.getByLabel('Code').inputValue()).toContain(`?embed=stage#/stage/1/${update}?`);

  await dialog.getByRole('button', { name: 'Clip', exact: true }).click();
  const card = dialog.locator('.share-card');
  await expect.poll(() => card.locator('.card-side').allTextContents()).toEqual(['Before training', `After ${update} updates`]); // prettier-ignore
  await expect.poll(() => card.locator('svg .guess').count()).toBeGreaterThan(3);
  await dialog.getByRole('button', { name: 'Film both agents' }).waitFor();

  for (const hash of [link.slice(link.indexOf('#')), `?embed=stage#/stage/1/${update}`]) {
    const other = await page.context().newPage();
    await other.goto(inject('baseURL') + hash);
    await other.getByRole('heading', { name: `After ${update} updates` }).waitFor();
    await expect
      .poll(async () => {
        const next = other.getByRole('button', { name: 'Next step' });
        if ((await next.count()) > 0) await next.click();
        return tokens(other, 'after');
      })
      .toBe(written);
    await other.close();
  }
  await page.context().close();
});
