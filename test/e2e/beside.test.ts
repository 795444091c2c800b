import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { filesOfZip } from '../../src/formats/zip.ts';
import { text } from '../formats/gguf.ts';
import { tinyGguf } from '../speaking/tinyGguf.ts';
import { leaveToWeekly } from '../weekly.ts';
import { checksum, drop, type Lab, launch, visitStill } from './lab.ts';

let browser: Browser;
let lab: Lab; // one run that is paused while it imitates
beforeAll(async () => {
  browser = await launch('no adapter');
  lab = await visitStill(browser, { hash: '#/train' });
  await paused(lab.page);
});
afterAll(() => browser.close());

// more steps than the test has time for
const STEPS = 900;
const verdict = (page: Page) => page.getByTestId('verdict');
const standing = async (page: Page) =>
  Number(/Paused (?:after|in) step (\d+) of 900/.exec((await verdict(page).textContent()) ?? '')?.[1]);

/** Begins number hunt beside the tiny model, with few rows and many demonstrations, and pauses it while they are imitated. */
async function paused(page: Page): Promise<void> {
  await drop(page, { 'tiny.gguf': tinyGguf() });
  const train = page.getByRole('region', { name: 'Train it' });
  await train.getByRole('combobox').selectOption({ label: 'number hunt' });
  for (const [knob, value] of [
    ['Prompts', '1'],
    ['Group size', '2'],
    ['Imitation steps', String(STEPS)],
  ] as const) {
    await train.getByLabel(knob).fill(value);
  }
  await train.getByRole('button', { name: 'Train it' }).click();
  await page.waitForURL(/#\/lab/);
  await page
    .getByTestId('phase')
    .getByText(/imitating, step ([2-9]|\d{2,}) of 900/)
    .waitFor();
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await verdict(page)
    .getByText(/Paused (after|in) step \d+ of 900 of imitation/)
    .waitFor();
  await checksum(page); // the worker answers in order: all steps it took before it paused are told
  await page.getByTestId('saved').waitFor();
}

test('a run beside a checkpoint is taken away as one model of both, of the size that was told, or as its adapter', async (context) => {
  leaveToWeekly(
    context,
    'the merged model and the adapter in Node (mergedModel, adapters/merged) and in PEFT (python/test_adapters)',
  );
  const { page, problems } = lab;
  await page.getByRole('button', { name: 'Enlarge or export Reward', exact: true }).click();
  await page.getByRole('button', { name: /^Checkpoint of run \d+, zip$/ }).click();
  const dialog = page.getByRole('dialog', { name: /^Export run \d+$/ });
  const half = dialog.getByRole('button', { name: /^Half precision \(F16\), \d+(\.\d+)? kB$/ });
  const told = Number(/([\d.]+) kB/.exec((await half.textContent()) ?? '')?.[1]);
  const [model] = await Promise.all([page.waitForEvent('download'), half.click()]);
  expect(model.suggestedFilename()).toBe('tiny-trained-f16.gguf');
  const bytes = await readFile(await model.path());
  expect(bytes.subarray(0, 4).toString()).toBe('GGUF');
  expect(Math.abs(bytes.length / 1024 - told)).toBeLessThan(1);
  const whole = dialog.getByRole('button', { name: /^Adapter with everything to continue, / });
  const [adapter] = await Promise.all([page.waitForEvent('download'), whole.click()]);
  const zip = await readFile(await adapter.path());
  expect([...filesOfZip('run.zip', zip).keys()]).toContain('adapter_model.safetensors');
  expect(problems).toEqual([]);
  // elsewhere, where the checkpoint is open already, nobody asks for it once more
  const elsewhere = await visitStill(browser, { hash: '#/train' });
  // not even where another was looked at first
  await drop(elsewhere.page, { 'other.gguf': tinyGguf({ 'general.name': text('Other') }) });
  const card = (name: string) => elsewhere.page.locator('.model-named').filter({ hasText: name });
  await card('other.gguf').waitFor();
  await elsewhere.page.getByRole('region', { name: 'Train it' }).waitFor();
  await drop(elsewhere.page, { 'tiny.gguf': tinyGguf() });
  await card('tiny.gguf').waitFor();
  await elsewhere.page.evaluate(() => location.assign('#/runs'));
  const [chooser] = await Promise.all([
    elsewhere.page.waitForEvent('filechooser'),
    elsewhere.page.getByRole('button', { name: 'Import a checkpoint' }).click(),
  ]);
  await chooser.setFiles({ name: 'run.zip', mimeType: 'application/zip', buffer: zip });
  await elsewhere.page.getByRole('button', { name: /^Continue from/ }).click();
  await verdict(elsewhere.page)
    .getByText(/Paused/)
    .waitFor();
  expect(elsewhere.problems).toEqual([]);
  await elsewhere.page.context().close();
});

test('another run beside a checkpoint takes the place of one that imitates, which can be brought back', async () => {
  const { page, problems } = lab;
  const before = await standing(page);
  await page.evaluate(() => location.assign('#/train'));
  const train = page.getByRole('region', { name: 'Train it' });
  await train.getByLabel('Adapter rank').fill('2');
  await train.getByRole('button', { name: 'Train it' }).click();
  const undo = page.getByText(/A new run replaced imitation step \d+ of 900/);
  await undo.getByRole('button', { name: 'Undo' }).focus(); // which keeps it
  await undo.getByRole('button', { name: 'Undo' }).click();
  await verdict(page)
    .getByText(/Paused after step \d+ of 900/)
    .waitFor();
  const apart = async () => Math.abs((await standing(page)) - before);
  await expect.poll(apart).toBeLessThanOrEqual(1); // the step under way is not part of it
  expect(problems).toEqual([]);
});

test('a run that was left while it imitates goes on from that step with the file that is dropped again, waits for it, and refuses another by name', async () => {
  const { page, problems } = lab;
  await page.getByTestId('saved').waitFor();
  await page.reload();
  const offer = page.getByRole('button', { name: /^Resume imitation step \d+ of 900$/ });
  const step = Number(/step (\d+)/.exec((await offer.textContent()) ?? '')?.[1]);
  expect(step).toBeGreaterThan(0);
  await offer.click();
  const problem = page.getByTestId('problem');
  await problem.getByText(/beside tiny\.gguf \(0\.\d MB, fingerprint [0-9a-f]{12}…\)/).waitFor();
  await problem.getByRole('button', { name: 'Choose its file…' }).waitFor();
  await drop(page, { 'other.gguf': tinyGguf({ 'general.name': text('Other') }) });
  await problem
    .getByText(/beside tiny\.gguf \(.*fingerprint .*\)\. other\.gguf \(.*fingerprint .*\) is another model/)
    .waitFor();
  await drop(page, { 'renamed.gguf': tinyGguf() });
  await verdict(page).getByText(`Paused after step ${step} of 900`).waitFor();
  await page.getByRole('button', { name: 'Imitate one step' }).click();
  await verdict(page)
    .getByText(`Paused after step ${step + 1} of 900`)
    .waitFor();
  await page.getByTestId('saved').waitFor();
  // without a word, where the knobs ask for a checkpoint
  await page.reload();
  await page.getByRole('button', { name: `Resume imitation step ${step + 1} of 900` }).waitFor();
  await drop(page, { 'tiny.gguf': tinyGguf() });
  await verdict(page)
    .getByText(`Paused after step ${step + 1} of 900`)
    .waitFor();
  // dropped on the run that goes on beside it, it changes nothing
  await drop(page, { 'tiny.gguf': tinyGguf() });
  await page.getByText(/already trains adapters for tiny\.gguf/).waitFor();
  await expect.poll(() => standing(page)).toBe(step + 1);
  expect(problems).toEqual([]);
});

test('a run beside a checkpoint that would not fit is refused before it begins, with knobs that make it fit; one that fits shows what it imitates, and afterwards what could stand at a token, why it moved and what else it leads to', async () => {
  const { page, problems } = await visitStill(browser, { hash: '#/train' });
  await drop(page, { 'tiny.gguf': tinyGguf() });
  const train = page.getByRole('region', { name: 'Train it' });
  const begin = train.getByRole('button', { name: 'Train it' });
  await train.getByLabel('Memory it takes').getByText('gradients and Adam’s moments').waitFor();
  await expect.poll(() => begin.isEnabled()).toBe(true);
  // while nobody has said yet whether it fits with these knobs, it cannot begin
  const silence = await page.evaluateHandle(() => {
    const state = { on: true };
    const post = Reflect.get(Worker.prototype, 'postMessage') as () => void;
    const apply = (_: () => void, worker: unknown, given: readonly unknown[]): unknown =>
      state.on || Reflect.apply(post, worker, given);
    Reflect.set(Worker.prototype, 'postMessage', new Proxy(post, { apply }));
    return state;
  });
  await train.getByLabel('Prompts').fill('2');
  await expect.poll(() => begin.isEnabled()).toBe(false);
  await silence.evaluate((state) => {
    state.on = false;
  });
  await train.getByLabel('Prompts').fill('3');
  await expect.poll(() => begin.isEnabled()).toBe(true);
  await train.getByLabel('Prompts').fill('1024');
  await train.getByLabel('Group size').fill('64');
  await train
    .getByRole('alert')
    .getByText(/ GB, .* 4\.29 GB /)
    .waitFor();
  await expect.poll(() => begin.isEnabled()).toBe(false);
  await train
    .getByRole('alert')
    .getByRole('button', { name: /^Prompts \d+: / })
    .click();
  await expect.poll(() => begin.isEnabled()).toBe(true);
  await expect.poll(() => train.getByRole('alert').count()).toBe(0);

  for (const [knob, value] of [
    ['Prompts', '1'],
    ['Group size', '2'],
    ['Adapter rank', '4'],
    ['Imitation steps', '12'],
    ['Evaluated tasks', '1'],
  ] as const) {
    await train.getByLabel(knob).fill(value);
  }
  await expect.poll(() => train.getByLabel('Adapter alpha').inputValue()).toBe('8');
  await train.getByText('alpha/rank = 2.').waitFor();
  // watched within the page from before the press on: so few steps are soon over
  const shown = page.waitForFunction(
    () =>
      [...document.querySelectorAll('[data-testid="demonstrations"] [data-kind="call"]')].some((call) =>
        call.textContent.includes('{"name": "calculate"'),
      ),
    undefined,
    { polling: 'raf' },
  );
  await Promise.all([shown, train.getByRole('button', { name: 'Train it' }).click()]);
  await page.waitForURL(/#\/lab/);
  await page.waitForFunction(() => (window.__playground?.snapshot().update ?? 0) >= 1);
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await page.getByRole('button', { name: 'Run training' }).waitFor();
  await page.locator('.span:is([data-kind="answer"], [data-kind="call"]) [data-token]').first().click();
  const distribution = page.getByTestId('distribution');
  await distribution.getByText(/20 .* of 263 legal words/).waitFor();
  await expect.poll(() => distribution.locator('.option-p').count()).toBe(21); // with the others as one
  const shares = await distribution.locator('.option-p').allTextContents();
  expect(Math.abs(shares.map((share) => Number(share.replace('<', ''))).reduce((a, b) => a + b, 0) - 100)).toBeLessThan(
    1.5,
  ); // each to a tenth
  await page.getByText('Why did it move?').click();
  await page.getByTestId('why').getByText('momentum').waitFor();
  await page.getByText('Attention', { exact: true }).click();
  await page
    .getByTestId('attention')
    .getByText(/ 48 .*of [\d,]+ tokens/)
    .waitFor();
  await distribution.locator('.option:not([data-drawn="true"])').first().click();
  await page.getByTestId('branch').getByText('never trained on').waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});
