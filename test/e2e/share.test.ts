import { readFile } from 'node:fs/promises';
import { decode } from 'modern-gif';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { leaveToWeekly } from '../weekly.ts';
import { framesLater, launch, loaded, read, stepped, visitStill } from './lab.ts';

const RUN = '#/lab?v=1&seed=7&updates=100000';
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

/** Presses Tab until what `wanted` names has the focus; says whether its ring can be seen. */
async function tabTo(page: Page, wanted: string): Promise<string> {
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press('Tab');
    const ring = await page.evaluate((selector) => {
      const { activeElement: at } = document;
      if (!at?.matches(selector)) return null;
      const { outlineStyle, outlineWidth } = getComputedStyle(at);
      return `${outlineStyle} ${outlineWidth}`;
    }, wanted);
    if (ring) return ring;
  }
  throw new Error(`${wanted} was not reached with 80 presses of Tab`);
}
const VISIBLE = /^(solid|auto) [2-9]/;

describe('with a worker whose numbers are made up', () => {
  let page: Page;
  let problems: readonly string[];
  beforeAll(async () => {
    ({ page, problems } = await visitStill(browser, { worker: 'fake', hash: RUN }));
  });
  afterAll(() => page.context().close());

  test('MUST-19: with the keyboard alone Run, a slider, a token and the share dialog are reached, each with a focus ring; the rollout is one tab stop', async () => {
    expect(await tabTo(page, 'button.run')).toMatch(VISIBLE);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => (window.__playground?.snapshot().update ?? 0) > 2);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => window.__playground?.snapshot().running === false);
    expect(await tabTo(page, 'button[aria-label="Share"]')).toMatch(VISIBLE);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Share' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // focus went back, and on from there
    await expect.poll(() => page.evaluate(() => document.activeElement?.ariaLabel)).toBe('Share');
    expect(await tabTo(page, '[data-group="optimizer"] summary')).toMatch(VISIBLE);
    await page.keyboard.press('Enter');
    await page.locator('[data-group="optimizer"] input[type="range"]').first().waitFor();
    expect(await tabTo(page, 'input[type="range"]')).toMatch(VISIBLE);
    const { config } = await read(page);
    await page.keyboard.press('ArrowRight');
    await expect.poll(async () => (await read(page)).config).not.toEqual(config);
    expect(await tabTo(page, '.token')).toMatch(VISIBLE);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await expect.poll(async () => (await read(page)).selection.token).toBe(2);
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.matches('.token'))).toBe(false);
    expect(problems).toEqual([]);
  });

  test('SHOULD-33: with single-key shortcuts off none fires, the choice is kept, and on again they all do', async () => {
    await page.keyboard.press('Escape'); // lets go of the token
    await expect.poll(async () => (await read(page)).selection.token).toBe(null);
    await page.keyboard.press('?');
    await page
      .getByRole('dialog', { name: 'Keys' })
      .getByLabel(/Single-key shortcuts/)
      .uncheck();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' }); // under one no key acts anyway
    const looks = async () => {
      const { selection, running, update } = await read(page);
      return JSON.stringify({ selection, running, update, route: new URL(page.url()).hash.split('?')[0] });
    };
    const KEYS = [
      'j',
      'k',
      'n',
      'b',
      '1',
      '2',
      '9',
      '.',
      ',',
      '>',
      '[',
      ']',
      ' ',
      'g',
      'u',
      'r',
      'l',
      'p',
      't',
      'm',
      's',
      '?',
    ];
    const none = await looks();
    for (const key of KEYS) await page.locator('body').press(key);
    await framesLater(page);
    expect(await looks()).toBe(none);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.reload();
    await loaded(page);
    await page.locator('body').press('j');
    await framesLater(page);
    expect((await read(page)).selection.row).toBe(0);

    await page.getByRole('button', { name: 'Keyboard help' }).click();
    await page
      .getByRole('dialog', { name: 'Keys' })
      .getByLabel(/Single-key shortcuts/)
      .check();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.locator('body').press('j');
    await expect.poll(async () => (await read(page)).selection.row).toBe(1);
    await page.locator('body').press('2');
    await expect.poll(async () => (await read(page)).selection.channel).toBe('advantage');
    await page.locator('body').press('b');
    await expect.poll(async () => (await read(page)).selection.turn).not.toBe(null);
    // Space belongs to the button that has the focus
    await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
    await page.locator('body').press(' ');
    await page.waitForFunction(() => window.__playground?.snapshot().running);
    for (const [key, route] of [
      ['g', 'group'],
      ['u', 'update'],
      ['r', 'runs'],
      ['l', 'lab'],
    ] as const) {
      await page.locator('body').press(key);
      await expect.poll(() => new URL(page.url()).hash).toMatch(new RegExp(`^#/${route}`));
    }
    await page.locator('body').press('s');
    await page.getByRole('dialog', { name: 'Share' }).waitFor();
    await page.keyboard.press('Escape');
  });

  test('hide= takes panels and groups of knobs away and lists what it does not know; nothing scrolls sideways', async () => {
    const hash = `${RUN}&hide=controls,inspector,preset,screens,everything`;
    await page.evaluate((address) => location.assign(address), hash);
    await page
      .getByText(/^hide: .*\beverything\b/)
      .first()
      .waitFor({ state: 'attached' });
    await page.getByTestId('trajectory').waitFor();
    await expect.poll(async () => (await page.locator('.stage').boundingBox())?.width).toBeGreaterThan(1400);
    await framesLater(page); // what is not to come had the time to
    for (const part of ['.controls', '.inspector', '.preset', '.screens']) {
      expect(await page.locator(part).first().isVisible()).toBe(false);
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(1440);
    expect(problems).toEqual([]);
  });
});

