import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeInBothThemes, launch, pause, PHONE, read, settled, still, tooSmall, train, visitStill } from './lab.ts';

const SMALL = 'v=1&seed=7&prompts=4&groupSize=4&evalTasks=16&evalEvery=0&backend=cpu&updates=100000';
const COMPARISON_MS = 300_000; // on a busy machine
/** Updates of more rollouts: time to press a button in. */
const SLOWER = SMALL.replace('prompts=4&groupSize=4', 'prompts=16&groupSize=8');
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

const comparison = (page: Page) => page.getByTestId('comparison');
const done = (page: Page) =>
  page.waitForFunction(
    () => document.querySelector('[data-testid="comparison"]')?.getAttribute('data-state') === 'done',
    null,
    {
      timeout: COMPARISON_MS,
    },
  );

/** Waits for the verdict on the first seed. A comparison that is quick goes on to more unasked, and is stopped: what is finished keeps its verdict. */
async function doneOnce(page: Page): Promise<void> {
  const first = () => {
    const panel = document.querySelector('[data-testid="comparison"]');
    return panel?.getAttribute('data-state') === 'done' || panel?.textContent.includes('Seed 2 of');
  };
  await page.waitForFunction(first, null, { timeout: 500_000 });
  // found and pressed in one task: it may have come to its end meanwhile
  const cancel = page.getByRole('button', { name: 'Cancel' });
  await cancel.evaluateAll((all) => all.forEach((button) => button instanceof HTMLElement && button.click()));
  await done(page);
}

