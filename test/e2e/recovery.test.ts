import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { leaveToWeekly } from '../weekly.ts';
import {
  choosePreset,
  finished,
  framesLater,
  launch,
  loaded,
  pause,
  read,
  saved,
  savedRunsFound,
  stands,
  stateOf,
  stepped,
  still,
  train,
  visitStill,
} from './lab.ts';

// the least of everything, as what is looked at is what becomes of a run
const RUN =
  '#/lab?v=1&prompts=2&groupSize=4&layers=1&width=16&heads=2&kvHeads=2&ffn=16&warmStart=none&evalTasks=4&backend=cpu&seed=7';
let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

const injectFault = (page: Page, fault: string) => page.evaluate((f) => window.__playground?.inject(f), fault);
const until = (updates: number) => `${RUN}&updates=${updates}`;

/** Runs that this browser keeps; one that is dropped is gone a moment after the page has said so. */
const runsKept = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<number>((resolve, reject) => {
        const open = indexedDB.open('rollout-playground', 1);
        open.onsuccess = () => {
          const got = open.result.transaction('runs').objectStore('runs').count();
          got.onsuccess = () => resolve(got.result);
          got.transaction?.addEventListener('complete', () => open.result.close());
        };
        open.onerror = () => reject(new Error('no database'));
      }),
  );

/** Tabs of this browser that have a place to save their run at. */
const tabsOpen = (page: Page) =>
  page.evaluate(async () => {
    const { held = [] } = await navigator.locks.query();
    return held.filter(({ name }) => name?.startsWith('rollout-playground-run-')).length;
  });

// all else that can be wrong with a save: test/ui/saves.test.ts
test('MUST-22: a save with one flipped bit in a weight is not gone on with; what is wrong is said; one that the browser refuses names how much there is and what to delete, and never stops training', async () => {
  const { page, problems } = await visitStill(browser, { hash: until(3) });
  await finished(page, 3);
  await saved(page);
  await expect.poll(() => runsKept(page)).toBe(1);
  await page.evaluate(
    () =>
      new Promise<void>((resolve, reject) => {
        const open = indexedDB.open('rollout-playground', 1);
        open.onsuccess = () => {
          const store = open.result.transaction('runs', 'readwrite').objectStore('runs');
          const cursor = store.openCursor();
          cursor.onsuccess = () => {
            const run = cursor.result?.value as { readonly tensors: ReadonlyMap<string, Float32Array> };
            const norm = run.tensors.get('policy.weights.model.norm.weight') ?? new Float32Array(0);
            new Uint32Array(norm.buffer, norm.byteOffset, norm.length)[2]! ^= 1;
            const put = cursor.result?.update(run);
            if (!put) return;
            put.onsuccess = () => {
              open.result.close();
              resolve();
            };
          };
        };
        open.onerror = () => reject(new Error('no database'));
      }),
  );
  await page.reload();
  const card = page.getByTestId('resume');
  await card.getByText(/can’t be resumed/).waitFor();
  await card.getByText(/damaged.*checksum/).waitFor();
  expect(await card.getByRole('button', { name: /^Resume/ }).count()).toBe(0); // all are shown at once
  await card.getByRole('button', { name: 'Forget it' }).click();
  await expect.poll(() => runsKept(page)).toBe(0);

  await page.evaluate(() => {
    IDBObjectStore.prototype.put = () => {
      throw new DOMException('', 'QuotaExceededError');
    };
  });
  await finished(page, 3);
  const said = page.getByTestId('saved').getByText(/^not saved: .* full/);
  await expect.poll(() => said.textContent()).toMatch(/[\d.]+ MiB; [\d.]+ MiB of [\d.]+ MiB .*Delete/);
  const { update } = await read(page);
  await page.getByRole('button', { name: 'Run training' }).click();
  await page.waitForFunction((n) => (window.__playground?.snapshot().update ?? 0) > n, update);
  expect(await runsKept(page)).toBe(0); // so that nothing is offered after a reload
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a database that never answers is told within seconds, before a run and during one; training goes on', async () => {
  const { page, problems } = await visitStill(browser, {
    hash: until(100_000),
    before: [
      () => {
        IDBFactory.prototype.open = () => new EventTarget() as IDBOpenDBRequest;
        // the page's patience is tested, not waited for
        const usual = window.setTimeout;
        const sooner = (...[act, ms, ...given]: Parameters<typeof usual>) =>
          usual(act, ms === 5000 ? 200 : ms, ...given);
        Object.assign(window, { setTimeout: sooner });
      },
    ],
  });
  await page.getByTestId('notices').getByText("the browser's database has not answered for 5 s").waitFor();
  await page.getByRole('button', { name: 'Run training' }).click();
  await page.getByTestId('saved').getByText("not saved: the browser's database has not answered").waitFor();
  const { update } = await read(page);
  await page.waitForFunction((n) => (window.__playground?.snapshot().update ?? 0) > n, update);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a screen that does not load says so in its place; the links to the others and the run stay', async () => {
  const { page } = await visitStill(browser, { worker: 'fake', hash: until(100_000) });
  await train(page, 1);
  await page.route('**/assets/Runs-*.js', (route) => route.abort());
  await page.getByRole('link', { name: 'Compare', exact: true }).click();
  const broken = page.getByTestId('broken').first();
  await broken.getByText(/“Compare · Runs”/).waitFor();
  await broken.getByRole('button', { name: 'Reload and keep the run' }).waitFor();
  const { update } = await read(page);
  await page.waitForFunction((n) => (window.__playground?.snapshot().update ?? 0) > n, update);
  await broken.getByRole('link', { name: 'Go to the lab' }).click();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  await broken.waitFor({ state: 'detached' });
  await page.context().close();
});

