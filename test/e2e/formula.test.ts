import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  axe,
  checksum,
  framesLater,
  launch,
  numberIn,
  PHONE,
  read,
  settled,
  stepped,
  tooSmall,
  unfold,
  visitStill,
} from './lab.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

// a rate and a clip at which a batch of a few prompts has tokens that are held
const RUN =
  '#/lab?backend=cpu&prompts=4&groupSize=4&minibatches=2&epochs=3&evalEvery=0&evalTasks=8&seed=7&learningRate=0.01&clipLow=0.05&clipHigh=0.05';

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

test('a knob lights its terms and the tokens they touch, a term its knobs; nothing moves, and no weight', async () => {
  const { page, problems } = await visitStill(browser, { hash: RUN });
  await stepped(page, 2);
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
  expect(await axe(page)).toEqual([]);
  await page.mouse.move(700, 20);
  await page.getByText('Hover a knob or a term').waitFor();
  await expect.poll(() => Promise.all([litTerms(page), litTokens(page)])).toEqual([[], 0]);
  expect(await checksum(page)).toBe(sum);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a knob that is turned is tried on the batch in view, and what cannot be had says why', async () => {
  const { page, problems } = await visitStill(browser, { hash: RUN });
  await stepped(page, 2);
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
  for (let k = 0; k < named; k++) {
    await page.getByText(`${k + 1} of ${named}`, { exact: true }).waitFor();
    await page.locator('.trajectory .token[aria-pressed="true"][data-lit="2"]').waitFor();
    const { row, token } = (await read(page)).selection;
    led.push(`${row} ${token}`);
    await page.getByRole('button', { name: 'Next token' }).click();
  }
  expect(new Set(led).size).toBe(named);
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
  await page.getByRole('button', { name: 'KL', exact: true }).click();
  await page.getByText('Not computed: KL β and KL in reward β are 0').waitFor();
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
  await page.locator('#knob-klCoef').fill('0');
  const mask = page.locator('[data-knob="lossMask"] [role="switch"]');
  await mask.click();
  await page.getByText('Preview with loss mask off, all ratios 1:').waitFor();
  await mask.click();
  await tried.waitFor({ state: 'detached' });
  const box = await settled(() => mask.boundingBox());
  const { x, y, width, height } = box ?? { x: 0, y: 0, width: 0, height: 0 };
  for (const part of [0.3, 0.7]) await page.mouse.move(x + part * width, y + height / 2);
  await framesLater(page); // longer than a pointer has to linger
  expect(await tried.count()).toBe(0);
  await page.locator('#knob-groupSize').fill('2');
  await tried.getByText(/first 2 /).waitFor();
  await expect.poll(() => page.locator('.rollout-chip[data-kept="false"]').count()).toBe(2);
  await page.locator('#knob-groupSize').fill('8');
  await page.getByText('can’t be previewed').waitFor();
  await page.locator('#knob-groupSize').fill('4');
  await page.locator('#knob-groupSize').blur();
  await page.getByText('Hover a knob or a term').waitFor();
  await expect.poll(() => page.locator('.rollout-chip[data-kept="false"]').count()).toBe(0);
  expect(await checksum(page)).toBe(sum);
  expect((await read(page)).running).toBe(false);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('the algorithm’s menu is tried as a knob is, with the advantages that Group writes out; the header names what is set', async () => {
  const { page, problems } = await visitStill(browser, { hash: RUN.replace(/&clip.*/, '') });
  await stepped(page, 1);
  await unfold(page, 'Objective');
  const place = () => page.locator('[data-knob="clipHigh"]').evaluate((e) => e.getBoundingClientRect().top);
  await page.locator('#knob-clipHigh').focus();
  const before = await settled(place);
  await page.locator('#knob-clipHigh').fill('0.3');
  await page.locator('.algorithm-apart').waitFor(); // lines above it
  expect(Math.abs((await settled(place)) - before)).toBeLessThan(1);
  await page.locator('#knob-clipHigh').fill('0.2');
  await page.getByLabel('Algorithm').selectOption('rloo');
  await page
    .getByTestId('tried')
    .getByText(/^With rloo: \d+ /)
    .waitFor();
  await page.getByRole('button', { name: 'Adv.', exact: true }).click();
  await page.mouse.move(700, 20);
  await page.getByLabel('Algorithm').blur();
  const value = page.locator('.trajectory .token[data-loss="true"] .token-value').first();
  await expect.poll(() => value.textContent()).toContain('→');
  const would = numberIn((await value.textContent())?.split('→')[1] ?? '');
  await page.locator('.preset-door').getByText('Number hunt · RLOO').waitFor();
  await page.locator('.header').getByText('from GRPO').waitFor();
  await page.getByRole('link', { name: 'Group', exact: true }).click();
  await page.getByRole('button', { name: 'RLOO', exact: true }).click();
  const compared = page.locator('tr[data-chosen="true"]').getByTestId('group-compared');
  expect(numberIn(await compared.textContent())).toBeCloseTo(would, 2); // three digits in the rollout
  await page.getByRole('link', { name: 'Lab', exact: true }).click();
  await page.locator('#knob-clipHigh').waitFor(); // the group is open still
  expect(problems).toEqual([]);
  await page.context().close();
});

test('on a phone a tap on ƒ opens the formula and pins the knob, the next lets it go; nothing is clipped', async () => {
  const { page, problems } = await visitStill(browser, { hash: '#/lab', viewport: PHONE, hasTouch: true });
  await page.locator('.views').getByText('Tune').tap();
  const button = page.getByRole('button', { name: 'Where Loss mask acts in the formula' });
  await button.waitFor();
  await page.locator('.formula-dock').waitFor();
  expect(await tooSmall(page)).toEqual([]);
  await button.tap();
  await page.locator('.term[data-term="surrogate"][data-lit="true"]').first().waitFor();
  await page.locator('.lit-strip [data-lit="1"]').first().waitFor({ state: 'attached' });
  await button.waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
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
  expect(await tooSmall(page)).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
});
