import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { framesLater, launch, pause, PATIENCE_MS, read, settled, still, train, visitStill } from './lab.ts';

const LEAST = 'layers=1&width=16&heads=2&kvHeads=2&ffn=16&warmStart=none';
const SMALL = '#/lab?v=1&seed=7&prompts=4&groupSize=4&evalTasks=16&backend=cpu&updates=100000';
let plain: Browser;
beforeAll(async () => {
  plain = await launch('no adapter');
});
afterAll(() => plain.close());

// of the trajectory alone: the inspector, which comes when its code has loaded, shows the chosen one again
const tokens = (page: Page) => page.getByTestId('trajectory').locator('.token').count();
const playing = (page: Page) => page.getByTestId('replay').getAttribute('data-playing');

describe('a recording that plays', () => {
  let page: Page;
  let problems: readonly string[];
  beforeAll(async () => {
    ({ page, problems } = await visitStill(plain, { hash: SMALL, reducedMotion: null }));
  });
  afterAll(() => page.context().close());

  test('MUST-1: a recording plays token by token, says so, and tells who wrote the observation; the curve is the recorded one', async () => {
    await page.locator('.view-bar').getByText('recording').waitFor();
    await page.getByTestId('replay').waitFor();
    await expect.poll(() => playing(page)).toBe('true');
    let before = await tokens(page);
    const grows = async () => {
      const last = before;
      before = await tokens(page);
      return before > last; // a rollout that is through gives way to the next, from its first token
    };
    await expect.poll(grows).toBe(true);
    await page.getByTestId('trajectory').getByText('the environment wrote this, not trained').first().waitFor();
    const curve = page.getByRole('img', {
      name: /recorded run.* 160 updates/,
    });
    await expect.poll(async () => (await curve.locator('.so-far').getAttribute('d'))?.length).toBeGreaterThan(3);
    // what is recorded is a run's own: its advantages are those of its rewards
    const { batch, session } = await read(page);
    expect(session).toBe('none');
    expect(batch).toMatchObject({ isExample: true, rows: 8, observationsTrained: 0 });
    expect(problems).toEqual([]);
  });

  test('choosing a token or a rollout stops the recording and shows all of the rollout', async () => {
    await expect.poll(() => playing(page)).toBe('true');
    await page.getByTestId('trajectory').locator('.token').nth(3).click();
    await expect.poll(() => playing(page)).toBe('false');
    await expect.poll(async () => (await read(page)).selection.token).toBe(3);
    await expect.poll(() => page.getByRole('button', { name: /tokens shown/ }).count()).toBe(0);
    const all = await settled(() => tokens(page));
    expect(all).toBeGreaterThan(10);
    await framesLater(page);
    expect(await tokens(page)).toBe(all);
    await page.keyboard.press('Escape');
  });

  test('the recording ends for good when training begins; the phases are told until there is a verdict', async () => {
    await page.getByRole('button', { name: 'Play the recording' }).click();
    await expect.poll(() => playing(page)).toBe('true');
    // all that the banner says from the press on
    await page.evaluate(() => {
      const heard: string[] = [];
      Object.assign(window, { heard });
      new MutationObserver(() => {
        const text = document.querySelector('[data-testid="verdict"]')?.textContent;
        if (text && heard.at(-1) !== text) heard.push(text);
      }).observe(document.body, { childList: true, subtree: true, characterData: true });
    });
    await train(page, 4);
    await page.locator('[data-testid="verdict"][data-course]').waitFor();
    await page.getByTestId('verdict').getByText('Details').click();
    await page
      .getByTestId('verdict')
      .getByText(/\d+ % → \d+ %, .* updates/)
      .waitFor();
    const heard = await page.evaluate(() => (window as unknown as { heard: string[] }).heard);
    expect(heard.some((text) => /Starting|held-out|sampling|learning|scoring/.test(text))).toBe(true);
    await pause(page);
    await still(page);
    await page.getByTestId('replay').waitFor({ state: 'detached' });
    const shown = (await read(page)).batch;
    expect(shown.isExample).toBe(false);
    const count = await settled(() => tokens(page));
    await framesLater(page, 90);
    expect(await tokens(page)).toBe(count);
    expect((await read(page)).batch).toEqual(shown);
  });
});

