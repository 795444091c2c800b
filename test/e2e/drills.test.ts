import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium, type Browser, type Page } from 'playwright';
import { afterAll, beforeAll, expect, inject as provided, test } from 'vitest';
import { launchOptions } from '../../scripts/browser.mjs';
import { Purpose, random } from '../../src/base/rng.ts';
import { checksum, DESKTOP, launch, loaded, read, saved, still, train, visitStill } from './lab.ts';

// What can take a run away, brought about many times at random moments: npm run drills, which is a part of npm run test:weekly.
const COUNTS = { losses: 20, reloads: 20, kills: 10, damages: 100 };
const LONG_MS = 900_000;
const RUN = '#/lab?v=1&prompts=4&groupSize=4&evalTasks=16&evalEvery=5&seed=7&updates=';
/** The least model: what takes time on a software adapter is the device, begun anew after each loss. */
const LEAST = '&warmStart=none&layers=1&width=8&heads=1&kvHeads=1&ffn=8';
const ON_GPU = `&backend=gpu${LEAST}`;
const ON_CPU = `&backend=cpu${LEAST}`;
const ENDLESS = 100_000;
/** A run is saved a second after its last update at the latest, and on a busy machine within five. */
const SAVED_MS = 5000;
const draw = random(15, Purpose.shuffle, 0);

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

/** Updates the page has the numbers of. */
const done = (page: Page) => page.evaluate(() => window.__playground?.snapshot().points['rollout/success'] ?? 0);
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const beyond = (page: Page, update: number) =>
  page.waitForFunction((n) => (window.__playground?.snapshot().points['rollout/success'] ?? 0) > n, update, {
    polling: 20,
  });
const go = (page: Page) => page.getByRole('button', { name: 'Run training' }).click();

/** Pauses between two updates; the update and the weights there. */
async function stop(page: Page): Promise<{ update: number; weights: string | undefined }> {
  const before = await done(page);
  await page.getByRole('button', { name: 'Step one update' }).click(); // ends the update under way, or takes another
  await beyond(page, before);
  await still(page);
  return { update: await done(page), weights: await checksum(page) };
}

/** The weights of the same run after so many updates, when nothing happens to it. */
async function undisturbed(at: Browser, knobs: string, updates: number): Promise<string | undefined> {
  const { page } = await visitStill(at, { hash: `${RUN}${updates}${knobs}` });
  await go(page);
  await page.waitForFunction(() => window.__playground?.snapshot().finished, null, { timeout: LONG_MS });
  const weights = await checksum(page);
  await page.context().close();
  return weights;
}

test(
  `${COUNTS.losses} losses of the GPU, as it starts, in every stage and at random moments: each is told, no finished update is lost, the weights are those of a run nothing happened to`,
  async () => {
    const gpu = await launch('adapter');
    const { page, problems } = await visitStill(gpu, { hash: `${RUN}${ENDLESS}${ON_GPU}`, worker: 'unpaced' });
    const moments = ['learn', 'now', 'save', 'rollout', 'score', 'evaluate'] as const;
    const lost: number[] = [];
    // before there is a run: told, and begun again
    await page.evaluate(() => window.__playground?.inject('device-loss', 'start'));
    await go(page);
    const begun = page.getByTestId('problem');
    await begun.getByText('The browser took the GPU away').waitFor();
    await begun.getByRole('button', { name: 'Start again' }).click();
    await beyond(page, 0);
    for (let n = 0; n < COUNTS.losses; n++) {
      const moment = moments[n % moments.length] ?? 'now';
      if (moment === 'now') await wait(1500 * draw.next());
      await page.evaluate((at) => window.__playground?.inject('device-loss', at), moment);
      const alert = page.getByTestId('problem');
      await alert.getByText('The browser took the GPU away').waitFor();
      const finished = await done(page);
      const recover = alert.getByRole('button', { name: /^Recover from update/ });
      lost.push(finished - Number((await recover.textContent())?.match(/\d+/)?.[0]));
      await recover.click();
      await page.waitForFunction(() => window.__playground?.snapshot().session === 'ready');
      await go(page);
      await beyond(page, finished);
    }
    const { update, weights } = await stop(page);
    console.log(`device losses: ${lost.length}, updates lost ${lost.join(' ')}; ended at update ${update}`);
    expect(lost).toEqual(lost.map(() => 0));
    expect(problems).toEqual([]);
    await page.context().close();
    expect(weights).toBe(await undisturbed(gpu, ON_GPU, update));
    await gpu.close();
  },
  LONG_MS,
);

