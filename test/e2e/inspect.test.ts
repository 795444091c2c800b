import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  allTurnsDrawn,
  axe,
  checksum,
  launch,
  numberIn,
  pause,
  PHONE,
  read,
  settled,
  stepped,
  tooSmall,
  toScreen,
  train,
  visitStill,
} from './lab.ts';

const RUN = '#/lab?v=1&prompts=4&groupSize=4&evalTasks=16&backend=cpu&seed=7&updates=100000';
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

test('MUST-15: a chosen token shows its probability before and after the update, the ratio and the rest, never NaN', async () => {
  const { page, problems } = await visitStill(browser, { hash: RUN });
  await stepped(page, 2);
  for (const t of [0, 1, 2, 3, 4]) {
    await page.locator(`[data-token="${t}"]`).click();
    const drawn = t >= 2; // after the two of the prompt
    const inspector = page.getByTestId('inspector');
    await page.locator(`[data-token="${t}"][aria-pressed="true"]`).waitFor();
    if (drawn) {
      const numbers = /^(\S+) → (\S+) [▲▼=] (\S+) · ratio (\S+)$/;
      const moved = inspector.getByTestId('moved');
      await expect.poll(() => moved.textContent()).toMatch(numbers);
      const [, before, after, change, ratio] =
        numbers.exec(await settled(async () => (await moved.textContent()) ?? '')) ?? [];
      for (const part of [before, after, change, ratio]) expect(Number.isFinite(numberIn(part ?? null))).toBe(true);
    } else await inspector.getByText('The environment wrote this token').waitFor();
    for (const fact of ['advantage', 'entropy', 'push', 'KL to reference']) {
      const value = inspector.locator('.facts div', { has: page.getByText(fact, { exact: true }) }).locator('dd');
      await expect.poll(() => value.textContent()).toMatch(/^(n\/a: .+|[+−]?[\d.]+(e[−-]?\d+)?)$/);
    }
    expect(await page.locator('body').innerText()).not.toMatch(/NaN|undefined|Infinity/);
  }
  expect(problems).toEqual([]);
  await page.context().close();
});

test('the bars are a distribution over what is legal, shown while training goes on', async () => {
  const { page } = await visitStill(browser, { hash: RUN });
  await train(page, 2);
  await page.locator('[data-token="3"]').click();
  await page.getByTestId('distribution').waitFor();
  await pause(page);
  const bars = page.locator('.distribution li .option-p');
  await expect.poll(() => bars.count()).toBe(10); // those of the last update
  const shares = await settled(() => bars.allTextContents());
  expect(shares.length).toBe(10); // of 16 numbers
  const sum = shares.map((share) => Number(share.replace('<', ''))).reduce((a, b) => a + b, 0);
  expect(sum).toBeGreaterThan(50);
  expect(sum).toBeLessThanOrEqual(100.5);
  const others = Number(await page.getByTestId('others').locator('.option-p').textContent());
  expect(Math.abs(sum + others - 100)).toBeLessThanOrEqual(0.6); // eleven numbers of two digits behind the point
  await page.context().close();
});

test('another token than the one drawn is played on from, beside the original, and nothing is learned from it', async () => {
  const { page, problems } = await visitStill(browser, { hash: RUN });
  await stepped(page, 2);
  const before = await checksum(page);
  const { metrics, update } = await read(page);
  await page.locator('[data-token="3"]').click();
  const other = page.locator('.option:not([data-drawn="true"])').first();
  const word = (await other.locator('.option-word').textContent()) ?? '';
  await page.getByLabel('Temperature from here on').first().fill('0.05');
  // the bars may be put in another order once the probabilities after the update are there
  await page
    .locator('.option', { has: page.getByText(word, { exact: true }) })
    .first()
    .click();
  const branch = page.getByTestId('branch');
  await branch.getByText('never trained on · temperature 0.05').waitFor();
  const columns = branch.locator('article.column');
  await expect.poll(() => columns.count()).toBe(2);
  await expect.poll(() => columns.nth(1).locator('[data-diverges="true"]').textContent()).toBe(word);
  expect(await columns.nth(0).locator('[data-diverges="true"]').textContent()).not.toBe(word);
  // a branch of the branch hangs below it in the tree
  await branch.locator('.option').first().waitFor();
  await settled(() => branch.locator('.option').allTextContents()); // they are in their order
  await branch.locator('.option:not([data-drawn="true"])').first().click();
  await expect.poll(() => branch.locator('.branch-tree li').count()).toBe(3);
  expect(await axe(page)).toEqual([]);
  expect(await checksum(page)).toBe(before);
  const after = await read(page);
  expect([after.update, after.metrics]).toEqual([update, metrics]);
  await branch.getByRole('button', { name: 'Close branch' }).click();
  await page.getByTestId('trajectory').waitFor();
  // a run that is begun anew has none of the branches before it, not even the one in view
  await page.locator('[data-token="3"]').click();
  await page.locator('.option').first().waitFor();
  await settled(() => page.locator('.option').allTextContents());
  await page.locator('.option:not([data-drawn="true"])').first().click();
  await branch.waitFor();
  await page.getByRole('button', { name: 'Reset' }).click();
  await branch.waitFor({ state: 'detached' });
  expect(problems).toEqual([]);
  await page.context().close();
});

test('on a phone the bars and a branch fit, and every control is 44 px', async () => {
  const { page } = await visitStill(browser, { hash: RUN, viewport: PHONE, hasTouch: true });
  await stepped(page, 1);
  await expect.poll(() => tooSmall(page)).toEqual([]);
  await page.locator('[data-token="3"]').tap();
  await page.getByTestId('distribution').waitFor();
  await expect.poll(() => tooSmall(page)).toEqual([]);
  await page.locator('.option').nth(1).tap();
  await page.getByTestId('branch').waitFor();
  await expect.poll(() => tooSmall(page)).toEqual([]);
  for (const screen of ['group', 'runs'] as const) {
    await toScreen(page, screen);
    await page.getByRole('main').locator('article, .group-table').filter({ visible: true }).first().waitFor();
    await expect.poll(() => tooSmall(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  }
  await page.context().close();
});

test('the keys 1 to 8 choose the channels; ratio and change of probability are asked of the run and speak only of trained tokens', async () => {
  const { page, problems } = await visitStill(browser, { hash: `${RUN}&epochs=4&learningRate=0.006&klCoef=0.02` });
  await stepped(page, 3);
  const values = (kind: string) => page.locator(`.token[data-kind="${kind}"] .token-value`).allTextContents();
  for (const [key, channel] of [
    ['4', 'ratio'],
    ['8', 'change'],
    ['6', 'kl'],
    ['5', 'entropy'],
  ] as const) {
    await page.locator('body').press(key);
    await expect.poll(async () => (await read(page)).selection.channel).toBe(channel);
    await expect.poll(async () => (await values('call')).some((text) => /[1-9]/.test(text))).toBe(true);
    await allTurnsDrawn(page);
    await expect.poll(async () => (await values('call')).every((text) => Number.isFinite(numberIn(text)))).toBe(true);
    await expect.poll(async () => new Set(await values('observation'))).toEqual(new Set(['–']));
    await page.locator('.token[data-kind="observation"][data-na="true"]').first().waitFor();
  }
  await page.locator('body').press('7'); // GRPO has no critic
  await expect.poll(async () => new Set(await values('call'))).toEqual(new Set(['–'])); // turn by turn
  expect(problems).toEqual([]);
  await page.context().close();
});