test('the share dialog makes a link that opens the same knobs and selection elsewhere, without the parts that are ticked', async () => {
  const { page, problems } = await visitStill(browser, {
    hash: `${RUN}&entropyCoef=0.05`,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await page.keyboard.press('j');
  await page.keyboard.press('s');
  const dialog = page.getByRole('dialog', { name: 'Share' });
  await dialog.getByLabel('curves', { exact: true }).check();
  await dialog.getByLabel('objective knobs').check();
  await dialog.getByRole('button', { name: 'Copy link' }).click();
  await dialog.getByText('Copied.').waitFor();
  const link = await dialog.getByLabel('Link').inputValue();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(link);
  expect(problems).toEqual([]);
  await page.context().close();

  const { page: other } = await visitStill(browser, { hash: link.slice(link.indexOf('#')) });
  await expect.poll(() => read(other)).toMatchObject({ config: { seed: 7, entropyCoef: 0.05 }, selection: { row: 1 } });
  await other.getByRole('heading', { name: 'Optimizer' }).waitFor();
  await other.getByTestId('trajectory').waitFor();
  await framesLater(other); // what is not to come had the time to
  expect(await other.getByRole('heading', { name: 'Objective' }).isVisible()).toBe(false);
  expect(await other.getByRole('region', { name: 'Curves' }).count()).toBe(0);
  // it stays so when a knob is turned
  await other.keyboard.press('k');
  await expect.poll(() => other.url()).toContain('hide=curves,objective');
  await other.context().close();
});

/** Takes updates one by one up to this one, and returns its numbers but those of a clock, and the weights. */
async function numbersAt(page: Page, update: number) {
  for (let next = (await read(page)).update + 1; next <= update; next++) {
    await page.getByRole('button', { name: 'Step one update' }).click();
    await page.waitForFunction((n) => window.__playground?.snapshot().update === n, next);
    await page.waitForFunction(() => window.__playground?.snapshot().stepping === false);
  }
  return page.evaluate(async () => {
    const numbers = Object.entries(window.__playground?.snapshot().metrics ?? {});
    const counted = numbers.filter(([name]) => !/^time\/|per_second/.test(name));
    return { counted, weights: await window.__playground?.checksum() };
  });
}

test('a link to a run whose knobs were changed on the way replays it: the same changes, curves and weights', async () => {
  const least = 'layers=1&width=16&heads=2&kvHeads=2&ffn=16&warmStart=none';
  const small = `#/lab?backend=cpu&prompts=2&groupSize=4&evalTasks=4&seed=7&${least}`;
  const { page, problems } = await visitStill(browser, { hash: small });
  await numbersAt(page, 1);
  await page.keyboard.press('s');
  const dialog = page.getByRole('dialog', { name: 'Share' });
  await dialog.getByLabel('Link').waitFor();
  expect(await dialog.getByLabel('Link').inputValue()).not.toContain('changes=');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('switch', { name: 'Loss mask' }).click();
  const original = await numbersAt(page, 3);
  await page.keyboard.press('s');
  const note = dialog.getByTestId('link-changes');
  await expect
    .poll(async () => (await note.innerText()).replace(/\s+/g, ' '))
    .toMatch(/\b1 change\b.*update 2 Loss mask on → off/);
  const link = await dialog.getByLabel('Link').inputValue();
  expect(link).toContain('changes=2:lossMask:off');
  const { flags } = await read(page);
  expect(problems).toEqual([]);
  await page.context().close();

  const { page: other, problems: theirs } = await visitStill(browser, { hash: link.slice(link.indexOf('#')) });
  const planned = other.getByTestId('planned');
  await planned.locator('summary').click();
  await planned.getByText('Loss mask on → off').waitFor();
  expect((await read(other)).config.lossMask).toBe('on');
  expect(await numbersAt(other, 3)).toEqual(original);
  await planned.waitFor({ state: 'detached' });
  expect((await read(other)).config.lossMask).toBe('off');
  expect((await read(other)).flags).toEqual(flags);
  // another run from here begins as the link's does, and so does the page when it is loaded anew
  await expect.poll(() => other.url()).toContain('changes=2:lossMask:off');
  expect(theirs).toEqual([]);
  await other.context().close();
});

test('a run that no link can hold is told before the link, with the run’s file', async (current) => {
  leaveToWeekly(current, 'what a link holds and leaves out (replayedRun, ui/sharedLinks)');
  const many = Array.from({ length: 21 }, (_, i) => `1.${i + 1}:learningRate:${(i + 1) / 1e4},2.${i + 1}:clipHigh:${0.3 + i / 100}`).join(); // prettier-ignore
  const { page, problems } = await visitStill(browser, {
    hash: `#/lab?backend=cpu&prompts=2&groupSize=4&evalTasks=4&seed=7&epochs=16&changes=${many}`,
  });
  await stepped(page, 2);
  await page.keyboard.press('s');
  const dialog = page.getByRole('dialog', { name: 'Share' });
  const note = dialog.getByTestId('link-leaves-out');
  await note.waitFor();
  await dialog.getByLabel('Link').waitFor();
  const [above, link] = [await note.boundingBox(), await dialog.getByLabel('Link').boundingBox()];
  expect((link?.y ?? 0) - (above?.y ?? Infinity)).toBeGreaterThan(0);
  const coming = page.waitForEvent('download');
  await note.getByRole('button', { name: 'Save the run’s file' }).click();
  expect((await coming).suggestedFilename()).toMatch(/\.zip$/);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a link to a recorded rollout opens that update, rollout and token elsewhere, still and whole', async () => {
  const { page, problems } = await visitStill(browser);
  await page.getByRole('button', { name: 'Update 25 of the recording' }).click();
  await expect.poll(async () => (await read(page)).batch.update).toBe(25);
  await page.keyboard.press('j');
  await expect.poll(async () => (await read(page)).selection.row).toBe(1);
  await page.getByTestId('trajectory').locator('.token').nth(4).click();
  await expect.poll(async () => (await read(page)).selection.token).toBe(4);
  await page.getByRole('button', { name: 'Share' }).click();
  const link = await page.getByRole('dialog', { name: 'Share' }).getByLabel('Link').inputValue();
  expect(problems).toEqual([]);
  await page.context().close();

  const { page: other, problems: theirs } = await visitStill(browser, { hash: link.slice(link.indexOf('#')) });
  await expect
    .poll(() => read(other))
    .toMatchObject({ batch: { update: 25, isExample: true }, selection: { row: 1, token: 4 }, update: 0 });
  await expect.poll(() => other.getByTestId('replay').getAttribute('data-playing')).toBe('false');
  expect(await other.getByTestId('absent').count()).toBe(0);
  // an address that is typed later leads there, too
  await other.evaluate(() => location.assign('#/lab?v=2&recorded=60'));
  await expect.poll(async () => (await read(other)).batch.update).toBe(60);
  await other.evaluate(() => location.assign('#/lab?v=2&recorded=61'));
  await other
    .getByTestId('absent')
    .getByText(/\b61\b/)
    .waitFor();
  expect(theirs).toEqual([]);
  await other.context().close();
});

/** Colour in the lower left corner of a picture, and how many colours it has. */
async function coloursOf(address: string): Promise<{ ground: string; colours: number }> {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.width, image.height];
  const context = canvas.getContext('2d');
  context?.drawImage(image, 0, 0);
  const pixels = new Uint32Array(
    context?.getImageData(0, 0, image.width, image.height).data.buffer ?? new ArrayBuffer(),
  );
  return { ground: String(pixels.at(-image.width)), colours: new Set(pixels).size };
}

describe('what is in view', () => {
  let page: Page;
  let problems: readonly string[];
  beforeAll(async () => {
    ({ page, problems } = await visitStill(browser, {
      hash: '#/lab?v=2&recorded=160&rollout=1',
      permissions: ['clipboard-read', 'clipboard-write'],
    }));
  });
  afterAll(() => page.context().close());

  test('a picture card is saved as a PNG of 1200 × 630, in the colours of the theme in view, and copied', async () => {
    await page.keyboard.press('s');
    const dialog = page.getByRole('dialog', { name: 'Share' });
    await dialog.getByRole('button', { name: 'Picture' }).click();
    await dialog.locator('.share-card .guess').first().waitFor();
    await expect
      .poll(() => dialog.locator('.share-card text').allTextContents())
      .toContainEqual(expect.stringMatching(/^Update 160\b.*\b3 turns/));
    // others can't reach this host: how to get the same run stands in the address's place
    await dialog.locator('.share-card').getByText('npm start · Number hunt · GRPO · seed 7', { exact: true }).waitFor();
    const grounds = new Set<string>();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const coming = page.waitForEvent('download');
      await dialog.getByRole('button', { name: 'Save PNG' }).click();
      const png = await readFile(await (await coming).path());
      expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1200, 630]);
      const address = `data:image/png;base64,${png.toString('base64')}`;
      const { ground, colours } = await page.evaluate(coloursOf, address);
      grounds.add(ground);
      expect(colours).toBeGreaterThan(200); // board, curve and letters, with their edges
    }
    expect(grounds.size).toBe(2);
    await dialog.getByRole('button', { name: 'Copy picture' }).click();
    await dialog.getByText('Copied.').waitFor();
    const types = await page.evaluate(async () => (await navigator.clipboard.read()).flatMap((item) => item.types));
    expect(types).toContain('image/png');
    expect(problems).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  test('a clip of the training is a looping GIF under 2 MB with a picture for each step; it can be cancelled, and its library comes when pressed', async () => {
    // the library, a script that knows this word of the format, comes when the test lets it: a quick page would be done too soon
    const asked: string[] = [];
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/*.js', async (route) => {
      const response = await route.fetch();
      const body = await response.text();
      if (body.includes('NETSCAPE')) {
        asked.push(route.request().url());
        await released;
      }
      await route.fulfill({ response, body });
    });
    await page.keyboard.press('s');
    const dialog = page.getByRole('dialog', { name: 'Share' });
    await dialog.getByRole('button', { name: 'Clip', exact: true }).click();
    await dialog.locator('.share-card .guess').first().waitFor();
    expect(asked).toEqual([]);
    await dialog.getByRole('button', { name: 'Film the training' }).click();
    await dialog.getByRole('progressbar', { name: 'Clip made' }).waitFor();
    await expect.poll(() => asked.length).toBe(1);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    release();
    await dialog.getByText('Cancelled.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Save GIF' }).count()).toBe(0);
    // the card is again of what was in view
    await dialog.getByText(/^Update 160\b.*\b3 turns/).waitFor();

    await dialog.getByRole('button', { name: 'Film the training' }).click();
    const coming = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Save GIF' }).click();
    const gif = await readFile(await (await coming).path());
    expect(gif.subarray(0, 6).toString()).toBe('GIF89a');
    expect(gif.includes('NETSCAPE2.0')).toBe(true); // loops
    expect(gif.length).toBeLessThan(2e6);
    expect(decode(gif).frames.length).toBeGreaterThan(40);
    expect(problems).toEqual([]);
  });
});