/** What was seen of a run: when, the updates done by then, and the one that the page said it had saved. */
type Seen = readonly [at: number, updates: number, saved: number];

/** Resumes what the page offers; how many updates it is behind what was seen last, and behind what had to be saved by then. */
async function resumed(page: Page, seen: readonly Seen[]): Promise<readonly number[]> {
  const button = page
    .getByTestId('resume')
    .getByRole('button', { name: /^Resume update/ })
    .first();
  await button.waitFor();
  const update = Number((await button.textContent())?.match(/\d+/)?.[0]);
  const [end = 0, last = 0, said = 0] = seen.at(-1) ?? [];
  const due = Math.max(said, seen.findLast(([at]) => at <= end - SAVED_MS)?.[1] ?? 0);
  await button.click();
  await page.waitForFunction((n) => window.__playground?.snapshot().update === n, update);
  return [last - update, Math.max(0, due - update)];
}

/** Trains for a random while; what was seen of it. */
async function trained(page: Page): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  const look = async () => {
    const now = await read(page);
    seen.push([Date.now(), now.points['rollout/success'] ?? 0, now.saved ?? 0]);
  };
  await beyond(page, await done(page));
  const until = Date.now() + 6000 * draw.next();
  do {
    await look();
    await wait(20);
  } while (Date.now() < until);
  await look();
  return seen;
}

// CI has a reload that is resumed bit for bit among the tests of recovery
test(
  `${COUNTS.reloads} reloads at random moments: each run goes on, with the weights of a run nothing happened to`,
  async () => {
    const { page, problems } = await visitStill(browser, { hash: `${RUN}${ENDLESS}${ON_CPU}`, worker: 'unpaced' });
    const lost: (readonly number[])[] = [];
    await go(page);
    for (let n = 0; n < COUNTS.reloads; n++) {
      const seen = await trained(page);
      await page.reload();
      lost.push(await resumed(page, seen));
      await go(page);
    }
    const { update, weights } = await stop(page);
    console.log(
      `reloads: ${lost.length}, updates behind ${lost.map(([all]) => all).join(' ')}; ended at update ${update}`,
    );
    expect(lost.map(([, late]) => late)).toEqual(lost.map(() => 0));
    expect(problems).toEqual([]);
    await page.context().close();
    expect(weights).toBe(await undisturbed(browser, ON_CPU, update));
  },
  LONG_MS,
);

