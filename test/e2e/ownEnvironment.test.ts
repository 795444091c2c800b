import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { FILE_NAMES } from '../../src/checkpoints/checkpointFolder.ts';
import { readCheckpointFiles } from '../../src/checkpoints/read.ts';
import { filesOfZip } from '../../src/formats/zip.ts';
import { trainTaskSeed } from '../../src/rl/settings.ts';
import { type OpenenvServer, openenvServer } from '../openenv/openenvServer.ts';
import { leaveToWeekly } from '../weekly.ts';
import {
  axe,
  axeInBothThemes,
  checksum,
  drop,
  launch,
  loaded,
  PATIENCE_MS,
  PHONE,
  read,
  saved,
  savedRunsFound,
  stepped,
  still,
  tooSmall,
  toScreen,
  visitStill,
} from './lab.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

const SEED = 7;
/** A small run: a step takes a second. */
const KNOBS = `#/lab?v=2&env=your-environment&seed=${SEED}&backend=cpu&prompts=2&groupSize=2&minibatches=1&epochs=1&layers=1&width=16&heads=2&kvHeads=2&ffn=16&warmStart=none&evalTasks=2&language=words&updates=100000`;
/** More tasks than are played to measure the texts: the one that fails comes up in training alone. */
const TASKS = 1_000_000;
const failing = (update: number) => trainTaskSeed(SEED, update, 0) % TASKS;
/** Its reset() never ends in the first task of update 4. */
const LOOPS = `/** Say the number. */
export default class Loops {
  static tasks = { train: ${TASKS}, test: 10 };
  static maxTurns = 2;
  private hidden = 0;
  done = false;
  reset({ index, draw }): string {
    if (index === ${failing(4)}) for (;;);
    this.hidden = draw.int(5);
    return 'number ' + this.hidden;
  }
  /** Says a number. */
  say(n: number): string {
    this.done = n === this.hidden;
    return this.done ? 'right' : 'wrong';
  }
  expert() {
    return { tool: 'say', arguments: { n: this.hidden } };
  }
  view() {
    return { line: { from: 0, to: 4, marks: { hidden: this.hidden } } };
  }
  getReward() {
    return { right: this.done ? 1 : 0 };
  }
}
`;
const LINE = 8;
const MENDED = LOOPS.replace(/^.*for \(;;\);\n/m, '');

const editor = (page: Page) => page.getByRole('textbox', { name: 'Environment, as TypeScript' });
async function paste(page: Page, text: string): Promise<void> {
  await editor(page).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}
/** Waits until the page has a run that stands still at an update. */
const at = (page: Page, update: number) =>
  page.waitForFunction((n) => {
    const now = window.__playground?.snapshot();
    return now?.session === 'ready' && now.update === n && !now.running && !now.stepping;
  }, update);
const stepOnce = (page: Page) => page.getByRole('button', { name: 'Step one update' }).click();

/** The zip of the run under way. */
async function exported(page: Page): Promise<Uint8Array> {
  await page.goto(page.url().replace(/#.*/, '#/runs'));
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Run 1 as a checkpoint' }).click(),
  ]);
  return new Uint8Array(await readFile(await download.path()));
}

// failed at its first try in two whole runs of three, and never alone; the summary of the next says at what
const TRIES = { timeout: 300_000, retry: process.env['CI'] ? 2 : 0 };

