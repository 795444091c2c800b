import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  allTurnsDrawn,
  checksum,
  DESKTOP,
  fold,
  framesLater,
  type Lab,
  launch,
  numberIn,
  PHONE,
  read,
  settled,
  stepped,
  toScreen,
  unfold,
  visitStill,
} from './lab.ts';

// a rate and a clip at which a batch of a few prompts has tokens that are held
const RUN =
  '#/lab?v=1&backend=cpu&prompts=2&groupSize=8&minibatches=2&epochs=3&evalEvery=0&evalTasks=8&seed=7&learningRate=0.01&clipLow=0.05&clipHigh=0.05&klCoef=0.02&processReward=0.5&updates=100000';
let browser: Browser;
/** One run of four updates for all of these, which leave its knobs as they were. */
let lab: Lab;
beforeAll(async () => {
  browser = await launch('no adapter');
  lab = await visitStill(browser, { hash: RUN });
  await stepped(lab.page, 4);
});
beforeEach(async () => {
  const { page } = lab;
  await toScreen(page, 'lab');
  for (const key of ['Escape', '1']) await page.locator('body').press(key);
  await page.mouse.move(700, 20);
});
afterAll(() => browser.close());

const litTerms = (page: Page) =>
  page
    .locator('.term[data-lit="true"]')
    .evaluateAll((all) => [...new Set(all.map((e) => e.getAttribute('data-term')))]);
const litTokens = (page: Page) =>
  page
    .locator('.trajectory .token')
    .evaluateAll((all) => all.filter((e) => Number(e.getAttribute('data-lit') ?? 0) > 0).length);
const trained = (page: Page) => page.locator('.trajectory .token[data-loss="true"]').count();
const boxes = (page: Page) =>
  page.locator('.trajectory .token, .formula-dock, .acting').evaluateAll((all) =>
    all.map((e) => {
      const { x, y, width, height } = e.getBoundingClientRect();
      return [x, y, width, height];
    }),
  );

