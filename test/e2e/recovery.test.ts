import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  finished,
  launch,
  loaded,
  read,
  saved,
  savedRunsFound,
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

const inject = (page: Page, fault: string) => page.evaluate((f) => window.__playground?.inject(f), fault);
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
test('MUST-22: a save with one flipped bit in a weight is not gone on with; what is wrong is said, and the page trains', async () => {
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
  await train(page, 1);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a save that the browser refuses names how much there is and what to delete, and never stops training', async () => {
  const { page, problems } = await visitStill(browser, { hash: until(3) });
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
  await page.reload();
  expect(await savedRunsFound(page)).toBe(0);
  expect(await page.getByTestId('resume').count()).toBe(0);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a database that never answers is told within seconds, before a run and during one; training goes on', async () => {
  const { page, problems } = await visitStill(browser, {
    hash: until(100_000),
    before: () => {
      IDBFactory.prototype.open = () => new EventTarget() as IDBOpenDBRequest;
      // the page's patience is tested, not waited for
      const usual = window.setTimeout;
      const sooner = (...[act, ms, ...given]: Parameters<typeof usual>) => usual(act, ms === 5000 ? 200 : ms, ...given);
      Object.assign(window, { setTimeout: sooner });
    },
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
  const { page } = await visitStill(browser, { hash: until(100_000) });
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
  const first = await visitStill(browser, { hash: until(3) });
  await finished(first.page, 3);
  await saved(first.page);
  const one = await stateOf(first.page);
  const other = await first.page.context().newPage();
  await other.goto(first.page.url().replace(/#.*/, until(4).replace('seed=7', 'seed=8')));
  await loaded(other);
  expect(await savedRunsFound(other)).toBe(0);
  expect(await other.getByTestId('resume').count()).toBe(0);
  await finished(other, 4);
  await saved(other);
  const two = await stateOf(other);
  await expect.poll(() => runsKept(other)).toBe(2);
  const own = await tabsOpen(other);
  await first.page.close();
  await expect.poll(() => tabsOpen(other)).toBeLessThan(own); // its place is free a moment later
  await other.reload();
  const card = other.getByTestId('resume');
  await card.getByRole('button', { name: 'Resume update 3' }).waitFor();
  await card.getByRole('button', { name: 'Resume update 4' }).click();
  await other.waitForFunction(() => window.__playground?.snapshot().update === 4);
  await still(other);
  expect(await stateOf(other)).toEqual(two);
  await saved(other);
  await other.reload();
  await card.getByRole('button', { name: 'Resume update 3' }).click();
  await other.waitForFunction(() => window.__playground?.snapshot().update === 3);
  await still(other);
  expect(await stateOf(other)).toEqual(one);
  await other.context().close();
});

test('MUST-16: an injected NaN pauses the run within an update, names its cause and rolls back; one click lowers the rate and goes on', async () => {
  const { page, problems } = await visitStill(browser, { hash: until(100_000) });
  await stepped(page, 3);
  await still(page);
  const finite = await stateOf(page);
  await inject(page, 'nan');
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
  await inject(page, 'nan');
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
  await page.context().close();
});

test('MUST-17: an injected loss of the device offers to recover; training then goes on from the last update without a reload', async () => {
  const { page, problems } = await visitStill(browser, { hash: until(3) });
  await finished(page, 3);
  const before = await stateOf(page);
  await inject(page, 'device-loss');
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
  await page.context().close();
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
