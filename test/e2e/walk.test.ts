import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SCREEN_LIST } from '../../src/page/address/screens.ts';
import {
  axe,
  axeInBothThemes,
  DESKTOP,
  framesLater,
  launch,
  PHONE,
  stepped,
  tooSmall,
  turnTo,
  visitStill,
} from './lab.ts';
import { CHANGED, clearChanges, markChanges, misfits, noteChanges } from './misfits.ts';
import { leave, type Place, reach, RECORDING, SCREENS_TO_WALK, toTab } from './places.ts';
import { isWeekly } from '../weekly.ts';
import { wideFont } from './wideFont.ts';

// the least model: what is looked at is the page
const RUN =
  '#/lab?backend=cpu&prompts=4&groupSize=4&evalEvery=2&evalTasks=8&seed=7&layers=1&width=16&heads=2&kvHeads=2&ffn=16&warmStart=none';
const LOW_DESK = { width: 1280, height: 720 };
const ZOOMED = { width: 720, height: 450 }; // a desk of 1440 × 900 at 200 %
// rules of axe that ask about the whole page, not about a part of it
const OF_THE_PAGE = ['bypass', 'document-title', 'html-has-lang', 'html-lang-valid', 'meta-viewport'];
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

/** What does not fit once the charts, which are drawn a moment after the window has changed, have been. */
async function lasting(page: Page): Promise<readonly string[]> {
  let found = await misfits(page);
  for (let again = 0; again < 10 && found.length > 0; again++) {
    await framesLater(page, 20);
    found = await misfits(page);
  }
  return found;
}

/**
 * Opens a place on a desk and judges it there and on a phone; weekly on a low desk and at 200 %, too. What was judged before it is not judged
 * again. Colours are half of axe's time: they are judged in the theme that the page is in, which changes from screen to screen, and weekly
 * in both.
 */
async function judge(page: Page, { name, open, tab }: Place): Promise<Readonly<Record<string, readonly string[]>>> {
  const found: Record<string, readonly string[]> = {};
  const note = (where: string, what: readonly string[]) => {
    if (what.length > 0) found[`${name}, ${where}`] = what;
  };
  await open(page);
  // late code may take the place of all that was marked before axe looks at it
  while ((await markChanges(page)) && found[`${name}, axe`] === undefined) {
    note('axe', await (isWeekly ? axeInBothThemes(page, CHANGED) : axe(page, undefined, CHANGED)));
    if ((await page.locator(CHANGED).count()) > 0) break;
  }
  note('too small', await tooSmall(page, 24));
  note('on a desk', await lasting(page));
  // people have other fonts: what fits in the wide one fits in the page's own. It comes before a change of the window, as charts
  // measure their names then
  if (isWeekly) {
    await wideFont(page, true);
    await page.setViewportSize(LOW_DESK);
    note('on a low desk, wide font', await lasting(page));
    await page.setViewportSize(ZOOMED);
    if (tab) await toTab(page, tab);
    await markChanges(page); // a phone has parts of its own
    note('at 200 %, wide font', await lasting(page));
    await wideFont(page, false);
  }
  await page.setViewportSize(PHONE);
  if (!isWeekly && tab) await toTab(page, tab);
  // what a phone has of its own is the frame around all places
  if ((await markChanges(page)) && (isWeekly || name === RECORDING.name))
    note('axe on a phone', await axe(page, undefined, CHANGED));
  note('too small on a phone', await tooSmall(page));
  note('on a phone', await lasting(page));
  await page.setViewportSize(DESKTOP);
  await clearChanges(page);
  return found;
}

test('every screen and what opens on it, reached by keys, on a desk and a phone: nothing serious for axe, cut off, covered, small or without a visible focus; nothing moves', async () => {
  const { page, problems } = await visitStill(browser, { hash: RUN, hasTouch: true });
  await noteChanges(page);
  const found: Record<string, readonly string[]> = await judge(page, RECORDING);
  await stepped(page, 2);
  for (const [nth, [route]] of SCREEN_LIST.entries()) {
    await leave(page);
    await turnTo(page, nth % 2 === 0 ? 'dark' : 'light');
    await reach(page, route);
    found[`${route}, the page`] = await axe(page, OF_THE_PAGE);
    for (const place of SCREENS_TO_WALK[route].places) {
      await leave(page);
      Object.assign(found, await judge(page, place));
    }
  }
  expect(Object.entries(found).filter(([, what]) => what.length > 0)).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
}, 1_200_000); // a minute on an idle machine of two cores, above ten on one with thirty other programs