test('MUST-15: a chosen token shows its probability before and after the update, the ratio and the rest, never NaN', async () => {
  const { page, problems } = lab;
  for (const t of [0, 2, 3]) {
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
});

test('the bars are a distribution over what is legal', async () => {
  const { page } = lab;
  await page.locator('[data-token="3"]').click();
  await page.getByTestId('distribution').waitFor();
  const bars = page.locator('.distribution li .option-p');
  await expect.poll(() => bars.count()).toBe(10); // those of the last update
  const shares = await settled(() => bars.allTextContents());
  expect(shares.length).toBe(10); // of 16 numbers
  const sum = shares.map((share) => Number(share.replace('<', ''))).reduce((a, b) => a + b, 0);
  expect(sum).toBeGreaterThan(50);
  expect(sum).toBeLessThanOrEqual(100.5);
  const others = Number(await page.getByTestId('others').locator('.option-p').textContent());
  expect(Math.abs(sum + others - 100)).toBeLessThanOrEqual(0.6); // eleven numbers of two digits behind the point
});

test('the keys 1 to 8 and 0 choose the channels; ratio and change of probability are asked of the run and speak only of trained tokens', async () => {
  const { page, problems } = lab;
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
  await page.locator('body').press('0'); // the tenth
  await expect.poll(async () => (await read(page)).selection.channel).toBe('mismatch');
  // the learner itself drew: 0, but for rounding
  await expect.poll(async () => (await values('call')).every((text) => Math.abs(numberIn(text)) < 1e-3)).toBe(true);
  expect(problems).toEqual([]);
});

test('a knob lights its terms and the tokens they touch, a term its knobs; nothing moves, and no weight', async () => {
  const { page, problems } = lab;
  const sum = await checksum(page);
  await unfold(page, 'Objective');
  const before = await settled(() => boxes(page));
  await page.locator('[data-knob="entropyCoef"] label').hover();
  await page.getByTestId('acting').getByText('high entropy').waitFor();
  await expect.poll(() => litTerms(page)).toEqual(['entropy']);
  await expect.poll(() => litTokens(page)).toBe(await trained(page));
  expect(await settled(() => boxes(page))).toEqual(before);
  // what the clip held in the batch is what the page counts on the tensors of its passes
  await page.locator('[data-knob="clipHigh"] label').hover();
  await page
    .getByTestId('acting')
    .getByText(/▲ [1-9]\d* /)
    .waitFor();
  await expect.poll(() => litTerms(page)).toEqual(['clipHigh']);
  expect(await settled(() => boxes(page))).toEqual(before);
  // the other way round
  await page.locator('.term[data-term="baseline"]').hover();
  await page.locator('.rollout-chip[data-lit="true"]').nth(3).waitFor();
  await page.locator('[data-group="rollout"][data-lit="true"]').waitFor();
  await page.locator('.term[data-term="dualClip"]').hover();
  await page.locator('[data-knob="dualClip"][data-lit="true"]').waitFor();
  await page.mouse.move(700, 20);
  await page.getByText('Hover a knob or a term').waitFor();
  await expect.poll(() => Promise.all([litTerms(page), litTokens(page)])).toEqual([[], 0]);
  expect(await checksum(page)).toBe(sum);
  await fold(page, 'Objective');
  expect(problems).toEqual([]);
});

test('a knob that is turned is tried on the batch in view, and what cannot be had says why', async () => {
  const { page, problems } = lab;
  const sum = await checksum(page);
  await unfold(page, 'Objective', 'Rollouts');
  const tried = page.getByTestId('tried');
  await page.locator('#knob-clipHigh').fill('4');
  await page.getByText('Preview with clip high ε₊ 4, epoch by epoch').waitFor();
  await expect.poll(() => tried.textContent()).toMatch(/With 4: \d+ .*\d+ → \d+ in epoch 3, of \d+ /);
  // its tokens are led to, wherever they are, and the channel is free to choose
  const named = Number(/With 4: (\d+)/.exec((await tried.textContent()) ?? '')?.[1]);
  await page.getByRole('button', { name: 'Show them' }).click();
  const led = [];
  const looked = Math.min(named, 4);
  for (let k = 0; k < looked; k++) {
    await page.getByText(`${k + 1} of ${named}`, { exact: true }).waitFor();
    await page.locator('.trajectory .token[aria-pressed="true"][data-lit="2"]').waitFor();
    const { row, token } = (await read(page)).selection;
    led.push(`${row} ${token}`);
    await page.getByRole('button', { name: 'Next token' }).click();
  }
  expect(new Set(led).size).toBe(looked);
  expect(looked).toBeGreaterThan(1);
  const push = page.getByTestId('tried-token').getByText(/^push/);
  const more = async () => {
    const [was = NaN, would = NaN] = ((await push.textContent()) ?? '').replace('push', '').split('→').map(numberIn);
    return would - was;
  };
  await expect.poll(more).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Adv.', exact: true }).click();
  await page.getByText('Preview with clip high ε₊ 4: the advantage as it was').waitFor();
  await page.getByRole('button', { name: 'Done', exact: true }).click();
  await tried.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Mask', exact: true }).click();
  await page.locator('#knob-clipHigh').fill('0.05');
  await page.locator('#knob-klCoef').fill('0.5');
  await page.getByText('Preview with kl β 0.5, all ratios 1').waitFor();
  await expect.poll(() => tried.textContent()).toMatch(/KL [\d.e−]+ → [\d.e−]+/);
  // all changed knobs are tried together; one that is back where it was ends what it showed
  await page.locator('#knob-clipHigh').fill('0.3');
  await page.getByText('Preview with clip high ε₊ 0.3 and kl β 0.5, epoch by epoch').waitFor();
  await page.locator('#knob-clipHigh').fill('0.05');
  await tried.waitFor({ state: 'detached' });
  await page.locator('#knob-klCoef').fill('0.02');
  const mask = page.locator('[data-knob="lossMask"] [role="switch"]');
  await mask.click();
  await page
    .getByText(/^Preview with loss mask off .*all ratios 1:/)
    .first()
    .waitFor();
  await mask.click();
  await tried.waitFor({ state: 'detached' });
  const box = await settled(() => mask.boundingBox());
  const { x, y, width, height } = box ?? { x: 0, y: 0, width: 0, height: 0 };
  for (const part of [0.3, 0.7]) await page.mouse.move(x + part * width, y + height / 2);
  await framesLater(page); // longer than a pointer has to linger
  expect(await tried.count()).toBe(0);
  await page.locator('#knob-groupSize').fill('2');
  await tried.getByText(/first 2 /).waitFor();
  await expect.poll(() => page.locator('.rollout-chip[data-kept="false"]').count()).toBe(6);
  await page.locator('#knob-groupSize').fill('16');
  await page.getByText('can’t be previewed').waitFor();
  await page.locator('#knob-groupSize').fill('8');
  await page.locator('#knob-groupSize').blur();
  await page.getByText('Hover a knob or a term').waitFor();
  await expect.poll(() => page.locator('.rollout-chip[data-kept="false"]').count()).toBe(0);
  expect(await checksum(page)).toBe(sum);
  expect((await read(page)).running).toBe(false);
  await fold(page, 'Objective', 'Rollouts');
  expect(problems).toEqual([]);
});

test('MUST-14: displayed advantages are (r − mean) / (std + ε) of the displayed rewards, and what the trainer used', async () => {
  const { page } = lab;
  await page.getByRole('link', { name: 'Group' }).click();
  await page.getByTestId('shared').waitFor();
  await page.getByText('/ (standard deviation + ε)').waitFor();
  await expect.poll(() => page.getByTestId('group-advantage').count()).toBe(8);
  const rewards = (await page.getByTestId('group-score').allTextContents()).map(numberIn);
  const advantages = (await page.getByTestId('group-advantage').allTextContents()).map(numberIn);
  const mean = rewards.reduce((a, b) => a + b, 0) / rewards.length;
  const std = Math.sqrt(rewards.reduce((a, r) => a + (r - mean) ** 2, 0) / (rewards.length - 1));
  expect(rewards).toHaveLength(8);
  advantages.forEach((a, i) => expect(Math.abs(a - ((rewards[i] ?? 0) - mean) / (std + 1e-6))).toBeLessThan(1e-3));
  expect(advantages).toHaveLength(8);
  // on a small laptop all eight are in sight
  await page.setViewportSize({ width: 1280, height: 720 });
  const status = (await page.locator('.status').boundingBox())?.y ?? 0;
  const lowest = () =>
    page.locator('.group-table tbody tr').evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().bottom));
  await expect.poll(async () => Math.max(...(await lowest()))).toBeLessThan(status);
  expect(await page.locator('.group-table').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(
    0,
  );
  await page.setViewportSize(DESKTOP);
});

