import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { leaveToWeekly } from '../weekly.ts';
import { axe, framesLater, launch, PHONE, read, tooSmall, train, visitStill } from './lab.ts';

// a range that halving solves: 0 … 6 in three turns
const HUNT =
  '#/lab?v=1&range=7&maxTurns=3&processReward=0&prompts=4&groupSize=4&evalTasks=4&backend=cpu&updates=100000';

/** The least model, untrained, as none is shipped for this range: its worker is soon free for a word. */
const LEAST = '&layers=1&width=16&heads=2&kvHeads=2&ffn=16&warmStart=none';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

const wordInput = (page: Page) => page.getByLabel('Next word', { exact: true });
const score = (page: Page) => page.getByTestId('play-score').textContent();

async function write(page: Page, ...words: readonly string[]) {
  const tokens = page.locator('.transcript .token');
  for (const word of words) {
    const before = await tokens.count();
    await wordInput(page).fill(word);
    await wordInput(page).press('Enter');
    // the next words come from the worker
    await tokens.nth(before).waitFor();
  }
}

/** Halves until the number is found; the last observation in view says where to go on. */
async function halve(page: Page): Promise<number> {
  let [low, high] = [0, 6];
  for (let turn = 1; ; turn++) {
    const middle = (low + high) >> 1;
    await write(page, 'call', String(middle), '/call');
    const said = page.locator('.transcript .turn').nth(turn).locator('[data-kind="observation"] .word').nth(1);
    await page.locator('.ending').or(said).first().waitFor();
    if (await page.locator('.ending').isVisible()) return turn;
    await page
      .getByRole('status')
      .getByText(['1 turn taken.', '2 turns taken.'][turn - 1] ?? '', { exact: true })
      .waitFor();
    if ((await said.textContent()) === 'higher') low = middle + 1;
    else high = middle - 1;
  }
}

describe('without a run', () => {
  let page: Page;
  let problems: readonly string[];
  beforeAll(async () => {
    ({ page, problems } = await visitStill(browser, { hash: HUNT }));
  });
  afterAll(() => page.context().close());
  const close = async () => {
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
  };

  test('opened a second time, the game has the keys: what is typed is a word, and not a shortcut of the page', async () => {
    for (let time = 0; time < 2; time++) {
      await page.keyboard.press('p');
      await wordInput(page).waitFor();
      await expect.poll(() => wordInput(page).evaluate((e) => e === document.activeElement)).toBe(true);
      await close();
    }
  });

  test('P opens the task, typed words play it, halving solves it for the expert’s reward; again is the same task', async () => {
    await page.keyboard.press('p');
    await wordInput(page).waitFor();
    await expect.poll(() => score(page)).toMatch(/turn 1 of 3 .*reward 0/);
    const turns = await halve(page);
    const ending = page.getByRole('region', { name: 'How it ended' });
    await expect.poll(() => ending.textContent()).toMatch(/Solved.* reward 1.* reward 1:/);
    const transcript = await page.locator('.transcript').textContent();
    await page.getByRole('button', { name: 'Same task again' }).click();
    await wordInput(page).waitFor();
    expect(await halve(page)).toBe(turns);
    await expect.poll(() => page.locator('.transcript').textContent()).toBe(transcript);
    // nothing was started
    expect(await read(page)).toMatchObject({ session: 'none', update: 0, problem: null });
    await close();
    expect(problems).toEqual([]);
  });
});