test('two tabs keep their runs apart: each is offered after a reload with its own weights, and neither while its tab is open', async () => {
  const { page } = await visitStill(browser, { hash: until(3) });
  await finished(page, 3);
  await saved(page);
  const one = await stateOf(page);
  const other = await page.context().newPage();
  await other.goto(page.url().replace(/#.*/, until(4).replace('seed=7', 'seed=8')));
  await loaded(other);
  expect(await savedRunsFound(other)).toBe(0);
  expect(await other.getByTestId('resume').count()).toBe(0);
  await finished(other, 4);
  await saved(other);
  const two = await stateOf(other);
  await expect.poll(() => runsKept(other)).toBe(2);
  const own = await tabsOpen(page);
  await other.close();
  await expect.poll(() => tabsOpen(page)).toBeLessThan(own); // its place is free a moment later
  await page.reload();
  const card = page.getByTestId('resume');
  await card.getByRole('button', { name: 'Resume update 4' }).waitFor();
  await card.getByRole('button', { name: 'Resume update 3' }).click();
  await page.waitForFunction(() => window.__playground?.snapshot().update === 3);
  await still(page);
  expect(await stateOf(page)).toEqual(one);
  await saved(page);
  await page.reload();
  await card.getByRole('button', { name: 'Resume update 4' }).click();
  await page.waitForFunction(() => window.__playground?.snapshot().update === 4);
  await still(page);
  expect(await stateOf(page)).toEqual(two);
  await page.context().close();
});

describe('what happens to a run under way', () => {
  let page: Page;
  let problems: readonly string[];
  beforeAll(async () => {
    ({ page, problems } = await visitStill(browser, { hash: until(100_000) }));
  });
  afterAll(() => page.context().close());

  test('MUST-16: an injected NaN pauses the run within an update, names its cause and rolls back; one click lowers the rate and goes on', async () => {
    await stepped(page, 3);
    await still(page);
    const finite = await stateOf(page);
    await injectFault(page, 'nan');
    await page.getByRole('button', { name: 'Run training' }).click();
    const alert = page.getByTestId('problem');
    await alert
      .getByText(
        new RegExp(
          `^Update ${finite.update + 1}, optimizer step 1 of 4: weight model\\.norm\\.weight is not finite.*Rolled back to update ${finite.update}`,
        ),
      )
      .waitFor();
    await still(page);
    expect(await stateOf(page)).toEqual(finite);
    await page.getByRole('button', { name: 'Run training' }).click();
    await page.waitForFunction((n) => (window.__playground?.snapshot().update ?? 0) > n, finite.update);

    // while it runs
    await injectFault(page, 'nan');
    await alert.getByText(/Rolled back to update \d+/).waitFor();
    await still(page);
    const { update, metrics, config } = await read(page);
    expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
    expect(await page.locator('body').innerText()).not.toMatch(/NaN|undefined/);
    await alert.getByRole('button', { name: 'Learning rate ÷ 10 and continue' }).click();
    await page.waitForFunction((n) => (window.__playground?.snapshot().update ?? 0) > n + 1, update);
    await expect.poll(async () => (await read(page)).metrics['actor/lr']).toBeCloseTo(config.learningRate / 10, 9);
    expect((await read(page)).flags.at(-1)?.text).toContain('0.002 → 2e-4');
    expect(problems).toEqual([]);
  });

  test('MUST-17: an injected loss of the device offers to recover; training then goes on from the last update without a reload', async () => {
    await pause(page);
    await still(page);
    const before = await stateOf(page);
    await injectFault(page, 'device-loss');
    const alert = page.getByTestId('problem');
    await alert.getByText('The browser took the GPU away').waitFor();
    await expect.poll(() => read(page)).toMatchObject({ session: 'failed', running: false });
    await alert.getByRole('button', { name: `Recover from update ${before.update}` }).click();
    await page.waitForFunction(() => window.__playground?.snapshot().session === 'ready');
    await still(page);
    expect(await stateOf(page)).toEqual(before);
    await page.getByRole('button', { name: 'Run training' }).click();
    await page.waitForFunction((n) => (window.__playground?.snapshot().update ?? 0) > n, before.update);
    await expect
      .poll(async () => (await read(page)).points['rollout/success'])
      .toBeGreaterThan(before.points['rollout/success'] ?? 0);
    expect(await page.evaluate(() => window.__playground?.inject('flood').catch((e: unknown) => String(e)))).toMatch(
      /^RangeError: .*flood.*nan.*device-loss.*worker-death.*worker-hang/,
    );
    expect(problems).toEqual([]);
  });
});

test('a start that is refused says why and leaves the page as it stood, at no stage of anything', async () => {
  const { page, problems } = await visitStill(browser, { hash: until(3).replace('&backend=cpu', '&backend=gpu') });
  const { batch } = await read(page);
  await page.getByRole('button', { name: 'Run training' }).click();
  await page.getByTestId('problem').getByText('Look at: Backend.').waitFor();
  await expect
    .poll(() => read(page))
    .toMatchObject({ session: 'none', running: false, update: 0, phase: 'idle', batch });
  await expect.poll(() => page.getByTestId('phase').locator('[data-now="true"]').count()).toBe(0);
  expect(problems).toEqual([]);
  await page.context().close();
});

describe('nothing old stays in view', () => {
  const SMALL = '#/lab?seed=7&prompts=4&groupSize=4&evalTasks=16&evalEvery=0&backend=cpu';
  const tokens = (page: Page) => page.getByTestId('trajectory').locator('.token').count();

  test('after a step no stage is said to be under way; Reset takes the old rollouts out of view on every screen and says what brings new ones', async (current) => {
    leaveToWeekly(current, 'a run at a standstill (ui/standstill) and views without rollouts (ui/noRollouts)');
    const { page, problems } = await visitStill(browser, { hash: SMALL });
    await stepped(page, 1);
    await page.getByTestId('verdict').getByText('Update 1 is done.').waitFor();
    await expect.poll(() => page.locator('.phase[data-now="true"]').count()).toBe(0);
    await page.getByRole('button', { name: 'Step one update' }).click();
    await page.getByTestId('verdict').getByText('Update 2 is done.').waitFor();
    await expect.poll(async () => (await read(page)).phase).toBe('idle');
    await expect.poll(() => page.getByTestId('verdict').textContent()).not.toContain('…');
    await stands(page);

    await expect.poll(() => tokens(page)).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Reset' }).click();
    const note = page.getByTestId('no-rollouts');
    await note.getByText(/no rollouts yet/).waitFor();
    await expect.poll(() => tokens(page)).toBe(0);
    await expect.poll(async () => (await read(page)).batch).toMatchObject({ rows: 0, isExample: false });
    for (const screen of ['group', 'update', 'learn']) {
      await page.evaluate((name) => location.assign(`#/${name}`), screen);
      await page.locator(`.lab[data-screen="${screen}"]`).waitFor();
      await note.waitFor();
      await expect.poll(() => page.locator('.token, .group-turn').count(), { message: screen }).toBe(0);
    }
    await page.evaluate(() => location.assign('#/lab'));
    await page.getByRole('button', { name: 'Step one update' }).click();
    await expect.poll(() => tokens(page)).toBeGreaterThan(0);
    await note.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('another preset plays its own recording, one beside a checkpoint too; knobs that ask for another environment take it out of view, and nothing plays on behind it', async () => {
    const { page, problems } = await visitStill(browser, { reducedMotion: null });
    await expect.poll(() => tokens(page)).toBeGreaterThan(0);
    await choosePreset(page, 'frozen-lake');
    await page.getByTestId('replay').getByText('FrozenLake · PPO, seed 7').waitFor({ state: 'attached' });
    await expect.poll(() => tokens(page)).toBeGreaterThan(0);
    await choosePreset(page, 'smollm2-calculator');
    await page
      .getByTestId('replay')
      .getByText('SmolLM2 · calculator, beside SmolLM2-135M-Instruct, seed 7')
      .waitFor({ state: 'attached' });
    await expect.poll(() => tokens(page)).toBeGreaterThan(0);
    await page.evaluate(() => location.assign('#/lab?v=2&env=world-facts&model=checkpoint&language=text&critic=none'));
    await page.getByTestId('no-rollouts').getByText('another environment or model').waitFor();
    await page.getByTestId('replay-away').waitFor();
    await expect.poll(() => tokens(page)).toBe(0);
    await framesLater(page);
    expect((await read(page)).batch.rows).toBe(0);
    await choosePreset(page, 'number-hunt');
    await expect.poll(() => tokens(page)).toBeGreaterThan(0);
    await page.getByTestId('replay').getByText('Number hunt · GRPO, seed 7').waitFor({ state: 'attached' });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('an address of a task without a recording opens without one; an exercise that reads rollouts brings its own', async () => {
    const { page, problems } = await visitStill(browser, {
      hash: '#/learn?env=world-facts&language=text&model=checkpoint',
    });
    await page.getByTestId('no-rollouts').waitFor();
    await expect.poll(() => tokens(page)).toBe(0);
    const exercise = page.locator('.exercise').first();
    await exercise.locator('.choices button').first().click();
    await exercise.locator('button.primary').click();
    await exercise.locator('.exercise-outcome').waitFor();
    await expect
      .poll(() => exercise.locator('.exercise-outcome').getAttribute('data-verdict'))
      .toMatch(/^(right|wrong)$/);
    await expect.poll(() => tokens(page)).toBeGreaterThan(5);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a screen of a build that the server no longer has says that there is a new version; one press reloads the page and keeps the run', async () => {
    const { page } = await visitStill(browser, { hash: until(100_000) });
    await stepped(page, 1);
    // a new build: the page begins with another script, and the old one's parts are gone
    await page.route('**/assets/Runs-*', (route) => route.fulfill({ status: 404, body: '' }));
    await page.route(inject('baseURL'), async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replaceAll('./assets/', './assets/new-') });
    });
    await page.evaluate(() => location.assign('#/runs'));
    const broken = page.getByTestId('broken');
    await broken.getByText('There is a new version of this page.').waitFor();
    await expect.poll(() => broken.getByRole('button').allTextContents()).toEqual(['Reload and keep the run']);
    await page.getByTestId('new-version').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await broken.getByRole('button', { name: 'Reload and keep the run' }).click();
    await page.locator('.lab[data-screen="runs"]').waitFor();
    await expect.poll(() => broken.count()).toBe(0);
    await page.evaluate(() => location.assign('#/lab'));
    await page.getByRole('button', { name: 'Resume update 1' }).click();
    await page.waitForFunction(() => window.__playground?.snapshot().update === 1);
    await page.context().close();
  });
});
