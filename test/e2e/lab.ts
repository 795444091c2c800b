import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Locator, type Page } from 'playwright';
import { inject } from 'vitest';
import { launchOptions } from '../../scripts/browser.mjs';
import type { PresetName } from '../../src/config/presets.ts';
import { type Route, SCREENS, siblingViews } from '../../src/page/address/screens.ts';
import type { snapshot } from '../../src/page/shell/snapshot.ts';
import { isIdle, type Lab, usedOrNew } from './usedPages.ts';

export type { Lab } from './usedPages.ts';

export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };
/** The sizes that a screen is judged in, each with a theme: who looks at both sizes with axe has seen both themes. */
export const DEVICES = [
  ['desktop', DESKTOP, 'dark'],
  ['phone', PHONE, 'light'],
] as const;

/** How long a wait may take: what takes a second on an idle machine takes minutes beside much else. It ends what hangs. */
export const PATIENCE_MS = 240_000;

const shared = new Map<string, Promise<Browser>>();

/**
 * A browser with a (software) WebGPU adapter, or one where `requestAdapter` finds none: one of each for all files that a worker runs.
 * To close it is to close its pages; it ends with the worker.
 */
export function launch(adapter: 'adapter' | 'no adapter'): Promise<Browser> {
  let browser = shared.get(adapter);
  if (!browser) shared.set(adapter, (browser = launched(adapter)));
  return browser;
}

async function launched(adapter: 'adapter' | 'no adapter'): Promise<Browser> {
  const { args, ...rest } = launchOptions();
  const plain = args.filter((arg) => !arg.includes('webgpu'));
  const slowMo = RACES === 'test' ? 60 : 0;
  const browser = await chromium.launch({
    headless: true,
    ...rest,
    slowMo,
    args: adapter === 'adapter' ? args : plain,
  });
  browser.close = async () => {
    for (const context of browser.contexts()) if (!isIdle(context)) await context.close();
  };
  return browser;
}

/**
 * To find races on a quick machine (`RACES=page npx vitest run --mode all --project e2e`): `page` has the page fall behind the test, by
 * answers of workers, code and files that come up to 400 ms late; `test` has the page run ahead, as each step of the test waits 60 ms.
 */
const RACES = process.env['RACES'];

/** Has what workers say reach the page late, in its order. */
function lateAnswers(): void {
  let draws = 1;
  window.Worker = class extends Worker {
    constructor(...given: ConstructorParameters<typeof Worker>) {
      super(...given);
      let free = 0;
      const passed = new WeakSet<Event>();
      this.addEventListener('message', (event: MessageEvent<unknown>) => {
        if (passed.has(event)) return;
        event.stopImmediatePropagation();
        draws = (draws * 48271) % 2147483647;
        free = Math.max(free + 1, performance.now() + (draws % 400)); // a whole millisecond apart: timers drop fractions
        setTimeout(() => {
          const late = new MessageEvent('message', { data: event.data, ports: [...event.ports] });
          passed.add(late);
          this.dispatchEvent(late);
        }, free - performance.now());
      });
    }
  };
}

interface Visit extends BrowserContextOptions {
  readonly hash?: string;
  readonly worker?: 'fake' | 'missing' | 'unpaced' | undefined; // instead of the real one that rests between the updates of a run without an end
  readonly everywhere?: string | undefined; // JavaScript for the page and its workers before their own scripts
  readonly before?: readonly (() => void)[] | undefined; // run in the page before its own scripts
}

/** Has the page start another worker (global-setup.ts) in the place of its own. */
function takeWorker(name: string): void {
  window.Worker = class extends Worker {
    constructor(script: string | URL, options?: WorkerOptions) {
      const own = /\/assets\/worker-[^/]*\.js$/.test(String(script));
      super(own ? new URL(name, script) : script, options);
    }
  };
}

/** Opens the page in a fresh context: the lab, or where an address leads. */
export async function visit(browser: Browser, { hash, ...rest }: Visit = {}): Promise<Lab> {
  const { worker, everywhere, before, ...options } = rest;
  const lab = await opened(browser, options);
  await equip(lab, { worker, everywhere, before });
  return arrive(lab, hash);
}

