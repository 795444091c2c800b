import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { invariants, checkInvariant } from '../../src/page/words/maskChecks.ts';
import { checksum, framesLater, launch, read, stepped, still, train, unfold, visitStill, WITHOUT_GPU } from './lab.ts';

const FIRST_UPDATE_MS = 60_000; // on a slow shared machine; 20 s is the aim
// no run ends before the test is through
const SMALL = '#/lab?v=1&prompts=4&groupSize=4&evalTasks=16&updates=100000';
let gpu: Browser;
let plain: Browser;
beforeAll(async () => {
  [gpu, plain] = await Promise.all([launch('adapter'), launch('no adapter')]);
});
afterAll(() => Promise.all([gpu.close(), plain.close()]));

test('with WebGPU: Run trains on the adapter, named, and no observation token is in the loss', async () => {
  const { page, problems } = await visitStill(gpu, { hash: `${SMALL}&backend=gpu` });
  const first = await train(page, 2, FIRST_UPDATE_MS);
  console.log(`first update after ${first} ms`);
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Run training' }).waitFor();
  await expect.poll(() => page.getByTestId('backend').textContent()).toMatch(/WebGPU.*software GPU/);
  await still(page);
  await page
    .getByTestId('group')
    .getByText(/update \d+/)
    .waitFor();
  const { batch, backend, metrics } = await read(page);
  expect(backend?.kind).toBe('gpu');
  expect(batch).toMatchObject({ isExample: false, rows: 16, observationsTrained: 0 });
  expect(batch.trained).toBeGreaterThan(0);
  expect(metrics['rollout/logprob_mismatch']).toBeLessThan(1e-3);
  for (const label of await page
    .locator('.token[data-kind="observation"]')
    .evaluateAll((all) => all.map((e) => e.ariaLabel))) {
    expect(label).toContain('in loss: no');
  }
  expect(problems).toEqual([]);
  await page.context().close();
});

test('with WebGPU: a link to a token of an update, opened elsewhere and trained, shows that token with the same words, numbers and weights', async () => {
  const link = '#/lab?backend=gpu&prompts=2&groupSize=4&evalTasks=4&seed=7';
  const looks = async (page: Page) => {
    await page.getByTestId('distribution').waitFor();
    const { backend, batch, selection, metrics } = await read(page);
    return {
      ...{ kind: backend?.kind, batch },
      ...{ row: selection.row, turn: selection.turn, token: selection.token },
      numbers: Object.entries(metrics).filter(([name]) => !/^time\/|per_second/.test(name)),
      words: await page.getByTestId('trajectory').locator('.token .word').allTextContents(),
      likely: await page.getByTestId('distribution').innerText(),
      weights: await checksum(page),
    };
  };
  const { page } = await visitStill(gpu, { hash: link });
  await stepped(page, 2);
  await page.getByRole('button', { name: /^Rollout 3:/ }).click();
  await page.locator('[data-token="3"]').click();
  const sent = await looks(page);
  expect(sent).toMatchObject({ kind: 'gpu', batch: { update: 2 }, row: 2, token: 3 });
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  const field = page.getByRole('dialog', { name: 'Share' }).getByLabel('Link');
  await expect.poll(() => field.inputValue()).toMatch(/&update=2&rollout=2&.*token=3/);
  const address = await field.inputValue();
  await page.context().close();

  const { page: other, problems } = await visitStill(gpu, { hash: address.slice(address.indexOf('#')) });
  await stepped(other, 2);
  expect(await looks(other)).toEqual(sent);
  expect(problems).toEqual([]);
  await other.context().close();
});

test('on a software adapter auto measures both, takes the faster backend, and says why', async () => {
  const { page, problems } = await visitStill(gpu, { hash: SMALL });
  await train(page, 2, FIRST_UPDATE_MS);
  await expect.poll(() => page.getByTestId('backend').textContent()).toMatch(/CPU.*WebAssembly SIMD.*WebGPU/);
  expect((await read(page)).backend?.kind).toBe('cpu');
  expect(problems).toEqual([]);
  await page.context().close();
});

test.each([
  ['no adapter answers', '', /CPU.*no adapter/],
  ['there is no navigator.gpu', WITHOUT_GPU, /CPU.*no WebGPU/],
] as const)(
  'without WebGPU (%s): the CPU backend is named with the reason, and trains',
  async (_, everywhere, words) => {
    const { page, problems } = await visitStill(plain, { everywhere, hash: SMALL });
    await train(page, 2, FIRST_UPDATE_MS);
    await expect.poll(() => page.getByTestId('backend').textContent()).toMatch(words);
    expect((await read(page)).backend?.kind).toBe('cpu');
    expect(problems).toEqual([]);
    await page.context().close();
  },
);

test('Space pauses and the count then stands still; a step adds exactly one update; Reset goes back to 0', async () => {
  const { page } = await visitStill(plain, { hash: `${SMALL}&backend=cpu` });
  await train(page, 2);
  await page.locator('body').press('Space');
  await still(page);
  const paused = (await read(page)).update;
  await framesLater(page, 90);
  expect((await read(page)).update).toBe(paused);
  await page.getByRole('button', { name: 'Step one update' }).click();
  await page.waitForFunction((n) => window.__playground?.snapshot().update === n, paused + 1);
  await framesLater(page, 90);
  expect((await read(page)).update).toBe(paused + 1);
  await page.getByRole('button', { name: 'Reset' }).click();
  await page.waitForFunction(() => window.__playground?.snapshot().update === 0);
  await page.context().close();
});

