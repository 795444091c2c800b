import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FILE_NAMES } from '../../src/checkpoints/checkpointFolder.ts';
import { readCheckpointFiles } from '../../src/checkpoints/read.ts';
import { filesOfZip } from '../../src/formats/zip.ts';
import { trainTaskSeed } from '../../src/rl/settings.ts';
import { axe, checksum, drop, launch, PHONE, read, saved, savedRunsFound, stepped, still, visitStill } from './lab.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch('no adapter');
});
afterAll(() => browser.close());

const SEED = 7;
/** A small run: a step takes a second. */
const KNOBS = `#/lab?v=2&env=your-environment&seed=${SEED}&backend=cpu&prompts=2&groupSize=2&minibatches=1&epochs=1&layers=1&width=16&heads=2&kvHeads=2&ffn=16&warmStart=none&evalTasks=2&language=words`;
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

test('a file from the editor trains, is back after a reload, pauses at its fault, and goes on once it is mended; sent on, it runs only after a press', async () => {
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
}, 300_000);

test('on a phone a run shows what it imitates; Start RL now ends that after the step under way, and the knobs and the file’s next run keep the number of steps', async () => {
  const { page, problems } = await visitStill(browser, { viewport: PHONE, hash: '#/environment' });
  await page.getByRole('textbox', { name: 'File name' }).fill('mended.ts');
  await paste(page, MENDED);
  await page.getByRole('button', { name: 'Train on it' }).click();
  const card = page.getByTestId('demonstrations');
  await card.getByText('say').first().waitFor({ timeout: 60_000 });
  expect(await card.getByRole('group', { name: 'Demonstration' }).getByRole('button').count()).toBe(8);
  const kinds = await card.locator('li').evaluateAll((items) => items.map((item) => item.getAttribute('data-kind')));
  expect(kinds.slice(0, 2)).toEqual(['prompt', 'call']);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.width);
  await page.getByRole('button', { name: 'Start RL now' }).click();
  await page.waitForFunction(() => (window.__playground?.snapshot().update ?? 0) > 0, null, { timeout: 120_000 });
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