/** A browser of its own process and profile, and how to kill it. */
async function started(profile: string): Promise<{ page: Page; kill: () => Promise<void> }> {
  const { args, ...rest } = launchOptions();
  const file = 'executablePath' in rest ? rest.executablePath : chromium.executablePath();
  const own = ['--headless=new', '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank'];
  const process = spawn(file, [...args, ...own], { detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  const endpoint = await new Promise<string>((resolve, reject) => {
    let text = '';
    process.stderr.on('data', (data: Buffer) => {
      text += data.toString();
      const found = /DevTools listening on (ws:\S+)/.exec(text)?.[1];
      if (found) resolve(found);
    });
    process.on('exit', () => reject(new Error(`the browser ended: ${text}`)));
  });
  const over = new Promise((resolve) => process.on('exit', resolve));
  const connected = await chromium.connectOverCDP(endpoint);
  const [context] = connected.contexts();
  const page = await context!.newPage();
  await page.setViewportSize(DESKTOP);
  return {
    page,
    kill: async () => {
      globalThis.process.kill(-(process.pid ?? 0), 'SIGKILL');
      await over;
      await connected.close().catch(() => undefined);
    },
  };
}

// CI has a reload in its stead, as for a save it is the same
test(
  `${COUNTS.kills} kills of the browser at random moments: each run goes on, with the weights of a run nothing happened to`,
  async () => {
    const profile = await mkdtemp(path.join(tmpdir(), 'rollout-playground-profile-'));
    const address = `${provided('baseURL')}${RUN}${ENDLESS}${ON_CPU}`;
    const lost: (readonly number[])[] = [];
    let now = await started(profile);
    await now.page.goto(address);
    await loaded(now.page);
    await go(now.page);
    await now.page.getByTestId('saved').getByText('saved').waitFor(); // before its first save there is nothing to go on with
    for (let n = 0; n < COUNTS.kills; n++) {
      const seen = await trained(now.page);
      await now.kill();
      now = await started(profile);
      await now.page.goto(address);
      await loaded(now.page);
      lost.push(await resumed(now.page, seen));
      await go(now.page);
      await beyond(now.page, await done(now.page));
    }
    const { update, weights } = await stop(now.page);
    await now.kill();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    console.log(
      `kills: ${lost.length}, updates behind ${lost.map(([all]) => all).join(' ')}; ended at update ${update}`,
    );
    expect(lost.map(([, late]) => late)).toEqual(lost.map(() => 0));
    expect(weights).toBe(await undisturbed(browser, ON_CPU, update));
  },
  LONG_MS,
);

/** Damages copies of the one run that is kept, each at one place drawn from `seed`, and puts them at slots of their own; says where. */
function damageCopies({ seeds }: { readonly seeds: readonly number[] }): Promise<string[]> {
  type Place = readonly [where: string, holder: object, key: unknown];
  const places = (value: unknown, where: string): Place[] => {
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
    const entries: [unknown, unknown][] = value instanceof Map ? [...value] : Object.entries(value);
    return entries.flatMap(([key, inner]) => [
      [`${where}.${String(key)}`, value, key] as const,
      ...places(inner, `${where}.${String(key)}`),
    ]);
  };
  const get = (holder: object, key: unknown): unknown =>
    holder instanceof Map ? holder.get(key) : Reflect.get(holder, key as PropertyKey);
  const put = (holder: object, key: unknown, value: unknown) => {
    if (holder instanceof Map) holder.set(key, value);
    else Reflect.set(holder, key as PropertyKey, value);
  };
  const damage = (run: object, seed: number): string => {
    const all = places(run, 'run');
    const [where, holder, key] = all[(seed * 7919) % all.length]!;
    const value = get(holder, key);
    const kind = seed % 3;
    if (ArrayBuffer.isView(value) && value.byteLength > 0 && kind > 0) {
      new Uint8Array(value.buffer, value.byteOffset, value.byteLength)[(seed * 31) % value.byteLength]! ^=
        1 << (seed % 8);
      return `${where}: a bit`;
    }
    if (typeof value === 'string' && value !== '' && kind > 0) {
      put(holder, key, String.fromCharCode(value.charCodeAt(0) ^ 1) + value.slice(1));
      return `${where}: a bit`;
    }
    if (typeof value === 'number' && kind > 0) {
      put(holder, key, value * (1 + 2 ** -40) + 2 ** -20); // a time in milliseconds is too large for 2⁻²⁰ alone
      return `${where}: its last digits`;
    }
    const wrong = [7, 'x', null, [], new Map(), new Float32Array(1)].filter((odd) => typeof odd !== typeof value);
    put(holder, key, wrong[seed % wrong.length]);
    return `${where}: another kind`;
  };
  return new Promise((resolve, reject) => {
    const open = indexedDB.open('rollout-playground', 1);
    open.onerror = () => reject(new Error('no database'));
    open.onsuccess = () => {
      const transaction = open.result.transaction('runs', 'readwrite');
      const store = transaction.objectStore('runs');
      const got = store.get('whole') as IDBRequest<object>;
      const said: string[] = [];
      for (let at = 0; at < 8; at++) store.delete(`damaged-${at}`); // of the round before
      got.onsuccess = () => {
        for (const [at, seed] of seeds.entries()) {
          const copy = structuredClone(got.result);
          said.push(damage(copy, seed));
          store.put(copy, `damaged-${at}`);
        }
      };
      transaction.oncomplete = () => {
        open.result.close();
        resolve(said);
      };
    };
  });
}

// CI has one such save among the tests of recovery, and all kinds of damage in test/ui/saves.test.ts
test(
  `${COUNTS.damages} damaged saves: none is gone on with, each is said, and the page is there`,
  async () => {
    const { page, problems } = await visitStill(browser, { hash: `${RUN}3${ON_CPU}` });
    await go(page);
    await page.waitForFunction(() => window.__playground?.snapshot().finished);
    await saved(page);
    // a copy at a place of its own, whole; the run's own is forgotten
    await page.evaluate(
      () =>
        new Promise<void>((resolve) => {
          const open = indexedDB.open('rollout-playground', 1);
          open.onsuccess = () => {
            const transaction = open.result.transaction('runs', 'readwrite');
            const store = transaction.objectStore('runs');
            const got = store.getAll();
            got.onsuccess = () => {
              store.clear();
              store.put(got.result[0], 'whole');
            };
            transaction.oncomplete = () => {
              open.result.close();
              resolve();
            };
          };
        }),
    );
    const AT_ONCE = 8;
    const silent: string[] = [];
    for (let first = 0; first < COUNTS.damages; first += AT_ONCE) {
      const seeds = Array.from({ length: Math.min(AT_ONCE, COUNTS.damages - first) }, (_, i) => 1 + first + i);
      const where = await page.evaluate(damageCopies, { seeds });
      await page.reload();
      const card = page.getByTestId('resume');
      await card
        .getByRole('button', { name: /^Resume update/ })
        .first()
        .waitFor();
      // all are shown at once
      const refused = await card.getByText(/can’t be resumed/).count();
      const offered = await card.getByRole('button', { name: /^Resume update/ }).count();
      if (refused !== seeds.length || offered !== 1)
        silent.push(`${refused} of ${seeds.length} told: ${where.join(', ')}`);
    }
    console.log(`damaged saves: ${COUNTS.damages}, silent ${silent.length}`);
    expect(silent).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  },
  LONG_MS,
);

test(
  'a worker that ends without a word is told at once, and one that hangs within seconds; both are recovered from the last finished update',
  async () => {
    const { page, problems } = await visitStill(browser, { hash: `${RUN}${ENDLESS}${ON_CPU}` });
    await train(page, 2);
    const alert = page.getByTestId('problem');
    for (const [fault, words] of [
      ['worker-death', /worker ended/],
      ['worker-hang', /has not answered for \d+ s/],
    ] as const) {
      await page.evaluate((f) => window.__playground?.inject(f), fault);
      await alert.getByText(words).waitFor();
      const finished = await done(page);
      const recover = alert.getByRole('button', { name: /^Recover from update/ });
      const update = Number((await recover.textContent())?.match(/\d+/)?.[0]);
      console.log(`${fault}: updates lost ${finished - update}`);
      expect(update).toBeGreaterThan(0);
      await recover.click();
      await page.waitForFunction(() => window.__playground?.snapshot().session === 'ready');
      await go(page);
      await beyond(page, finished);
    }
    const { update, weights } = await stop(page);
    expect(problems).toEqual([]);
    await page.context().close();
    expect(weights).toBe(await undisturbed(browser, ON_CPU, update));
  },
  LONG_MS,
);
