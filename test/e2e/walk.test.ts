import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SCREEN_LIST } from '../../src/page/address/screens.ts';
import { axe, axeInBothThemes, DESKTOP, framesLater, launch, PHONE, stepped, tooSmall, visitStill } from './lab.ts';
import { misfits } from './misfits.ts';
import { wideFont } from './wideFont.ts';
import { reach, SCREENS_TO_WALK } from './places.ts';

const RUN = '#/lab?backend=cpu&prompts=4&groupSize=4&evalEvery=2&evalTasks=8&seed=7';
const ZOOMED = { width: 720, height: 450 }; // a desk of 1440 × 900 at 200 %
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

test.each([
  ['a desk', DESKTOP, { width: 1280, height: 720 }],
  ['a phone and a desk at 200 %', PHONE, ZOOMED],
] as const)(
  'every screen and what opens on it, reached by keys, on %s: nothing serious for axe, cut off, covered or without a visible focus; nothing moves',
  async (device, viewport, second) => {
    const hasTouch = device !== 'a desk';
    const { page, problems } = await visitStill(browser, { hash: RUN, viewport, hasTouch });
    await stepped(page, 2);
    const found: Record<string, readonly string[]> = {};
    const note = (where: string, what: readonly string[]) => {
      if (what.length > 0) found[where] = what;
    };
    for (const [route] of SCREEN_LIST) {
      for (const { name, open } of SCREENS_TO_WALK[route].places) {
        await reach(page, route);
        await open(page);
        note(`${name}, axe`, await (hasTouch ? axe(page) : axeInBothThemes(page)));
        note(`${name}, too small`, await tooSmall(page, hasTouch ? 44 : 24));
        // people have other fonts: what fits in the wide one fits in the page's own. It comes before a change of the window, as charts
        // measure their names then
        for (const [size, font] of [
          [second, 'wide font'],
          [viewport, 'own font'],
        ] as const) {
          await wideFont(page, font === 'wide font');
          await page.setViewportSize(size);
          note(`${name}, ${size.width} × ${size.height}, ${font}`, await lasting(page));
        }
      }
    }
    expect(found).toEqual({});
    expect(problems).toEqual([]);
    await page.context().close();
  },
  1_200_000, // a minute or two on an idle machine of two cores, above seven on one with thirty other programs
);