describe('a recording that stands still', () => {
  let page: Page;
  let problems: readonly string[];
  beforeAll(async () => {
    ({ page, problems } = await visitStill(plain, { hash: SMALL }));
  });
  afterAll(() => page.context().close());

  test('SHOULD-28: with reduced motion the recording stands still and goes on by steps, a turn each, over to the next update', async () => {
    await page.getByTestId('replay').waitFor();
    await expect.poll(() => tokens(page)).toBeGreaterThan(0);
    const first = await settled(() => tokens(page));
    await framesLater(page, 90);
    expect(await tokens(page)).toBe(first);
    await expect.poll(() => playing(page)).toBe('false');
    const step = page.getByRole('button', { name: 'Step the recording by a turn' });
    await step.click();
    await page.getByRole('article', { name: 'Turn 2' }).waitFor();
    expect(await page.getByRole('article', { name: 'Turn 3' }).count()).toBe(0);
    const update = async () => (await read(page)).batch.update;
    for (let i = 0; i < 6 && (await update()) === 1; i++) await step.click();
    await expect.poll(update).toBe(10);
    const moving = () => page.evaluate(() => document.getAnimations().filter((a) => a.playState === 'running').length);
    await expect.poll(moving).toBe(0);
  });

  test('a recorded run that is trapped says so from the update on at which its monitor did, as recorded, and one that fares well says nothing', async () => {
    await page.evaluate(() => location.assign('#/lab?v=2&preset=break-it'));
    await page.getByRole('button', { name: 'Update 60 of the recording' }).click();
    await page.getByTestId('health').getByText('TRAP').click();
    await page.getByTestId('health-panel').getByText('recording', { exact: true }).waitFor();
    await page.getByTestId('health-panel').getByText('since update 26').waitFor();
    await page.getByRole('button', { name: 'Update 1 of the recording' }).click();
    await expect.poll(() => page.getByTestId('health').count()).toBe(0);
    await page.evaluate((hash) => location.assign(hash), SMALL);
  });

  test('a recording has its curves, read at the update in view; those of a run take their place', async () => {
    await page.getByRole('button', { name: 'Update 1 of the recording' }).click();
    const curves = page.getByRole('region', { name: 'Curves', exact: true });
    await expect.poll(() => curves.locator('[data-marked="1"]').count()).toBe(6);
    await curves.getByText('recording', { exact: true }).waitFor();
    const drawn = () =>
      curves
        .locator('.line-chart .raw')
        .evaluateAll((lines) => lines.filter((line) => (line.getAttribute('d') ?? '').split('L').length > 50).length);
    await expect.poll(drawn).toBe(6); // of 160 updates, some share a position
    await page.getByRole('button', { name: 'Update 25 of the recording' }).click();
    await expect.poll(() => curves.locator('[data-marked="25"]').count()).toBe(6);
    const said = async () => /Update 25\b.*?(\d+ %)/.exec(await page.getByTestId('replay').innerText())?.[1];
    await expect.poll(said).toBeDefined();
    const success = (await said()) ?? '';
    await curves.locator('[data-metric="rollout/success"]').getByText(success).waitFor();
    await train(page, 2);
    await expect.poll(() => curves.locator('[data-marked]').count()).toBe(0);
    await expect.poll(() => curves.getByText('recording', { exact: true }).count()).toBe(0);
    expect(problems).toEqual([]);
  });
});

test.each(['no navigator.gpu', 'an insecure origin'] as const)(
  'MUST-2: with %s the cause is named before Run, with what can be done, while the recording plays; nothing is rejected',
  async (kind) => {
    const { page, problems } =
      kind === 'an insecure origin'
        ? await insecure()
        : await visitStill(plain, { before: [withoutGpu], reducedMotion: null });
    await expect.poll(() => playing(page)).toBe('true');
    const cause = page.getByTestId('no-gpu');
    await cause.getByText(kind === 'an insecure origin' ? /over http from another machine/ : /has no WebGPU/).waitFor();
    await expect.poll(() => page.getByTestId('backend').textContent()).toMatch(/will train .*CPU/);
    await cause.locator('summary').click();
    await expect.poll(() => cause.getByRole('listitem').count()).toBeGreaterThanOrEqual(3);
    const before = await tokens(page);
    await expect.poll(() => tokens(page)).not.toBe(before);
    expect(problems).toEqual([]);
    await page.context().close();
  },
);

test('MUST-2: where no adapter answers, the recording plays until Run; then the cause and what can be done stand above the run', async () => {
  const hash = `#/lab?v=1&prompts=2&groupSize=2&evalTasks=2&${LEAST}`;
  const { page, problems } = await visitStill(plain, { hash, reducedMotion: null });
  await expect.poll(() => playing(page)).toBe('true');
  await train(page, 1);
  await page
    .getByTestId('no-gpu')
    .getByText(/no adapter/)
    .waitFor();
  await expect.poll(() => page.getByTestId('backend').textContent()).toMatch(/CPU.*no adapter/);
  await page.getByTestId('no-gpu').locator('summary').click();
  await expect.poll(() => page.getByTestId('no-gpu').getByRole('listitem').count()).toBeGreaterThanOrEqual(3);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('without its file the page says so and trains all the same', async () => {
  const hash = `#/lab?v=1&prompts=2&groupSize=2&evalTasks=2&backend=cpu&${LEAST}`;
  const { page, scripts } = await visitStill(plain, { hash });
  // a route would have the browser fetch and compile every script anew
  const withoutRecording = () => {
    const usual = window.fetch;
    window.fetch = (...[what, how]: Parameters<typeof fetch>) =>
      (what instanceof Request ? what.url : String(what)).endsWith('number-hunt.recording')
        ? Promise.resolve(new Response('', { status: 404 }))
        : usual(what, how);
  };
  scripts.push(await page.addInitScript(withoutRecording));
  await page.reload();
  await page.getByText('The recorded run could not be loaded').waitFor();
  await train(page, 1);
  await expect.poll(async () => (await read(page)).batch.isExample).toBe(false);
  await page.context().close();
});

/** Takes `navigator.gpu` away. */
function withoutGpu(): void {
  Reflect.deleteProperty(Navigator.prototype, 'gpu');
}

/** The page as it comes over plain http from a host that is not this machine. */
async function insecure(): Promise<{ page: Page; problems: string[] }> {
  const context = await plain.newContext({ serviceWorkers: 'block' });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  const base = inject('baseURL');
  await page.route('http://lab.example/**', async (route) => {
    const response = await fetch(route.request().url().replace('http://lab.example/', base));
    await route.fulfill({
      status: response.status,
      contentType: response.headers.get('content-type') ?? 'text/html',
      body: Buffer.from(await response.arrayBuffer()),
    });
  });
  await page.goto('http://lab.example/#/lab');
  await page.getByRole('button', { name: 'Run training' }).waitFor();
  expect(await page.evaluate(() => isSecureContext)).toBe(false);
  return { page, problems };
}