/**
 * A visit where the recorded run stands still until training begins, as for who wants no motion: for tests to which it does not matter.
 * It takes two thirds of the processor's time, and half of that in a used page. All that differs from visit to visit is set anew, so
 * that as few contexts as can be begin with nothing compiled.
 */
export async function visitStill(browser: Browser, { hash, ...given }: Visit = {}): Promise<Lab> {
  return arrive(await openUsed(browser, { reducedMotion: 'reduce', ...given }), hash);
}

/** A page that has yet to go anywhere: a used one where there is one. */
export async function openUsed(browser: Browser, given: Omit<Visit, 'hash'>): Promise<Lab> {
  const { worker, everywhere, before, ...rest } = given;
  const { viewport = DESKTOP, colorScheme = 'light', reducedMotion = 'no-preference', permissions, ...options } = rest;
  const lab = await usedOrNew(browser, JSON.stringify(options), () => opened(browser, options));
  await lab.page.setViewportSize(viewport ?? DESKTOP);
  await lab.page.emulateMedia({ media: null, colorScheme, reducedMotion });
  if (permissions) await lab.page.context().grantPermissions(permissions);
  await equip(lab, { worker, everywhere, before });
  return lab;
}

async function arrive(lab: Lab, hash = '#/lab'): Promise<Lab> {
  await lab.page.goto(inject('baseURL') + hash);
  await loaded(lab.page);
  return lab;
}

/** A page in a context of its own, before it goes anywhere. */
async function opened(browser: Browser, options: BrowserContextOptions): Promise<Lab> {
  const context = await browser.newContext({ viewport: DESKTOP, serviceWorkers: 'block', ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  lookSeldom(page);
  const problems: string[] = [];
  page.on('console', (m) => {
    const expected = m.text().includes('Service Worker registration blocked');
    if ((m.type() === 'error' || m.type() === 'warning') && !expected) problems.push(`${m.type()}: ${m.text()}`);
  });
  page.on('pageerror', (e) => problems.push(`pageerror: ${e.message}`));
  return { page, problems, scripts: [] };
}

/** Has what a visit asks for happen in a page before the page's own scripts. */
async function equip(
  { page, scripts }: Lab,
  { worker, everywhere, before = [] }: Pick<Visit, 'worker' | 'everywhere' | 'before'>,
): Promise<void> {
  if (RACES === 'page') {
    scripts.push(await page.addInitScript(lateAnswers));
    let draws = 1;
    await page.route(/\/assets\//, async (route) => {
      draws = (draws * 48271) % 2147483647;
      await new Promise((resolve) => setTimeout(resolve, draws % 400));
      await route.fallback();
    });
  }
  for (const script of before) scripts.push(await page.addInitScript(script));
  if (everywhere) {
    scripts.push(await page.addInitScript(everywhere));
    // a worker has a navigator of its own
    await page.route(/\/assets\/(?:worker|speaker)-[^/]*\.js$/, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: `${everywhere}\n${await response.text()}` });
    });
  }
  if (worker === 'fake') scripts.push(await page.addInitScript(takeWorker, 'fake-worker.js'));
  // a run that goes on while a test looks takes a processor of its own, and makes more updates than anyone looks at
  if (worker === undefined && !everywhere) scripts.push(await page.addInitScript(takeWorker, 'paced-worker.js'));
  if (worker === 'missing')
    await page.route('**/assets/worker-*.js', (route) => route.fulfill({ status: 404, body: '' }));
}

/** How often a wait looks, ms. At each frame, as is usual, it would have the page draw one frame after the other. */
const SELDOM_MS = 50;

/** Has the waits of a page look seldom, unless one says how often. */
export function lookSeldom(page: Page): void {
  const usual = page.waitForFunction.bind(page);
  const seldom = (...[look, given, options]: Parameters<typeof usual>) =>
    usual(look, given, { polling: SELDOM_MS, ...options });
  Object.assign(page, { waitForFunction: seldom });
}