test('another token than the one drawn is played on from, beside the original, and nothing is learned from it', async () => {
  const { page, problems } = lab;
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
  expect(await checksum(page)).toBe(before);
  const after = await read(page);
  expect([after.update, after.metrics]).toEqual([update, metrics]);
  await branch.getByRole('button', { name: 'Close branch' }).click();
  await page.getByTestId('trajectory').waitFor();
  // last of all, as it ends the run: a run that is begun anew has none of the branches before it, not even the one in view
  await page.locator('[data-token="3"]').click();
  await page.locator('.option').first().waitFor();
  await settled(() => page.locator('.option').allTextContents());
  await page.locator('.option:not([data-drawn="true"])').first().click();
  await branch.waitFor();
  await page.getByRole('button', { name: 'Reset' }).click();
  await branch.waitFor({ state: 'detached' });
  expect(problems).toEqual([]);
});

test('on a phone a tap on ƒ opens the formula and pins the knob, the next lets it go', async () => {
  const { page, problems } = await visitStill(browser, { hash: '#/lab', viewport: PHONE, hasTouch: true });
  await page.locator('.views').getByText('Tune').tap();
  const button = page.getByRole('button', { name: 'Where Loss mask acts in the formula' });
  await button.waitFor();
  await page.locator('.formula-dock').waitFor();
  await button.tap();
  await page.locator('.term[data-term="surrogate"][data-lit="true"]').first().waitFor();
  await page.locator('.lit-strip [data-lit="1"]').first().waitFor({ state: 'attached' });
  await button.waitFor();
  await button.tap();
  await page.getByText('Tap the ƒ of a knob, or a term').waitFor();
  await expect.poll(() => litTerms(page)).toEqual([]);
  // folded, the switch alone answers
  await page.locator('.formula-dock > summary').tap();
  await page.getByRole('switch', { name: 'Loss mask' }).tap();
  await page
    .getByTestId('tried')
    .getByText(/^With off: /)
    .waitFor();
  await page.getByRole('switch', { name: 'Loss mask' }).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});
