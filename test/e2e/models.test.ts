import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { threadsFor } from '../../src/model/cpu/team/threads.ts';
import { u32 } from '../formats/gguf.ts';
import { tinyGguf } from '../speaking/tinyGguf.ts';
import { leaveToWeekly } from '../weekly.ts';
import { drop, launch, loaded, visitStill } from './lab.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

const card = (page: Page) => page.getByRole('region', { name: 'Model card' });
const own = (page: Page) => page.locator('.flow .token');
const paused = (page: Page) => page.getByTestId('pace').getByText(/tokens\/s/);

/** Drops the tiny model, opens it and says something to it. */
async function talking(page: Page): Promise<void> {
  await drop(page, { 'tiny.gguf': tinyGguf() });
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await page.getByLabel('Tokens', { exact: true }).fill('20');
  await page.getByRole('textbox', { name: 'Message' }).fill('the cat');
  await page.getByRole('textbox', { name: 'Message' }).press('Enter');
  await paused(page).waitFor();
}

test('a GGUF dropped on the lab shows what it is and what it takes, opens, answers, and goes on from another token', async () => {
  const { page, problems } = await visitStill(browser);
  await drop(page, { 'tiny.gguf': tinyGguf() });
  await page.waitForURL(/#\/models/);
  for (const words of ['tiny.gguf', 'mit', '32-bit weights, as packaged', 'key-value cache', '2,048 tokens']) {
    await card(page).getByText(words).first().waitFor();
  }
  await card(page).getByRole('combobox').selectOption('256');
  await talking(page);
  const prompt = page.getByRole('group', { name: 'prompt' }).first();
  await prompt.getByRole('button', { name: /all \d+ tokens/ }).click();
  await expect.poll(() => prompt.textContent()).toContain('user\nthe cat<|im_end|>');
  expect(await own(page).count()).toBeLessThanOrEqual(20);
  await own(page).nth(1).click();
  const likeliest = page.getByTestId('distribution');
  await expect.poll(() => likeliest.locator('li').count()).toBeGreaterThanOrEqual(20);
  // shares of a whole: the likeliest and the bar of all others make 100 per cent
  const shares = await likeliest.locator('.option-p').allTextContents();
  const whole = shares.reduce((sum, share) => sum + (Number(share.replace('<', '')) || 0), 0);
  expect(Math.abs(whole - 100)).toBeLessThan(2); // each of 21 is rounded to a tenth
  const [before] = await own(page).allTextContents();
  await likeliest.locator('li button:not([data-drawn="true"])').first().click();
  await paused(page).waitFor();
  await expect.poll(async () => (await own(page).allTextContents())[0]).toBe(before);
  await own(page).nth(1).press('ArrowLeft');
  await expect.poll(() => own(page).nth(0).getAttribute('aria-pressed')).toBe('true');
  await page.getByRole('button', { name: 'New conversation' }).click();
  await expect.poll(() => own(page).count()).toBe(0);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a task is played with its tool: the model’s turn, then one that is typed in its place, each answered and paid', async () => {
  const { page, problems } = await visitStill(browser, { hash: '#/models' });
  await drop(page, { 'tiny.gguf': tinyGguf({ 'llama.context_length': u32(8192) }) });
  await card(page).getByRole('combobox').selectOption('4096');
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await page.getByRole('button', { name: 'Play a task' }).click();
  await page.getByLabel('Tokens', { exact: true }).fill('90');
  await page.getByRole('button', { name: 'Begin the task' }).click();
  await page.getByRole('button', { name: 'The model’s turn' }).click();
  const turns = page.getByRole('list', { name: 'Turns' }).getByRole('listitem');
  await turns.getByText('1: mistake −0.1').waitFor();
  const typed = page.getByLabel('Your turn, in the model’s place');
  await typed.fill('<tool_call>\n{"name": "calculate", "arguments": {"a": 2, "operator": "+", "b": 2}}\n</tool_call>');
  await page.getByRole('button', { name: 'Take my turn' }).click();
  await turns.getByText(/^2: call/).waitFor();
  await page.getByRole('group', { name: 'observation' }).last().getByText(/^4$/m).waitFor();
  await page.getByRole('button', { name: 'To the end' }).click();
  await page.getByTestId('task-state').getByText('not solved').waitFor();
  const expert = () => page.getByTestId('task-expert').textContent();
  await expect.poll(expert).toMatch(/ reward .*"calculate".* → \d+$/s);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('it stops when it is told to, and what was written stays', async () => {
  const { page } = await visitStill(browser, { hash: '#/models' });
  await drop(page, { 'tiny.gguf': tinyGguf({}, 128) }); // with one layer it writes all in half a second, before a busy page has drawn a token
  await card(page).getByRole('combobox').selectOption('2048');
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await page.getByLabel('Tokens', { exact: true }).fill('1500');
  await page.getByLabel('Greedy').check(); // such a text goes round in a circle, and never ends by itself
  await page.getByRole('textbox', { name: 'Message' }).fill('the cat');
  // watched and pressed within the page, from before it is sent: a tiny model is through before a press from outside arrives
  await page.evaluate(() => {
    new MutationObserver((_, watch) => {
      const stop = [...document.querySelectorAll('button')].find(({ textContent }) => textContent.trim() === 'Stop');
      if (!stop || document.querySelectorAll('.flow .token').length < 4) return;
      watch.disconnect();
      stop.click();
    }).observe(document.body, { subtree: true, childList: true });
  });
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByTestId('pace').getByText('stopped').waitFor();
  await expect.poll(() => own(page).count()).toBeGreaterThan(3);
  await page.context().close();
});

test('files that cannot be taken are refused by name and place, and what is open stays open', async () => {
  const { page, problems } = await visitStill(browser);
  await drop(page, { 'broken.gguf': tinyGguf().slice(0, 9000) });
  const refusal = page.getByRole('alert').filter({ hasText: 'This file can’t be opened.' });
  await refusal.waitFor();
  expect((await refusal.innerText()).match(/broken\.gguf/g)).toHaveLength(1);
  await talking(page);
  await drop(page, { 'other.gguf': new TextEncoder().encode('no model at all, but long enough to be looked at') });
  await page
    .getByRole('alert')
    .getByText(/other\.gguf: magic: found 0x/)
    .waitFor();
  await expect.poll(() => own(page).count()).toBeGreaterThan(0);
  await page.getByRole('textbox', { name: 'Message' }).fill('the');
  await page.getByRole('button', { name: 'Send' }).click();
  await expect.poll(() => page.getByRole('group', { name: 'prompt' }).count()).toBe(2);
  expect(problems).toEqual([]);
  await page.context().close();
});

const folder = (name: string) => readFileSync(new URL(`../weights/qwen2/${name}`, import.meta.url));
const FILES: Readonly<Record<string, Buffer>> = {
  'config.json': folder('config.json'),
  'model.safetensors': folder('model.safetensors'),
};
/** A hub in the place of the real one, which answers by range; returns what it was asked. */
async function standIn(page: Page): Promise<string[]> {
  const asked: string[] = [];
  await page.context().route('https://huggingface.co/**', async (route) => {
    const { pathname } = new URL(route.request().url());
    const range = /^bytes=(\d+)-$/.exec((await route.request().headerValue('range')) ?? '')?.[1];
    asked.push(`${pathname}${range ? ` ${range}` : ''}`);
    const headers = { 'access-control-allow-origin': '*' };
    if (pathname.startsWith('/api/')) {
      const siblings = Object.entries(FILES).map(([rfilename, bytes]) => ({
        ...{ rfilename, size: bytes.length },
        lfs: { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') },
      }));
      await route.fulfill({ json: { sha: 'a'.repeat(40), siblings, cardData: { license: 'apache-2.0' } }, headers });
      return;
    }
    const body = FILES[pathname.split('/').at(-1) ?? '']?.subarray(Number(range ?? 0));
    await route.fulfill({ status: range ? 206 : 200, ...(body && { body }), headers });
  });
  return asked;
}

test('a model is fetched when its list has been seen, kept over a reload, opened and removed', async () => {
  const { page, problems } = await visitStill(browser, { hash: '#/models' });
  const asked = await standIn(page);
  const offer = page.getByRole('listitem', { name: 'SmolLM2-135M-Instruct', exact: true });
  await offer.getByText('apache-2.0').waitFor();
  expect(asked).toEqual([]);
  await offer.getByRole('button', { name: /^Download/ }).click();
  await offer.getByText('model.safetensors').waitFor();
  expect(asked).toHaveLength(1); // the list alone, and nothing before the press
  await offer.getByRole('button', { name: /^Download \d/ }).click();
  await offer.getByText(/in this browser, checked/).waitFor();
  expect(asked).toHaveLength(3);
  await page.reload();
  await offer.getByText(/in this browser, checked/).waitFor();
  await offer.getByRole('button', { name: 'Open', exact: true }).click();
  // it came whole, and what it lacks is told: this stand-in has no tokenizer
  await page
    .getByRole('alert')
    .getByText(/tokenizer\.json: there is no such file/)
    .waitFor();
  await offer.getByRole('button', { name: 'Remove' }).click();
  await offer.getByRole('button', { name: /^Download/ }).waitFor();
  expect(asked).toHaveLength(3);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a hub that cannot be reached is told, and nothing changes', async () => {
  const { page } = await visitStill(browser, { hash: '#/models' });
  await page.context().route('https://huggingface.co/**', (route) => route.abort());
  const offer = page.getByRole('listitem', { name: 'Monad' });
  await offer.getByRole('button', { name: /^Download/ }).click();
  await offer
    .getByRole('alert')
    .getByText(/could not be reached/)
    .waitFor();
  await offer.getByRole('button', { name: /^Download/ }).waitFor();
  await page.context().close();
});

describe('training beside an open model', () => {
  let page: Page;
  let problems: readonly string[];
  beforeAll(async () => {
    ({ page, problems } = await visitStill(browser, { hash: '#/train' }));
  });
  afterAll(() => page.context().close());

  test('what trains here is told before any run, and beside an open model what it would train', async () => {
    const told = /Llama.* 28\.1 k parameters, 2 layers/;
    await page.getByTestId('trainee').getByText(told).waitFor();
    await drop(page, { 'tiny.gguf': tinyGguf() });
    const train = page.getByRole('region', { name: 'Train it' });
    // beside an open model it says what the button below trains, not what the lab would
    await train
      .getByTestId('to-be-trained')
      .getByText(/tiny\.gguf.*adapters \(LoRA\)/)
      .waitFor();
    expect(await page.getByText('28.1 k').count()).toBe(0);
  });

  test('an environment of one’s own trains beside an open model, at a press that names it', async () => {
    const train = page.getByRole('region', { name: 'Train it' });
    await train.getByRole('combobox').selectOption('your-environment');
    const press = train.getByRole('button', { name: /^Run \S+\.(ts|py) and train$/ });
    await press.waitFor();
    expect(await page.evaluate(() => window.__playground?.snapshot().session)).toBe('none'); // nothing ran yet
    await press.click();
    await page.waitForFunction(() => window.__playground?.snapshot().phase === 'imitating');
    expect(await page.evaluate(() => window.__playground?.snapshot().applied)).toMatchObject({
      ...{ env: 'your-environment', model: 'checkpoint', language: 'text', warmStart: 'train' },
    });
  });

  test('Train it goes to the lab and begins there beside the model, shown demonstrations first', async () => {
    await page.evaluate(() => location.assign('#/train'));
    const train = page.getByRole('region', { name: 'Train it' });
    await train.getByRole('combobox').selectOption({ label: 'number hunt' });
    // watched within the page from before the press on: so few steps are soon over
    const imitated = page.waitForFunction(() =>
      /imitating, step \d+ of 30/.test(document.querySelector('[data-testid="phase"]')?.textContent ?? ''),
    );
    await Promise.all([imitated, train.getByRole('button', { name: 'Train it' }).click()]);
    await page.waitForURL(/#\/lab/);
    expect(problems).toEqual([]);
  });
});

test('a run that waits for a checkpoint says so, takes what is dropped on the lab and learns', async () => {
  const small = 'model=checkpoint&language=text&critic=none&prompts=1&groupSize=2&minibatches=1&epochs=1&maxTurns=1';
  const hash = `#/lab?${small}&warmStart=none&evalTasks=1&evalEvery=0&miEvery=0&updates=1`;
  const { page, problems } = await visitStill(browser, { hash });
  await page.getByRole('button', { name: 'Run training' }).first().click();
  await page
    .getByTestId('problem')
    .getByText(/beside a language model/)
    .waitFor();
  await drop(page, { 'tiny.gguf': tinyGguf() });
  await page.waitForFunction(() => window.__playground?.snapshot().update === 1);
  expect(problems).toEqual([]);
  await page.context().close();
});

describe('talking to the agent', () => {
  test('a visitor loads the agent, hides a number, watches it being looked for, and puts another word into its mouth', async () => {
    const { page, problems } = await visitStill(browser, { hash: '#/talk?v=1&backend=cpu&seed=7' });
    await page.getByRole('button', { name: 'Load the agent' }).click();
    await page.getByLabel('Hidden number').fill('99');
    await page.getByRole('button', { name: 'Ask the agent' }).click();
    await page
      .getByRole('alert')
      .getByText(/“99”.* 16 words/)
      .waitFor();
    await page.getByLabel('Hidden number').fill('12');
    await page.getByLabel('Hidden number').press('Enter');
    const voice = page.getByRole('article', { name: 'Before training' });
    // it is disabled once all has been said, which may be before the test comes to it
    const all = page.getByRole('button', { name: 'All', exact: true });
    await all.evaluate((button) => button instanceof HTMLElement && button.click());
    await expect.poll(() => voice.textContent()).toMatch(/observation<obs>(?:higher|lower)<\/obs>|found/);
    // what a turn is called, what it paid and its first words stand in one line
    const turn = voice.locator('.turn').nth(1);
    const apart = async () => {
      const middles = await turn
        .locator('h4, .chip, .token')
        .evaluateAll((all) =>
          all.slice(0, 3).map((e) => (e.getBoundingClientRect().top + e.getBoundingClientRect().bottom) / 2),
        );
      return middles.length === 3 ? Math.max(...middles) - Math.min(...middles) : NaN;
    };
    await expect.poll(apart).toBeLessThan(8); // a row is 26 px
    const guess = voice.locator('button.token').nth(1); // after <call>
    await guess.click();
    const said = (await guess.textContent()) ?? '';
    const options = page.getByTestId('distribution').locator('.option');
    const other = options.filter({ hasNotText: new RegExp(`^${said}\\b`) }).first();
    const word = (await other.locator('.option-word').textContent()) ?? '';
    await options
      .filter({ has: page.getByText(word, { exact: true }) })
      .first()
      .click();
    await expect.poll(() => voice.locator('button.token').nth(1).textContent()).toBe(word);
    expect(word).not.toBe(said);
    expect(await page.evaluate(() => window.__playground?.snapshot().update)).toBe(0); // nothing was trained
    await page.getByRole('button', { name: 'Open as rollouts' }).click();
    await page.getByText('talk.jsonl').waitFor();
    await page.getByRole('main').getByText(word, { exact: false }).first().waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});

describe('threads', () => {
  /** What the tiny model says to something long enough that its products are shared, and what it says it is open on. */
  async function said(page: Page): Promise<{ readonly tokens: readonly string[]; readonly on: string }> {
    await drop(page, { 'tiny.gguf': tinyGguf() });
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.getByLabel('Tokens', { exact: true }).fill('24');
    await page.getByLabel('Greedy').check();
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.fill('the cat sat on the mat and looked at the other cat, '.repeat(6));
    await message.press('Enter');
    await page
      .getByTestId('pace')
      .getByText(/tokens\/s/)
      .waitFor();
    const on = (await page.getByText(/^Open on WebAssembly/).textContent()) ?? '';
    return { tokens: await page.locator('.flow .token').allTextContents(), on };
  }

  test('the page may share memory, and a model says in how many threads it draws what one thread draws', async (current) => {
    leaveToWeekly(current, 'the same draws in any number of threads in Node (model/threads, model/threadedModels)');
    const { page, problems } = await visitStill(browser, { hash: '#/models' });
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    const threads = threadsFor(await page.evaluate(() => navigator.hardwareConcurrency));
    const shared = await said(page);
    expect(shared.on).toContain(threads > 1 ? `WebAssembly SIMD, ${threads} threads` : '1 thread (one core)');
    expect(problems).toEqual([]);
    await page.context().close();

    // a server that sends no such headers, and no service worker to add them
    const context = await browser.newContext({ serviceWorkers: 'block', reducedMotion: 'reduce' });
    const lone = await context.newPage();
    await lone.route(inject('baseURL'), async (route) => {
      const response = await route.fetch();
      const headers = Object.entries(response.headers()).filter(([name]) => name !== 'cross-origin-embedder-policy');
      await route.fulfill({ response, headers: Object.fromEntries(headers) });
    });
    await lone.goto(`${inject('baseURL')}#/models`);
    await loaded(lone);
    expect(await lone.evaluate(() => crossOriginIsolated)).toBe(false);
    const alone = await said(lone);
    expect(alone.on).toContain('WebAssembly SIMD, 1 thread (the page is not cross-origin isolated');
    expect(alone.tokens.length).toBeGreaterThan(10);
    expect(shared.tokens).toEqual(alone.tokens);
    await context.close();
  });
});