test(
  'a file from the editor trains, is back after a reload, pauses at its fault, and goes on once it is mended; sent on, it runs only after a press',
  TRIES,
  async () => {
    const { page, problems } = await visitStill(browser, { hash: '#/environment' });
    await page.getByRole('textbox', { name: 'File name' }).fill('loops.ts');
    await paste(page, LOOPS);
    await page.getByRole('button', { name: 'Train on it' }).click();
    await page.locator('.lab[data-screen="lab"]').waitFor();
    await page.locator('.preset-door', { hasText: /^What to train: Loops$/ }).waitFor(); // by the class's name
    // its defaults imitate for a minute
    await page.waitForFunction(() => window.__playground?.snapshot().session === 'ready');
    await page.goto(page.url().replace(/#.*/, KNOBS));
    await page.getByRole('button', { name: /^Reset/ }).click();
    await at(page, 0);
    await stepped(page, 3);
    const board = page.getByTestId('environment');
    await board.getByRole('heading', { name: 'Loops' }).waitFor();
    expect(await board.locator('.calls-prompt').innerText()).toMatch(/^number \d$/);
    expect(await board.locator('.board-line').innerText()).toMatch(/^hidden/);
    // its own name for the part of the reward, also where it is 0
    expect(await board.getByTestId('reward-split').innerText()).toMatch(/outcome \+?[01] \(right \+?[01]\)/);

    await saved(page);
    const third = await checksum(page);
    await page.reload();
    expect(await savedRunsFound(page)).toBe(1);
    await page.getByRole('button', { name: 'Resume update 3' }).click();
    await at(page, 3);
    expect(await checksum(page)).toBe(third);

    await stepOnce(page);
    const problem = page.getByTestId('problem');
    await problem.getByText(`loops.ts:${LINE}:`).waitFor();
    expect(await problem.innerText()).toMatch(/computed too long.*train task \d+.*update 3/s);
    await at(page, 3); // nothing of it is lost
    expect(await checksum(page)).toBe(third);

    await problem.getByRole('button', { name: `Open the editor at line ${LINE}` }).click();
    await page.locator('.cm-activeLineGutter', { hasText: new RegExp(`^${LINE}$`) }).waitFor();
    const paused = page.getByTestId('paused-at-fault');
    expect(await paused.getByRole('button', { name: 'Continue with the fixed file' }).count()).toBe(0); // nothing is mended
    await paste(page, MENDED);
    await paused.getByRole('button', { name: 'Continue with the fixed file' }).click();
    await page.waitForFunction(() => (window.__playground?.snapshot().update ?? 0) > 3);
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await still(page);
    const { update } = await read(page);

    await page.keyboard.press('s');
    await page.getByTestId('link-leaves-environment').getByText('loops.ts').waitFor();
    await page.keyboard.press('Escape');

    const zip = await exported(page);
    const files = filesOfZip('run.zip', zip);
    expect(new TextDecoder().decode(files.get(FILE_NAMES.environment))).toBe(MENDED);
    const sent = readCheckpointFiles(files);
    expect(sent.kind === 'ours' && sent.run.changes).toEqual([{ update: 3, text: 'environment loops.ts' }]);
    expect(problems).toEqual([]);
    await page.context().close();

    // a link brings the knobs alone
    const other = await visitStill(browser, { viewport: PHONE, hash: KNOBS });
    const asked: string[] = [];
    other.page.on('request', (request) => asked.push(request.url()));
    const sandbox = () => asked.filter((url) => /\/(?:quickjs|openWritten)-/.test(url)).length;
    await stepOnce(other.page);
    await other.page.getByTestId('problem').getByRole('button', { name: 'Write or open an environment' }).waitFor();
    expect(await read(other.page)).toMatchObject({ session: 'none', stepping: false });
    await drop(other.page, { 'run.zip': zip });
    const dialog = other.page.getByRole('dialog', { name: 'Import a checkpoint' });
    const program = dialog.getByTestId('program-in-run');
    await program.getByText('static tasks').waitFor();
    expect(await program.innerText()).toMatch(/loops\.ts.*sandbox/s);
    expect(await axe(other.page, undefined, 'dialog')).toEqual([]);
    expect(sandbox()).toBe(0);
    expect((await read(other.page)).session).toBe('none');
    await dialog.getByRole('button', { name: `Run loops.ts from update ${update}` }).click();
    await at(other.page, update);
    expect(sandbox()).toBe(2);
    expect(other.problems).toEqual([]);
    await other.page.context().close();
  },
);

test('on a phone a run shows what it imitates; Start RL now ends that after the step under way, and the knobs and the file’s next run keep the number of steps', async (current) => {
  leaveToWeekly(current, 'what is said of an imitation (ui/noRollouts) and its steps (imitationPlan)');
  const { page, problems } = await visitStill(browser, { viewport: PHONE, hash: '#/environment' });
  await page.getByRole('textbox', { name: 'File name' }).fill('mended.ts');
  await paste(page, MENDED);
  await page.getByRole('button', { name: 'Train on it' }).click();
  const card = page.getByTestId('demonstrations');
  await card.getByText('say').first().waitFor();
  expect(await card.getByRole('group', { name: 'Demonstration' }).getByRole('button').count()).toBe(8);
  const kinds = await card.locator('li').evaluateAll((items) => items.map((item) => item.getAttribute('data-kind')));
  expect(kinds.slice(0, 2)).toEqual(['prompt', 'call']);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.width);
  await page.getByRole('button', { name: 'Start RL now' }).click();
  await page.waitForFunction(() => (window.__playground?.snapshot().update ?? 0) > 0);
  const knobs = new URLSearchParams(page.url().split('?')[1]);
  const steps = Number(knobs.get('imitationSteps'));
  expect(steps).toBeGreaterThan(0);
  expect(steps).toBeLessThan(600);
  expect(knobs.get('imitationHorizon')).toBe('8000'); // the rate hasn't begun to fall
  await page.goto(page.url().replace(/#.*/, '#/environment'));
  await page.getByRole('button', { name: 'Train on it' }).click();
  // read from the address, because so few steps may be over before a text that counts them is seen
  await page.waitForURL((url) => new URLSearchParams(url.hash.split('?')[1]).get('imitationSteps') === String(steps));
  expect(problems).toEqual([]);
  await page.context().close();
}, 300_000);

describe('in Python', () => {
  const HASH = '#/environment';
  const check = (page: Page) => page.getByTestId('check');
  const verdict = (page: Page) => check(page).getByTestId('verdict');
  const fileInput = (page: Page) => page.locator('.environment input[type="file"]');
  /** The names of what the page and its workers have asked for since, from a sign on. */
  function asked(page: Page, sign: RegExp): () => readonly string[] {
    const names: string[] = [];
    page.on('request', (request) => {
      const [name = ''] = /[^/]*$/.exec(request.url()) ?? [];
      if (sign.test(name)) names.push(name.replace(/-[\w-]{8}\./, '.'));
    });
    return () => names;
  }
  /** What this browser keeps for the page: names alone. */
  const kept = (page: Page) =>
    page.evaluate(async () => ({
      local: Object.keys(localStorage).toSorted(),
      databases: (await indexedDB.databases()).map(({ name }) => name).toSorted(),
      caches: (await caches.keys()).filter((name) => !name.startsWith('python-snapshot ')), // written before the file is loaded
    }));

  test('Python is chosen, loaded at the press of Check and not before, checked, and trained on', async () => {
    const { page, problems } = await visitStill(browser, { hash: HASH });
    const brought = asked(page, /^(python|pyodide)/);
    await page.getByRole('combobox', { name: 'Language' }).selectOption('python');
    const editor = page.getByRole('textbox', { name: 'Environment, as Python' });
    await expect.poll(() => editor.innerText()).toContain('class HiddenWord:');
    await expect.poll(() => page.getByTestId('reading').innerText()).toContain('HiddenWord has one tool: guess');
    expect(await page.getByTestId('python-note').innerText()).toContain('6 MB');
    expect(brought()).toEqual([]);
    // thirty tasks instead of a thousand: written/templates checks all of them
    const source = await readFile('public/environments/hiddenWord.py', 'utf8');
    const text = source.replace('"train": 100_000, "test": 100', '"train": 20, "test": 10');
    const buffer = Buffer.from(text);
    await fileInput(page).setInputFiles({ name: 'few.py', mimeType: 'text/x-python', buffer });
    await expect.poll(() => editor.innerText()).toContain('"train": 20');
    expect(brought()).toEqual([]);
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await verdict(page).waitFor({ timeout: 300_000 });
    expect(await verdict(page).getAttribute('data-faults')).toBe('0');
    expect(new Set(brought())).toEqual(new Set(['python.js', 'pyodide.js', 'pyodide.asm.wasm', 'python_stdlib.zip']));
    expect(await check(page).locator('[data-player=expert] .number').innerText()).toBe('1.00');
    await page.getByRole('button', { name: 'Train on it' }).click();
    // its episodes are played by Python in the worker that trains
    await page.getByText(/Imitating demonstrations, step \d+ of \d+/).waitFor({ timeout: 300_000 });
    // what later starts begin from, of which this is the second
    const snapshots = await page.evaluate(async () => {
      const [name = ''] = await caches.keys();
      return [name, (await (await caches.open(name)).keys()).length];
    });
    expect(snapshots).toEqual([expect.stringMatching(/^python-snapshot /), 1]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  /** The page on a host that sends no policy for its workers: only what Python's worker gave up protects then. Also whatever else is asked of it. */
  async function plainHost(): Promise<{ readonly server: Server; readonly address: string; readonly asked: string[] }> {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      if (request.url?.includes('attempt-')) asked.push(request.url);
      void fetch(new URL(request.url ?? '/', inject('baseURL'))).then(async ({ status, headers, body }) => {
        const kept = [...headers].filter(([name]) => /^(content-type|cross-origin-.*)$/.test(name));
        response.writeHead(status, Object.fromEntries(kept));
        response.end(Buffer.from(await new Response(body).arrayBuffer()));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked };
  }

  test('a hostile file in Python reaches no server and no storage, and the page goes on', async (current) => {
    leaveToWeekly(current, 'the same attempts in Node (written/pythonSandbox)');
    const { server, address, asked: reached } = await plainHost();
    const context = await browser.newContext({ serviceWorkers: 'block', reducedMotion: 'reduce' });
    const page = await context.newPage();
    await page.goto(address + HASH, { timeout: PATIENCE_MS });
    await loaded(page);
    const { port } = new URL(address);
    const source = (await readFile('test/written/pythonAttempts.py', 'utf8')).replace('PORT', port);
    await fileInput(page).setInputFiles({
      name: 'attempts.py',
      mimeType: 'text/x-python',
      buffer: Buffer.from(source),
    });
    await expect.poll(() => page.getByTestId('reading').innerText()).toContain('Attempts has one tool: look');
    const before = await kept(page);
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await verdict(page).waitFor({ timeout: 300_000 });
    const findings = await page.getByRole('list', { name: 'What was found' }).innerText();
    expect(findings).toContain('Python was ended'); // all attempts before the last two were made
    expect(findings).not.toContain('REACHED');
    expect(reached).toEqual([]);
    expect(await kept(page)).toEqual(before);
    await toScreen(page, 'runs');
    await context.close();
    server.close();
  });
});

describe('on a server', () => {
  let server: OpenenvServer;
  beforeAll(async () => {
    server = await openenvServer();
  });
  afterAll(() => server.kill());

  /** A run on a server with small knobs: an update takes a second. */
  const KNOBS =
    '#/lab?v=2&env=your-environment&seed=7&backend=cpu&prompts=2&groupSize=2&minibatches=1&epochs=1&layers=1&width=16&heads=2&kvHeads=2&ffn=16&warmStart=none&evalTasks=2&language=text&updates=100000&evalEvery=0';
  const OPTIONS = '?turns=2&observation=16';
  const settledAt = (page: Page, update: number) =>
    page.waitForFunction((n) => {
      const now = window.__playground?.snapshot();
      return now?.session === 'ready' && now.update === n && !now.running && !now.stepping;
    }, update);

  async function openDialog(page: Page) {
    await page.getByRole('button', { name: 'Connect to an environment on a server…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Train on an OpenEnv server' });
    return { dialog, address: dialog.getByRole('textbox', { name: 'Address' }) };
  }

  test('a server is connected to by the press that names it, trains, stops, and goes on once it is back; sent on, its run connects after a press only', async () => {
    const { page, problems } = await visitStill(browser, { hash: '#/environment' });
    const { dialog, address } = await openDialog(page);
    await address.fill('ws://192.0.2.1:8000/ws');
    await dialog.getByRole('alert').getByText('this machine').waitFor();
    expect(await dialog.getByRole('button', { name: /^Connect/ }).isEnabled()).toBe(false);
    await address.fill(`${server.address}${OPTIONS}`);
    expect(await dialog.getByTestId('hosted-page').count()).toBe(0); // the page is served by this machine
    expect(await axeInBothThemes(page, 'dialog')).toEqual([]);
    expect(server.connections).toBe(0);
    const host = `127.0.0.1:${server.port}`;
    await dialog.getByRole('button', { name: `Connect to ${host} and train` }).click();
    await page.locator('.lab[data-screen="lab"]').waitFor();
    await page.getByTestId('server-sign').getByText(host).waitFor();
    await expect.poll(() => server.connections).toBeGreaterThan(0);
    // its defaults imitate for a minute
    await page.goto(page.url().replace(/#.*/, KNOBS));
    await page.getByRole('button', { name: /^Reset/ }).click();
    await settledAt(page, 0);

    const step = page.getByRole('button', { name: 'Step one update' });
    await step.click();
    await settledAt(page, 1);
    await page.getByTestId('environment').getByRole('heading', { name: host }).waitFor();
    await page
      .getByTestId('environment')
      .locator('.calls-prompt', { hasText: /what is \d+ \+ 1/ })
      .waitFor();
    await step.click();
    await settledAt(page, 2);
    const second = await checksum(page);

    const { port } = server;
    await server.kill();
    await step.click();
    const problem = page.getByTestId('problem');
    await problem.getByText('No server answers').waitFor();
    expect(await problem.innerText()).toMatch(/paused at update 2/);
    await settledAt(page, 2); // nothing of it is lost
    expect(await checksum(page)).toBe(second);
    server = await openenvServer({}, port);
    await problem.getByRole('button', { name: 'Go on' }).click();
    await page.waitForFunction(() => (window.__playground?.snapshot().update ?? 0) > 2);
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await still(page);
    const { update } = await read(page);
    await page.keyboard.press('s');
    await page.getByTestId('link-leaves-environment').getByText(host).waitFor();
    await page.keyboard.press('Escape');
    await page.goto(page.url().replace(/#.*/, '#/runs'));
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Run 1 as a checkpoint' }).click(),
    ]);
    const zip = new Uint8Array(await readFile(await download.path()));
    expect(problems.filter((text) => !text.includes('WebSocket connection'))).toEqual([]); // Chromium notes those that fail
    await page.context().close();
    await expect.poll(() => server.open).toBe(0);

    const before = server.connections;
    const other = await visitStill(browser, { viewport: PHONE, hash: KNOBS });
    await drop(other.page, { 'run.zip': zip });
    const found = other.page.getByRole('dialog', { name: 'Import a checkpoint' });
    await found.getByTestId('server-in-run').getByText(`${server.address}${OPTIONS}`).waitFor();
    expect(await axe(other.page, undefined, 'dialog')).toEqual([]);
    expect(server.connections).toBe(before);
    expect(await other.page.getByTestId('server-sign').count()).toBe(0);
    await found.getByRole('button', { name: `Connect to ${host} and continue from update ${update}` }).click();
    await settledAt(other.page, update);
    expect(server.connections).toBeGreaterThan(before);
    await other.page.getByTestId('server-sign').waitFor();
    expect(await tooSmall(other.page)).toEqual([]);
    expect(other.problems).toEqual([]);
    await other.page.context().close();
  }, 300_000);
});
