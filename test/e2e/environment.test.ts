import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { filesOfZip } from '../../src/formats/zip.ts';
import { environmentHash } from '../../src/page/environment/environmentAddress.ts';
import { classSettings } from '../../src/written/classSettings.ts';
import { readDeclaration } from '../../src/written/script/declaration.ts';
import { exportFolder } from '../../src/handover/classFolder.ts';
import { machine, sandboxOf } from '../written/machine.ts';
import { DESKTOP, type Lab, launch, PHONE, toScreen, visitStill } from './lab.ts';

let browser: Browser;
let desk: Lab; // one page for what a person writes there
beforeAll(async () => {
  browser = await launch('no adapter');
  desk = await visitStill(browser);
});
afterAll(() => browser.close());

const HASH = '#/environment';
const editor = (page: Page) => page.getByRole('textbox', { name: 'Environment, as TypeScript' });
const check = (page: Page) => page.getByTestId('check');
/** The code of this screen that the page and its workers have asked for since. */
function asked(page: Page): () => readonly string[] {
  const names: string[] = [];
  page.on('request', (request) => {
    const [name = ''] = /[^/]*$/.exec(new URL(request.url()).pathname) ?? [];
    if (/^(Editor|Environment|examiner|quickjs)-/.test(name)) names.push(name.replace(/-.*/, ''));
  });
  return () => names;
}
/** What stands in the editor, as it is kept for the next visit. */
const kept = (page: Page) =>
  page.evaluate(() => {
    const { file } = JSON.parse(localStorage.getItem('rollout-playground-environment') ?? '{}') as {
      file?: { name: string; text: string };
    };
    return file;
  });

