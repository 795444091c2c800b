import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { Weights } from '../../src/model/architecture.ts';
import { createCpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import type { BatchView } from '../../src/domain/batch.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { openSession } from '../../src/session/session.ts';
import { Role } from '../../src/domain/tokens.ts';
import { leaveToWeekly } from '../weekly.ts';
import { allTurnsDrawn, checksum, launch, numberIn, read, stepped, train, visitStill } from './lab.ts';
import { NAIVE } from '../model/naiveArithmetic.ts';

const RUN = '#/lab?v=1&prompts=4&groupSize=4&evalTasks=4&backend=cpu&seed=7&updates=100000';
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

/** Takes some updates and goes to the update screen once it has its numbers. */
async function updateScreen(page: Page): Promise<void> {
  await stepped(page, 2);
  await page.keyboard.press('u');
  await page.locator('.change').first().waitFor();
  await page.getByTestId('rerun').waitFor();
}

const part = async (page: Page, testId: string) =>
  numberIn(/[+−]?\d+\.\d+/.exec((await page.getByTestId(testId).first().textContent()) ?? '')?.[0] ?? null);

const NODE = {
  gpu: undefined,
  shippedFile: async (path: string) => {
    const { buffer, byteOffset, byteLength } = await readFile(`public/${path}`);
    return buffer.slice(byteOffset, byteOffset + byteLength);
  },
  now: () => 0,
  yieldToEvents: () => Promise.resolve(),
};

describe('two updates of a run', () => {
  let page: Page;
  let problems: readonly string[];
  beforeAll(async () => {
    ({ page, problems } = await visitStill(browser, { hash: RUN }));
    await updateScreen(page);
  });
  afterAll(() => page.context().close());

  test('WOW-36: the largest changes shown are those of a fresh forward pass under both sets of weights, to 1e-4', async () => {
    const { applied, batch } = await read(page);
    const shown = await page.locator('.change').evaluateAll((all) =>
      all.map((button) => ({
        row: Number(button.getAttribute('data-row')),
        t: Number(button.getAttribute('data-position')),
        p: button.querySelector('.change-p')?.textContent ?? '',
        delta: button.querySelector('.change-delta')?.textContent ?? '',
        word: button.querySelector('.word')?.textContent ?? '',
      })),
    );
    expect(shown.length).toBeGreaterThanOrEqual(10);

    // the same run again, away from the page, and each set of weights in a float64 policy
    const session = await openSession(parseConfig(applied ?? {}), NODE, () => undefined);
    const weights: Weights[] = [];
    let last: BatchView | undefined;
    while (weights.length <= batch.update) {
      const next = await session.events.next();
      if (next.done === true) throw new Error('training goes on for ever');
      if (next.value.type === 'batch') last = next.value.batch;
      if (next.value.type === 'metrics') weights.push((await session.policy.readState()).policy.weights);
    }
    if (!last) throw new Error('no batch');
    const { model, length } = session.policy;
    const spec = { model, critic: 'none', rows: last.rows, length, minibatchRows: last.rows } as const;
    const probabilities = async (from: Weights) => {
      const fresh = createCpuPolicy(spec, learningMath, { loops: NAIVE.f64, seed: 1, reason: '' });
      fresh.setGrammar(session.env.grammar(true));
      fresh.writeWeights(from);
      const { tokens, roles, states } = last;
      fresh.load({ tokens, roles, states });
      await fresh.score(applied?.temperature ?? 1, { reference: false, values: false });
      return (await fresh.report()).logprobs.map(Math.exp);
    };
    const before = await probabilities(weights.at(-2)!);
    const after = await probabilities(weights.at(-1)!);
    for (const { row, t, p, delta, word } of shown) {
      const i = row * length + t;
      const [from, to] = p.split(' → ').map(numberIn);
      expect(Math.abs(from! - before[i]!)).toBeLessThan(1e-4);
      expect(Math.abs(to! - after[i]!)).toBeLessThan(1e-4);
      expect(Math.abs(numberIn(delta.slice(2)) - (after[i]! - before[i]!))).toBeLessThan(1e-4);
      expect(delta.startsWith(after[i]! >= before[i]! ? '▲' : '▼')).toBe(true);
      expect(word).toBe(session.env.vocabulary[last.tokens[i]!]);
    }
    const sizes = shown.map(({ row, t }) => Math.abs(after[row * length + t]! - before[row * length + t]!));
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    const largest = Math.max(
      ...[...last.roles].map((role, i) => (role === Role.action ? Math.abs(after[i]! - before[i]!) : 0)),
    );
    expect(Math.abs(sizes[0]! - largest)).toBeLessThan(1e-6);
    session.dispose();
    expect(problems).toEqual([]);
  });

  test('what is chosen on the update screen stays chosen on the others', async () => {
    const change = page.locator('.change').nth(2);
    const [row, t] = await change.evaluate((button) =>
      [button.getAttribute('data-row'), button.getAttribute('data-position')].map(Number),
    );
    await change.click();
    await expect.poll(async () => (await read(page)).selection).toMatchObject({ row, token: t });
    await page.keyboard.press('l');
    await page.locator(`[data-token="${t}"][aria-pressed="true"]`).waitFor();
    await expect.poll(() => page.url()).toContain(`token=${t}`);
  });

  test('attention is shown for each head and layer over the tokens before; a head adds up to 1, and so do the roles', async () => {
    await page.keyboard.press('l');
    await page.locator('[data-token="9"]').click();
    await page.getByText('Attention', { exact: true }).click();
    const view = page.getByTestId('attention');
    await view.waitFor();
    for (const layer of ['layer 1', 'layer 2']) {
      await view.getByRole('button', { name: layer }).click();
      await view.getByRole('button', { name: layer, pressed: true }).waitFor();
      const rows = await view
        .locator('tbody tr')
        .evaluateAll((all) =>
          all.map((row) => [...row.querySelectorAll('td')].map((cell) => Number(cell.dataset['weight']))),
        );
      expect(rows.length).toBe(9);
      for (let head = 0; head < rows[0]!.length; head++) {
        expect(rows.reduce((sum, row) => sum + row[head]!, 0)).toBeCloseTo(1, 4);
      }
      const shares = await view
        .locator('[data-share]')
        .evaluateAll((all) => all.map((share) => Number(share.getAttribute('data-share'))));
      expect(shares.length).toBe(5);
      expect(shares.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 3);
    }
    expect(problems).toEqual([]);
  });

  test('the update screen follows a run that goes on', async () => {
    await page.keyboard.press('Escape');
    await page.keyboard.press('u');
    await train(page, 3);
    const chip = page.locator('#changes-title .chip');
    await chip.waitFor();
    const first = await chip.textContent();
    await expect.poll(() => chip.textContent()).not.toBe(first);
    expect(problems).toEqual([]);
  });
});

test('WOW-34: contributions of rollouts, momentum and the residual add up to the measured change; a rollout taken out changes the prediction as it says', async () => {
  const { page, problems } = await visitStill(browser, { hash: `${RUN}&klCoef=0.05&entropyCoef=0.01&weightDecay=0.1` });
  await updateScreen(page);
  const sum = await checksum(page);
  for (const nth of [0, 3]) {
    await page.locator('.change').nth(nth).click();
    const why = page.locator('main').getByTestId('why');
    // until it is about the token that was pressed now
    await page.locator('main [data-testid="why"][aria-busy="false"]').waitFor();
    const causes = await why.locator('.why-bar').evaluateAll((all) => all.map((bar) => bar.getAttribute('data-cause')));
    expect(causes).toEqual(expect.arrayContaining(['momentum', 'kl', 'entropy', 'decay', 'residual']));
    const parts = (await why.locator('.why-part').allTextContents()).map((text) => numberIn(text.slice(2)));
    expect(parts.every(Number.isFinite)).toBe(true);
    const measured = await part(page, 'why-measured');
    expect(Math.abs(measured)).toBeGreaterThan(0.001);
    expect(Math.abs(parts.reduce((a, b) => a + b, 0) - measured)).toBeLessThan(1e-3);
    // and the measured change is that of the probabilities which the inspector shows
    const apart = async () => {
      const [, was, is] =
        /^(\S+) → (\S+)/.exec((await page.getByTestId('inspector').getByTestId('moved').textContent()) ?? '') ?? [];
      return Math.abs(Math.log(Number(is) / Number(was)) - measured);
    };
    await expect.poll(apart).toBeLessThan(0.02); // three digits each

    const top = parts[0]!;
    const predicted = await part(page, 'why-predicted');
    await why.getByRole('checkbox').first().uncheck();
    const beside = async () => Math.abs((await part(page, 'why-predicted')) - (predicted - top));
    await expect.poll(beside).toBeLessThan(2e-4);
    await why.getByText(top > 0 ? '▼ lower by' : '▲ higher by').waitFor();
    await why.getByRole('checkbox').first().check();
    await expect.poll(() => part(page, 'why-predicted')).toBe(predicted);
  }
  expect(await checksum(page)).toBe(sum);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('WOW-39: while M is held the fills are those of both masks off, nothing is learned, and let go they are as before', async () => {
  const { page, problems } = await visitStill(browser, { hash: `${RUN}&epochs=1&minibatches=1` });
  await stepped(page, 2);
  // to a rollout of a group that is not all alike: there is something to push
  await page.keyboard.press('3');
  const pushed = async () => (await fills(page)).some(({ share }) => share > 0);
  for (let row = 0; row < 16 && !(await pushed()); row++) await page.keyboard.press('j');
  const usual = (await fills(page)).filter(({ kind }) => kind === 'call').map(({ share }) => share);
  await page.keyboard.press('1');
  const [before, sum] = [await fills(page), await checksum(page)];
  expect(before.filter(({ kind }) => kind === 'observation').every(({ loss }) => loss === 'false')).toBe(true);
  await page.keyboard.down('m');
  await page.getByText('Preview with both masks off').waitFor();
  const during = await fills(page);
  const observed = during.filter(({ kind }) => kind === 'observation');
  expect(observed.every(({ loss }) => loss === 'true')).toBe(true);
  expect(observed.some(({ share }) => share > 0)).toBe(true);
  // the agent's own are diluted by the longer denominator
  const diluted = during.filter(({ kind }) => kind === 'call').map(({ share }) => share);
  usual.forEach((share, i) => {
    if (share > 0.05 && share < 0.95) expect(diluted[i]).toBeLessThan(share);
  });
  expect(await checksum(page)).toBe(sum);
  await page.keyboard.up('m');
  await page.getByText('Preview with both masks off').waitFor({ state: 'detached' });
  expect(await fills(page)).toEqual(before);
  expect(await checksum(page)).toBe(sum);

  // pressed again, M shows them predicted: all pushed up, but their tags
  await page.keyboard.down('m');
  await page.getByText('Preview with both masks on and observation loss λ 0.05').waitFor();
  const predicted = (await fills(page)).filter(({ kind }) => kind === 'observation');
  expect(predicted.filter(({ loss }) => loss === 'predicted').length).toBeGreaterThan(0);
  expect(predicted.every(({ loss, share }) => (loss === 'predicted' ? share > 0 : share === 0))).toBe(true);
  await page.keyboard.up('m');
  await page.getByText('Preview with both masks on').waitFor({ state: 'detached' });

  // the same under the pointer, for either switch
  await page.getByRole('switch', { name: 'Loss mask' }).hover();
  await page.getByText('Preview with loss mask off').waitFor();
  await page.mouse.move(700, 20);
  await page.getByText('Preview with loss mask off').waitFor({ state: 'detached' });
  expect(await fills(page)).toEqual(before);
  expect(problems).toEqual([]);
  await page.context().close();
});

const fills = async (page: Page) => {
  await allTurnsDrawn(page);
  return page.locator('.trajectory .token').evaluateAll((all) =>
    all.map((token) => ({
      kind: token.getAttribute('data-kind'),
      loss: token.getAttribute('data-loss'),
      sign: token.getAttribute('data-sign'),
      ramp: token.getAttribute('data-ramp'),
      share: Number(token instanceof HTMLElement ? token.style.getPropertyValue('--share') : NaN),
    })),
  );
};

test('the advantage mask is tried by pointing at its switch or reaching it by keyboard', async (current) => {
  leaveToWeekly(current, 'both masks tried by the key M (WOW-39) and in Node (analysis/questions)');
  const hash = `${RUN}&estimator=gae&critic=shared&criticWarmup=0&lambda=0.8&klRewardCoef=0.05`;
  const { page, problems } = await visitStill(browser, { hash });
  await stepped(page, 2);
  await page.locator('body').press('3');
  const [before, sum] = [await fills(page), await checksum(page)];
  const control = page.getByRole('switch', { name: 'Advantage mask' });
  const label = page.getByText('Preview with advantage mask off');
  await control.hover();
  await label.waitFor();
  const during = await fills(page);
  expect(during.some(({ share }, i) => Math.abs(share - before[i]!.share) > 0.01)).toBe(true);
  await page.mouse.move(700, 20);
  await label.waitFor({ state: 'detached' });
  expect(await fills(page)).toEqual(before);
  // by keyboard, from the switch before it
  await page.getByRole('switch', { name: 'Loss mask' }).focus();
  const focused = () => control.evaluate((element) => element === document.activeElement);
  for (let tab = 0; tab < 4 && !(await focused()); tab++) await page.keyboard.press('Tab');
  await label.waitFor();
  await page.keyboard.press('Tab');
  await label.waitFor({ state: 'detached' });
  expect(await fills(page)).toEqual(before);
  expect(await checksum(page)).toBe(sum);
  expect(problems).toEqual([]);
  await page.context().close();
});