/** Waits until a page that was opened or loaded again listens to keys and drops, and has something to show. */
export async function loaded(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Run training' }).waitFor();
  // the recorded run, which every screen has something of, unless the knobs ask for another environment
  await page.waitForFunction(() => {
    const now = window.__playground?.snapshot();
    return now !== undefined && (now.recordingAway || now.batch.rows > 0);
  });
}

/** Goes to a screen by the links that lead there: its place, then its view. `press` is how a link is pressed. */
export async function toScreen(
  page: Page,
  route: Route,
  press: (link: Locator) => Promise<void> = (link) => link.click(),
): Promise<void> {
  const { place, label } = SCREENS[route];
  await press(page.locator(`:is(.screens, .tabs) a[data-place="${place}"]:visible`));
  if (siblingViews(route).length > 1) {
    const views = page.locator(`.views[data-place="${place}"]`);
    await views.waitFor();
    // a phone has the panels of the rollout in its place
    const panel = views.getByRole('button', { name: 'Watch' });
    if (route === 'lab' && (await panel.isVisible())) await press(panel);
    else await press(views.getByRole('link', { name: label, exact: true }));
  }
  await page.locator(`.lab[data-screen="${route}"] main:not([aria-busy]):visible`).first().waitFor();
}

/** Opens groups of knobs, and what else folds. One that is open stays so, as where a test is tried again. */
export const unfold = (page: Page, ...names: readonly string[]): Promise<void> => turnDetails(page, true, names);

/** Folds them. */
export const fold = (page: Page, ...names: readonly string[]): Promise<void> => turnDetails(page, false, names);

async function turnDetails(page: Page, open: boolean, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const heading = page.getByRole('heading', { name, exact: true });
    if ((await heading.evaluate((e) => e.closest('details')?.open)) !== open) await heading.click();
  }
}

/**
 * Names and sizes of the controls in sight that are smaller than `least` px, with the label around them. A link is to have 24 px
 * (WCAG 2.2, target size), and so is what only a mouse can miss. Terms and links in a line of text have its height.
 */
export function tooSmall(page: Page, least = 44): Promise<string[]> {
  // found and measured in one task: while it trains, what was found may be gone a task later
  return page.evaluate(
    (px) =>
      // what lies behind a dialog is out of reach
      [
        ...(document.querySelector('dialog:modal') ?? document).querySelectorAll<HTMLElement>(
          'button:not(.term), select, input:not(.chart-steer), textarea, summary, a[href]',
        ),
      ]
        .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest('.visually-hidden'))
        .filter((e) => !e.matches('a[href]') || getComputedStyle(e).display !== 'inline')
        .map((e) => ({ e, least: e.matches('a[href]') ? Math.min(24, px) : px }))
        .map(({ e, ...rest }) => ({ e: e.closest('label:has([type="radio"], [type="checkbox"])') ?? e, ...rest }))
        .map(({ e, ...rest }) => ({ name: e.ariaLabel ?? e.textContent, box: e.getBoundingClientRect(), ...rest }))
        .filter(
          ({ box, least: want }) => box.width > 0 && box.height > 0 && Math.min(box.width, box.height) < want - 0.5,
        )
        .map(({ name, box }) => `${name.trim().slice(0, 60)} ${box.width}×${box.height}`),
    least,
  );
}

/** `window.__playground.snapshot()`. */
export async function read(page: Page): Promise<ReturnType<typeof snapshot>> {
  await page.waitForFunction(() => window.__playground);
  return page.evaluate(() => {
    const playground = window.__playground;
    if (!playground) throw new Error('the page has no __playground');
    return playground.snapshot();
  });
}

/** Presses Run and waits until `updates` updates are done; ms from press to the first. */
export async function train(page: Page, updates: number, timeout = PATIENCE_MS): Promise<number> {
  const began = Date.now();
  await page.getByRole('button', { name: 'Run training' }).click();
  const reach = async (n: number) => {
    const reached = (want: number) => (window.__playground?.snapshot().update ?? 0) >= want;
    await page.waitForFunction(reached, n, { timeout, polling: 100 }).catch(async (error: unknown) => {
      const { session, phase, update, problem } = await read(page);
      throw new Error(`no update ${n} after ${timeout} ms: ${JSON.stringify({ session, phase, update, problem })}`, {
        cause: error,
      });
    });
  };
  await reach(1);
  const first = Date.now() - began;
  await reach(updates);
  return first;
}