test('SHOULD-27: a fork begins twice with the same weights and draws, differs in the flipped knob, shares the fork point and ends at the same update; the run stays', async () => {
  const { page, problems } = await visitStill(browser, { hash: `#/lab?${SMALL}` });
  await train(page, 5);
  // a pause may fall within an update, a step ends with one
  await pause(page);
  await still(page);
  const paused = (await read(page)).update;
  await page.getByRole('button', { name: 'Step one update' }).click();
  await expect.poll(async () => (await read(page)).update).toBeGreaterThan(paused);
  await still(page);
  await page.locator('body').press('x');
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('fork-knob');
  await page.getByLabel('Knob to change').selectOption('learningRate');
  await page.getByLabel('Value in B').fill('0.0005');
  await page.getByRole('button', { name: 'Fork, 40 updates' }).click();
  await done(page);
  const { update, running } = await read(page);
  expect(running).toBe(false);
  const sum = () => page.evaluate(() => window.__playground?.checksum());
  const weights = await sum();
  // both began with the very weights that the run still has
  await expect
    .poll(() => page.getByTestId('comparison-start').textContent())
    .toMatch(new RegExp(`update ${update} .*${weights}.* seed 7\\b`));
  await expect
    .poll(() => page.getByTestId('different-knobs').locator('tbody tr').allInnerTexts())
    .toEqual([expect.stringMatching(/^Learning rate η\s+0.002\s+5e-4$/)]);
  const updates = page.getByTestId('results').getByRole('row', { name: /^Updates/ });
  await expect.poll(() => updates.innerText()).toMatch(new RegExp(`^Updates\\s+${update + 40}\\s+${update + 40}$`));
  const firstPoint = async (run: number) =>
    ((await page.locator(`.overlay .run-line[data-run="${run}"]`).getAttribute('d')) ?? '').split('L')[0];
  const [two, three] = await settled(() => Promise.all([firstPoint(2), firstPoint(3)]));
  expect(two).toMatch(/^M[\d.]+[ ,][\d.]+$/);
  expect(three).toBe(two);
  await comparison(page)
    .getByText(/From update \d+ to \d+: A .* solves \d+ % of its rollouts, B .* \d+ %/)
    .waitFor();
  // the run goes on as if nothing had been
  await page.getByRole('button', { name: 'Step one update' }).click();
  await expect.poll(async () => (await read(page)).update).toBe(update + 1);
  await expect.poll(() => page.getByRole('article', { name: /^Run/ }).count()).toBe(2);
  await page.getByRole('button', { name: 'Undo: delete these runs' }).click();
  await expect.poll(() => page.getByRole('article', { name: /^Run/ }).count()).toBe(0);
  // the run that was forked stands among all
  await page.evaluate(() => location.assign('#/runs'));
  await expect.poll(() => page.getByRole('article', { name: /^Run/ }).count()).toBe(1);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('two arms with the same knobs train to the same curve: what differs in a fork is the knob alone; axe finds nothing serious on the finished trial', async () => {
  const { page } = await visitStill(browser, { hash: `#/lab?${SMALL}` });
  await train(page, 3);
  await page.locator('body').press('x');
  // outside of group filters this knob scales nothing
  await page.getByLabel('Knob to change').selectOption('filterTopP');
  await page.getByLabel('Value in B').fill('0.5');
  await page.getByRole('button', { name: 'Fork, 40 updates' }).click();
  await done(page);
  const line = (run: number) => page.locator(`.overlay .run-line[data-run="${run}"]`).getAttribute('d');
  const [two, three] = await settled(() => Promise.all([line(2), line(3)]));
  expect(two?.length).toBeGreaterThan(200);
  expect(three).toBe(two);
  expect(await axeInBothThemes(page)).toEqual([]);
  await page.setViewportSize(PHONE);
  expect(await axeInBothThemes(page)).toEqual([]);
  await expect.poll(() => tooSmall(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  await page.context().close();
});

test('PPO against GRPO at one press: both are drawn, a verdict follows, and undo takes them away', async () => {
  const { page, problems } = await visitStill(browser, { hash: `#/forks?${SMALL}` });
  // it is looked for before it comes: it passes
  const underWay = comparison(page)
    .getByText(/GRPO: update \d+\/40 · PPO: waiting/)
    .waitFor({ timeout: COMPARISON_MS });
  await Promise.all([underWay, page.getByRole('button', { name: 'PPO against GRPO' }).click()]);
  await doneOnce(page);
  await comparison(page)
    .getByText(/After 40 updates: GRPO solves \d+ % of .*, PPO \d+ %/)
    .waitFor();
  await page.getByText('Number hunt: GRPO', { exact: true }).waitFor();
  await expect.poll(() => page.locator('.run-line[d]').count()).toBeGreaterThanOrEqual(2);
  expect((await read(page)).session).toBe('none'); // the lab has no run of it
  await page.getByRole('button', { name: 'Undo: delete these runs' }).click();
  await expect.poll(() => page.getByRole('article', { name: /^Run/ }).count()).toBe(0);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a fork needs a run; what cannot be is said beside the button; a comparison can be cancelled', async () => {
  const { page } = await visitStill(browser, { hash: `#/forks?${SLOWER}` });
  await expect.poll(() => page.getByRole('button', { name: 'Fork, 40 updates' }).isDisabled()).toBe(true);
  await page.getByText('Run training first').waitFor();
  await page.getByRole('button', { name: 'Make training collapse (the Echo Trap)' }).click();
  await comparison(page)
    .getByText(/break it: update [1-9]/)
    .waitFor({ timeout: COMPARISON_MS });
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect.poll(() => comparison(page).count()).toBe(0);
  await train(page, 2);
  await page.getByLabel('Knob to change').selectOption('clipLow');
  await page.getByLabel('Value in B').fill('7');
  await page.getByText('Use 0 to 1.').waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Fork, 40 updates' }).isDisabled()).toBe(true);
  await page.context().close();
});

const FORTY = 40;

test('WOW-35: Break it reaches TRAP within 40 updates (seed 7, CPU) and quotes spread and base', async () => {
  const { page } = await visitStill(browser, { hash: '#/forks?v=1&seed=7&backend=cpu' });
  await page.getByRole('button', { name: 'Make training collapse (the Echo Trap)' }).click();
  await doneOnce(page);
  const said = () => comparison(page).locator('.comparison-verdict').textContent();
  await expect.poll(said).toMatch(/^TRAP at update \d+/);
  const verdict = (await said()) ?? '';
  console.log(verdict);
  const told = /^TRAP at update (\d+)/.exec(verdict);
  expect(Number(told?.[1])).toBeLessThanOrEqual(FORTY);
  expect(verdict).toMatch(/no trap in 60 updates/);
  await expect.poll(() => page.getByLabel('Metric').inputValue()).toBe('rollout/in_group_reward_std');
  expect(verdict).toMatch(
    /spread of rewards within a prompt is [\d.e-]+, \d+ % of what it was in its best 10 updates \([\d.]+\)/,
  );
  await page.context().close();
}, 900_000);