test('a live knob acts without a restart and leaves a flag; a restart knob waits for its button', async () => {
  const { page } = await visitStill(plain, { hash: `${SMALL}&backend=cpu` });
  await train(page, 2);
  await unfold(page, 'Optimizer', 'Model');
  await page.getByLabel('Learning rate η', { exact: true }).fill('0.0005');
  await page.getByTestId('last-flag').getByText('Learning rate η 0.002 → 5e-4').waitFor();
  await page.waitForFunction(
    () => Math.abs((window.__playground?.snapshot().metrics['actor/lr'] ?? 0) - 0.0005) < 1e-9,
  );
  const before = await read(page);
  expect(before.update).toBeGreaterThan(1);
  await expect.poll(() => page.url()).toContain('learningRate=5e-4');

  await page.getByLabel('Layers', { exact: true }).fill('1');
  const restart = page.getByRole('button', { name: 'Restart to apply' });
  await restart.waitFor();
  expect((await read(page)).applied?.layers).toBe(2);
  await restart.click();
  await page.waitForFunction(() => window.__playground?.snapshot().applied?.layers === 1);
  await expect.poll(() => restart.count()).toBe(0);
  await page.context().close();
});

test('with the loss mask off, observation tokens enter the loss and are labelled so', async () => {
  const { page } = await visitStill(plain, { hash: `${SMALL}&backend=cpu&lossMask=off` });
  await train(page, 1);
  await page
    .getByTestId('group')
    .getByText(/update \d+/)
    .waitFor();
  const { batch } = await read(page);
  expect(batch.observationsTrained).toBe(batch.observations);
  await page.locator('.token[data-kind="observation"][aria-label*="in loss: yes"]').first().waitFor();
  await page.context().close();
});

test('an impossible configuration is refused with its reason, and the run that was there stays', async () => {
  const { page } = await visitStill(plain, { hash: `${SMALL}&backend=cpu&critic=none` });
  await train(page, 2);
  await unfold(page, 'Objective');
  await page.getByLabel('Advantage', { exact: true }).selectOption('gae');
  await page.getByText('critic: none, but gae needs a critic.').first().waitFor();
  const { update, applied } = await read(page);
  expect(applied?.estimator).toBe('grpo');
  await page.waitForFunction((n) => (window.__playground?.snapshot().update ?? 0) > n, update);
  await page.context().close();
});

test('an algorithm chosen while it runs acts from the next batch, as one flagged and undoable change', async () => {
  const { page, problems } = await visitStill(plain, { hash: `${SMALL}&backend=cpu` });
  await train(page, 1);
  const { update } = await read(page);
  await page.getByLabel('Algorithm', { exact: true }).selectOption('ppo');
  await page.getByTestId('last-flag').getByText('Advantage grpo → gae').waitFor();
  await page.waitForFunction(() => window.__playground?.snapshot().applied?.estimator === 'gae');
  // a batch in which nothing was paid teaches a head that begins at 0 nothing: not each of the next has a loss
  await page.waitForFunction(() => (window.__playground?.snapshot().metrics['critic/vf_loss'] ?? 0) > 0);
  await expect.poll(async () => (await read(page)).update).toBeGreaterThan(update);
  await page.locator('body').press('Control+z');
  await page.waitForFunction(() => window.__playground?.snapshot().applied?.estimator === 'grpo');
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a person’s choice between two rollouts reaches the reward model', async () => {
  const { page, problems } = await visitStill(plain, {
    hash: `${SMALL}&backend=cpu&rewardModel=on&preferenceReward=0.5`,
  });
  await train(page, 2);
  await page
    .getByTestId('group')
    .getByText(/update \d+/)
    .waitFor();
  await page.getByRole('button', { name: 'Which is better?' }).click();
  await page.getByRole('button', { name: 'A is better' }).click();
  await page.waitForFunction(() => window.__playground?.snapshot().preferences?.clicks === 1);
  expect(problems).toEqual([]);
  await page.context().close();
});

test.each(['gae', 'grpo', 'reinforce++'])(
  '%s: what is counted on the tensors is what each of the four mask cells promises',
  async (estimator) => {
    // a policy that stays as it is, and enough prompts: every batch has groups that differ, so weights that may be there are
    const still = `${SMALL.replace('prompts=4', 'prompts=16')}&learningRate=0`;
    const { page, problems } = await visitStill(plain, {
      hash: `${still}&backend=cpu&lambda=0.95&estimator=${estimator}`,
    });
    await train(page, 1);
    await unfold(page, 'What the masks do');
    const cells = page.getByRole('table').getByRole('button');
    for (const at of [3, 2, 1, 0]) {
      const flagged = (await read(page)).flags.length;
      await cells.nth(at).click();
      await page.waitForFunction((n) => (window.__playground?.snapshot().flags.length ?? 0) > n, flagged);
      const acts = (await read(page)).flags.at(-1)?.update ?? 0; // `update` is what the page shows, which may lag behind
      await page.waitForFunction((n) => (window.__playground?.snapshot().update ?? 0) >= n + 2, acts);
      const { metrics, applied } = await read(page);
      if (!applied) throw new Error('the run has a configuration');
      for (const each of invariants(applied)) {
        const value = metrics[each.metric];
        expect([each.metric, each.expected, value], `cell ${at}`).toSatisfy(
          () => value !== undefined && checkInvariant(each, value) === 'holds',
        );
      }
    }
    expect(problems).toEqual([]);
    await page.context().close();
  },
);