/** Takes updates one by one up to this one, each shown and then over: from a fresh start the same state every time on the CPU backend. */
export async function stepped(page: Page, updates: number): Promise<void> {
  for (let k = (await read(page)).update + 1; k <= updates; k++) {
    await page.getByRole('button', { name: 'Step one update' }).click();
    const shown = (n: number) => window.__playground?.snapshot().batch.update === n;
    await page.waitForFunction(shown, k);
    await page.waitForFunction((n) => window.__playground?.snapshot().update === n, k);
    await stands(page);
  }
}

/** Waits until nothing is asked of the run any more: it neither runs nor takes a step. A pull that was under way may go on. */
export async function stands(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const now = window.__playground?.snapshot();
    return now && now.session !== 'starting' && !now.running && !now.stepping;
  });
}

/** `window.__playground.checksum()`. */
export const checksum = (page: Page) => page.evaluate(() => window.__playground?.checksum());

/** Update, curves, reward and weights of the run in the lab. */
export const stateOf = async (page: Page) => {
  const { update, points, metrics } = await read(page);
  return { update, points, reward: metrics['critic/score/mean'], checksum: await checksum(page) };
};

/** Waits until the run is paused, and ends the update under way if there is one: weights and numbers change no more. */
export async function still(page: Page): Promise<void> {
  await stands(page);
  await checksum(page); // the worker answers in order: all it said before it paused has come
  if ((await read(page)).phase === 'idle') return;
  await page.getByRole('button', { name: 'Step one update' }).click();
  await page.waitForFunction(() => window.__playground?.snapshot().phase === 'idle');
  await stands(page);
}
/** A run that has come to its end, and so stands between two updates. */
export async function finished(page: Page, updates: number): Promise<void> {
  await page.getByRole('button', { name: 'Run training' }).click();
  await page.waitForFunction(
    (n) => window.__playground?.snapshot().finished && window.__playground.snapshot().update === n,
    updates,
  );
  await still(page);
}

/** Waits until the run that stands still is saved as it is: what was saved before may be of an earlier update. */
export async function saved(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const now = window.__playground?.snapshot();
    return now && !now.running && !now.stepping && now.saved === now.update;
  });
}

/** Waits until it is known which runs of earlier visits can be resumed; how many these are. */
export async function savedRunsFound(page: Page): Promise<number> {
  await page.waitForFunction(() => typeof window.__playground?.snapshot().offers === 'number');
  return (await read(page)).offers ?? NaN;
}

/** Pauses a run that goes on: what is looked at next stands still, and no training takes the time of it. */
export async function pause(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await page.getByRole('button', { name: 'Run training' }).waitFor();
}

/** Waits until every turn of the rollout in view shows what was picked: they are drawn one after the other. */
export const allTurnsDrawn = (page: Page) => page.locator('.trajectory .turns[aria-busy="false"]').waitFor();

/** Waits until what a question reads has been the same three times, a quarter of a second apart: what was under way has come to its end. */
export async function settled<T>(read: () => Promise<T>): Promise<T> {
  let before = '';
  for (let same = 0; ;) {
    const now = await read();
    const text = JSON.stringify(now);
    same = text === before ? same + 1 : 0;
    if (same === 2) return now;
    before = text;
    await new Promise((resolve) => setTimeout(resolve, 250)); // not expect.poll, which hooks may not call
  }
}

/** Lets the page draw so many frames: where nothing may happen, it has had the time to. */
export const framesLater = (page: Page, frames = 60) =>
  page.evaluate(async (count) => {
    for (let n = 0; n < count; n++) await new Promise(requestAnimationFrame);
  }, frames);

