import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenenvServer, openenvServer } from '../openenv/openenvServer.ts';
import { axe, axeInBothThemes, checksum, drop, launch, PHONE, read, still, tooSmall, visitStill } from './lab.ts';

let browser: Browser;
let server: OpenenvServer;
beforeAll(async () => {
  [browser, server] = await Promise.all([launch('no adapter'), openenvServer()]);
});
afterAll(async () => {
  await browser.close();
  await server.kill();
});

/** A run on a server with small knobs: an update takes a second. */
const KNOBS =
  '#/lab?v=2&env=your-environment&seed=7&backend=cpu&prompts=2&groupSize=2&minibatches=1&epochs=1&layers=1&width=16&heads=2&kvHeads=2&ffn=16&warmStart=none&evalTasks=2&language=text&updates=50&evalEvery=0';
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