/** Puts a text in place of the whole file, as if it were pasted. */
async function paste(page: Page, text: string): Promise<void> {
  await editor(page).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

async function startFrom(page: Page, title: string): Promise<void> {
  await page.getByRole('button', { name: 'Start from…' }).click();
  await page.getByTestId('templates').getByRole('button', { name: title }).click();
}

async function exportBy(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Export for an RL library…' }).click();
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
}

/** Files by the checksum of their bytes. */
const sums = (files: ReadonlyMap<string, Uint8Array>) =>
  Object.fromEntries(Array.from(files, ([name, bytes]) => [name, createHash('sha256').update(bytes).digest('hex')]));

test('a template is changed: an error shows at its line while it is typed, the check finds a planted fault, and a press leads to it; it exports nothing until it is mended, then the zip that the command writes; nothing is lost', async () => {
  const { page, problems } = desk;
  const loaded = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
  expect(loaded.filter((name) => /\/(Editor|Environment|examiner|quickjs)-/.test(name))).toEqual([]);
  const code = asked(page);
  await toScreen(page, 'environment');
  await startFrom(page, 'Key value store');
  await expect.poll(async () => (await kept(page))?.name).toBe('keyValueStore.ts');
  await page.getByTestId('tools').getByText('submit(value: string)').waitFor();
  expect(new Set(code())).toEqual(new Set(['Environment', 'Editor', 'examiner'])); // nothing has run
  const text = (await kept(page))?.text ?? '';
  const lines = text.split('\n');
  const line = 1 + lines.findIndex((each) => each.includes('return { right:'));
  expect(line).toBeGreaterThan(1);

  // a brace too few
  await paste(page, lines.with(line - 1, '    return { right: 1;').join('\n'));
  await page
    .getByTestId('reading')
    .getByRole('button', { name: `Line ${line}`, exact: true })
    .waitFor();
  await expect.poll(() => page.locator('.cm-lintRange-error').count()).toBeGreaterThan(0);

  // a method that there is not
  await paste(page, lines.with(line - 1, '    return { right: this.missing() };').join('\n'));
  await page.getByTestId('reading').getByText('KeyValueStore').waitFor();
  await page.getByTestId('reading').getByText('no method missing').waitFor(); // nothing has run
  await expect.poll(() => page.locator('.cm-lintRange-warning').count()).toBeGreaterThan(0);
  expect(code()).not.toContain('quickjs');
  await exportBy(page, 'Check and export');
  await check(page).getByText('Nothing was exported.').waitFor();
  const found = check(page).getByRole('list', { name: 'What was found' }).getByRole('listitem').first();
  await found.getByText('getReward').waitFor();
  expect(await found.getAttribute('data-kind')).toBe('fault');
  await found.getByRole('button', { name: `Line ${line}`, exact: true }).click();
  await expect.poll(() => editor(page).evaluate((e) => e === document.activeElement)).toBe(true);
  await expect.poll(() => page.locator('.cm-activeLineGutter').first().innerText()).toBe(String(line));
  expect(code()).toContain('quickjs');

  // mended
  await paste(page, text);
  await check(page).getByText('has changed since').waitFor();
  await check(page).getByRole('button', { name: 'Check' }).click();
  await check(page).locator('[data-testid="verdict"][data-faults="0"]').waitFor();
  expect(await page.locator('tr[data-player="expert"] .number').innerText()).toBe('1.00');
  // a model that has learned nothing is played too
  expect(await page.locator('tr[data-player="untrained"] .number').innerText()).toMatch(/^0\.\d\d$/);
  await page.getByTestId('sample').getByText('submit("').waitFor();

  // exported as it was checked, which is not done again
  const bars: string[] = [];
  const bar = check(page).getByRole('progressbar').waitFor();
  bar.then(
    () => bars.push('it plays'),
    () => undefined, // the page is gone
  );
  const [zip] = await Promise.all([page.waitForEvent('download'), exportBy(page, 'Export')]);
  expect([zip.suggestedFilename(), bars]).toEqual(['keyValueStore.zip', []]);
  const files = filesOfZip('keyValueStore.zip', await readFile(await zip.path()));
  expect(new TextDecoder().decode(files.get('environment.ts'))).toBe(text);
  const file = { name: 'keyValueStore.ts', text };
  const sandbox = await sandboxOf(text);
  const settings = classSettings(sandbox.statics);
  sandbox.dispose();
  const declaration = readDeclaration(text);
  expect(sums(files)).toEqual(sums(exportFolder({ file, declaration, settings, quickjsWasm: machine })));

  // another template takes its place; the one before comes back, after a reload too
  await paste(page, `${text}\n// mine`);
  await startFrom(page, 'Guess the word');
  await expect.poll(async () => (await kept(page))?.name).toBe('guessTheWord.ts');
  await page.reload();
  await page.getByRole('button', { name: 'Back to keyValueStore.ts' }).click();
  // the editor draws only the lines in sight, and the file's last one need not be
  await expect.poll(async () => (await kept(page))?.text).toBe(`${text}\n// mine`);
  await editor(page).getByText('class KeyValueStore').waitFor();
  expect(problems).toEqual([]);
});

const SPINS = `/** Spins. */
export default class Spins {
  static tasks = { train: 20, test: 10 };
  reset(): string { return 'go'; }
  act(word: string): string {
    for (;;);
  }
  getReward() { return 1; }
}
`;

test('a file from a link is shown and named as such, and runs only after a press; what was written before comes back', async () => {
  const hash = environmentHash({ name: 'spins.ts', text: SPINS }) ?? '';
  const { page, problems } = await visitStill(browser);
  const code = asked(page);
  await page.goto('about:blank');
  await page.goto(inject('baseURL') + hash);
  await page.getByTestId('by-link').waitFor();
  await page.getByTestId('reading').getByText('Spins').waitFor();
  /** Neither runs a check nor did one. */
  const unchecked = async () => {
    await check(page).getByRole('button', { name: 'Check' }).waitFor();
    expect(await check(page).getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    expect(await check(page).getByTestId('verdict').count()).toBe(0);
    expect(new Set(code())).toEqual(new Set(['Environment', 'Editor', 'examiner']));
  };
  await unchecked();
  expect(await kept(page)).toEqual({ name: 'spins.ts', text: SPINS, byLink: true });
  expect(new URL(page.url()).hash).toBe(HASH); // what is written from here on is not in the address

  await page.reload();
  await page.getByTestId('by-link').waitFor();
  await page.getByTestId('reading').getByText('Spins').waitFor();
  await unchecked();
  await check(page).getByRole('button', { name: 'Check' }).click();
  await check(page).locator('[data-testid="verdict"][data-faults="1"]').waitFor();
  await page.getByRole('button', { name: 'Back to guessTheWord.ts' }).click();
  await page.getByTestId('by-link').waitFor({ state: 'detached' });

  // the link that is offered is the one that was opened
  await page.getByRole('button', { name: 'Back to spins.ts' }).click();
  await page.getByRole('button', { name: 'Share by link…' }).click();
  const link = await page.getByRole('textbox', { name: 'Link' }).inputValue();
  expect(new URL(link).hash).toBe(hash);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('on a phone the file is written and left by keys, and what may come next is offered', async () => {
  const { page } = desk;
  await page.setViewportSize(PHONE);
  await paste(page, 'export default class A {\n  reset({ draw }): string {\n    return draw.');
  // a press while the list is drawn anew takes nothing from it: then once more, as a person would
  const shuffle = page.getByRole('option', { name: /^shuffle/ });
  await expect
    .poll(
      async () => {
        if (await shuffle.isVisible()) await shuffle.click({ timeout: 1000 }).catch(() => undefined);
        else await page.keyboard.press('Control+Space');
        return (await kept(page))?.text;
      },
      { interval: 1000 },
    )
    .toMatch(/draw\.shuffle$/);
  if (await shuffle.isVisible()) await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  expect(await editor(page).evaluate((e) => e === document.activeElement)).toBe(true);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  expect(await editor(page).evaluate((e) => e === document.activeElement)).toBe(false);
  await page.setViewportSize(DESKTOP);
});

test('a file of this machine is opened; one that is no text is refused, and what was there stays', async () => {
  const { page } = desk;
  const file = page.locator('.environment input[type="file"]');
  await editor(page).waitFor();
  await file.setInputFiles({ name: 'spins.ts', mimeType: 'text/typescript', buffer: Buffer.from(SPINS) });
  await page.getByTestId('reading').getByText('Spins').waitFor();
  await file.setInputFiles({ name: 'a.ts', mimeType: 'text/typescript', buffer: Buffer.from([0xff, 0xfe, 0xfd]) });
  await page.getByRole('alert').getByText('a.ts').waitFor();
  expect((await kept(page))?.name).toBe('spins.ts');
  const coming = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as a file' }).click();
  expect((await coming).suggestedFilename()).toBe('spins.ts');
});