test('words are offered by the grammar; Backspace takes the last one back until the turn ends, not a turn', async (current) => {
  leaveToWeekly(current, 'the words that may come next at every place of an episode (playedGame)');
  const { page } = await visitStill(browser, { hash: HUNT });
  await page.getByRole('button', { name: 'Play it yourself' }).click();
  const offered = () => page.getByRole('group', { name: 'Allowed next words' }).getByRole('button');
  await offered().first().waitFor();
  await expect.poll(() => offered().allTextContents()).toEqual(['<call>']);
  await offered().first().click();
  await page.getByRole('button', { name: '6', exact: true }).waitFor();
  await expect.poll(() => offered().allTextContents()).toEqual(['0', '1', '2', '3', '4', '5', '6']);
  // a word pressed twice before there is an answer: the second is refused, and the first can be pressed again
  await page.getByRole('button', { name: '6', exact: true }).evaluate((button: HTMLElement) => {
    for (let press = 0; press < 2; press++) button.click();
  });
  await page.getByRole('dialog').getByRole('alert').waitFor();
  await write(page, '6');
  await page.getByRole('button', { name: '</call>', exact: true }).waitFor();
  await wordInput(page).press('Backspace');
  await page.getByRole('button', { name: '6', exact: true }).waitFor();
  await wordInput(page).press('Backspace');
  await page.getByRole('button', { name: '<call>', exact: true }).waitFor();
  await write(page, '<call>');
  await page.getByRole('button', { name: '6', exact: true }).waitFor();
  await wordInput(page).fill('9');
  await page.getByRole('status').getByText('“9”').waitFor();
  // at the lowest number the hunt goes on, unless it is there
  await write(page, '0', '</call>');
  await page.locator('.ending, .transcript [data-kind="observation"]').first().waitFor();
  if (await wordInput(page).isVisible()) {
    await wordInput(page).press('Backspace');
    await framesLater(page);
    expect(await page.locator('.transcript .turn').count()).toBe(2);
  }
  await page.context().close();
});

test('while it trains the agent’s own task can be played, and how it fared is told', async () => {
  const { page, problems } = await visitStill(browser, { hash: HUNT + LEAST });
  await train(page, 2);
  await page.getByRole('button', { name: 'Play it yourself' }).click();
  await wordInput(page).waitFor();
  const before = (await read(page)).update;
  await halve(page);
  const ending = page.getByRole('region', { name: 'How it ended' });
  await expect.poll(() => ending.textContent()).toMatch(/update \d+ .*\d+ of 4 /);
  expect(await axe(page, undefined, 'dialog')).toEqual([]);
  await page.waitForFunction((update) => (window.__playground?.snapshot().update ?? 0) > update, before);
  expect(await read(page)).toMatchObject({ running: true, problem: null });
  expect(problems).toEqual([]);
  await page.context().close();
});

const SUMS = '#/?preset=calculator-text&backend=cpu';

test('in text, on a phone: calls typed as JSON are answered, a mistake in words, and the answer in words ends the task, beside the expert’s', async () => {
  const { page, problems } = await visitStill(browser, { hash: SUMS, viewport: PHONE });
  await page.keyboard.press('p');
  const turn = page.getByRole('textbox', { name: 'Next turn' });
  const dialog = page.getByRole('dialog');
  await turn.waitFor();
  expect(await tooSmall(page)).toEqual([]);
  const observation = (n: number) =>
    page.locator('.transcript .turn').nth(n).locator('[data-kind="observation"] .span-tokens');
  const take = async (text: string) => {
    await turn.fill(text);
    await turn.press('Enter');
  };
  await take('{"name": "calculate"}');
  await expect.poll(() => observation(1).textContent()).toContain('error');
  // one that is too long stays to be shortened
  await take('so many words '.repeat(40));
  await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/\d+ tokens.* \d+/);
  await expect.poll(() => turn.inputValue()).toContain('so many words');
  const question = (await dialog.locator('.play-scroll .strong').first().textContent()) ?? '';
  const [a, operator = '', b] = /(\d+) ([+×*−-]) (\d+)/.exec(question)?.slice(1) ?? [];
  const sign = { '×': '*', '−': '-' }[operator] ?? operator;
  await take(JSON.stringify({ name: 'calculate', arguments: { a: Number(a), operator: sign, b: Number(b) } }));
  await observation(2).waitFor();
  expect(await observation(2).textContent()).not.toContain('error');
  await take('7');
  const ending = page.getByRole('region', { name: 'How it ended' });
  await ending.waitFor();
  await expect.poll(() => ending.textContent()).toMatch(/olved: .* reward .*"calculate".* → \d+/);
  await turn.waitFor({ state: 'hidden' });
  expect(await axe(page, undefined, 'dialog')).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  await page.getByRole('button', { name: 'Same task again' }).click();
  await turn.waitFor();
  await expect.poll(() => dialog.locator('.play-scroll .strong').first().textContent()).toBe(question);
  expect(problems).toEqual([]);
  await page.context().close();
});