/** A number as the page writes it, with a minus that is no hyphen. */
export const numberIn = (text: string | null) => Number(text?.replaceAll('−', '-'));

/** Serious and critical findings of axe in the theme that the page is in; of some rules or of all, of a part of the page or of all of it. */
export async function axe(page: Page, rules?: readonly string[], within?: string): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(await AXE);
  // of what passes nothing is said: to name each element of it takes longer than to judge it
  // there are no frames, and the rules that ask for style sheets anew are none of these
  const less: RunOptions = { resultTypes: ['violations'], preload: false, iframes: false };
  const options: RunOptions = { ...less, ...(rules ? { runOnly: [...rules] } : { rules: LESS_THAN_SERIOUS }) };
  const part = JSON.stringify(within ?? 'html');
  const { violations } = await page.evaluate<Pick<AxeResults, 'violations'>>(
    // the part may be gone since it was chosen
    `document.querySelector(${part}) ? axe.run(${within === undefined ? 'document' : part}, ${JSON.stringify(options)}) : { violations: [] }`,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')} ${node.any[0]?.message ?? ''}`));
}
/** Rules whose findings axe calls minor or moderate: nothing is made of them here, and they take a tenth of its time. */
const LESS_THAN_SERIOUS = Object.fromEntries(
  [
    ...['aria-allowed-role', 'empty-heading', 'empty-table-header', 'focus-order-semantics', 'heading-order'],
    ...['hidden-content', 'image-redundant-alt', 'page-has-heading-one', 'presentation-role-conflict', 'region'],
    ...['landmark-banner-is-top-level', 'landmark-complementary-is-top-level', 'landmark-contentinfo-is-top-level'],
    ...['landmark-main-is-top-level', 'landmark-no-duplicate-banner', 'landmark-no-duplicate-contentinfo'],
    ...['landmark-no-duplicate-main', 'landmark-one-main', 'landmark-unique', 'table-duplicate-name'],
  ].map((rule) => [rule, { enabled: false }]),
);
/** Rules of axe that look at colours. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/**
 * Findings of axe in the light theme, then what its rules on colours find in the dark one. The themes are one page, its colours apart
 * (`light-dark()`; test/ui/palette.test.ts), so that one visit is judged in both.
 */
export async function axeInBothThemes(page: Page, within?: string): Promise<string[]> {
  const found: string[] = [];
  for (const [colorScheme, rules] of [['light'], ['dark', OF_COLOURS]] as const) {
    await turnTo(page, colorScheme);
    found.push(...(await axe(page, rules, within)).map((line) => `${colorScheme}: ${line}`));
  }
  return found;
}
/**
 * Sets the theme and waits until the colours of buttons have turned, which takes them a moment. Of one that is out of sight, as in a closed
 * `<details>`, Chromium says that its transition is finished but need never settle the promise of it: what is asked for is what it says.
 */
export async function turnTo(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.waitForFunction(() =>
    document.getAnimations().every((motion) => !(motion instanceof CSSTransition) || motion.playState === 'finished'),
  );
}
const AXE = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Chooses a preset by its picture. */
export async function choosePreset(page: Page, preset: PresetName): Promise<void> {
  await page.locator('.preset-door').click();
  await page.locator(`.preset-card[data-preset="${preset}"]`).click();
}

/** Drops files on the page, by name and bytes. */
export const drop = (page: Page, files: Readonly<Record<string, Uint8Array>>) =>
  page.evaluate(
    (given) => {
      const dataTransfer = new DataTransfer();
      for (const [name, base64] of given) {
        dataTransfer.items.add(new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], name));
      }
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    },
    Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')] as const),
  );

/** Opens the page of a class and hands it files: their contents by name. */
export async function handToClass(page: Page, files: Readonly<Record<string, string>>): Promise<void> {
  await page.getByRole('link', { name: 'For teachers' }).click();
  const given = Object.entries(files).map(([name, content]) => {
    return { name, mimeType: 'application/json', buffer: Buffer.from(content) };
  });
  await page.getByTestId('class').locator('input[type="file"]').setInputFiles(given);
}
