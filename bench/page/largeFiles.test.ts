import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { runLine, updateLine } from '../../src/runs/log.ts';
import { runWithDefaults } from '../../src/runs/run.ts';
import { launch, visitStill } from '../../test/e2e/lab.ts';
import { longestTask, noted, report, watch } from './watched.ts';

let browser: Browser;
let folder: string;
beforeAll(async () => {
  browser = await launch('no adapter');
  folder = await mkdtemp(path.join(tmpdir(), 'rollout-playground-large-'));
});
afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
});

/** No task of the page's thread is longer, in ms of processor time. */
const TASK_MS = 200;
const TRACED = { categories: ['disabled-by-default-devtools.timeline', '__metadata'] };

const manifest = (name: string) => runLine(runWithDefaults({ id: 0, name, started: '2026-11-25T00:00:00.000Z', begun: parseConfig(), backend: { kind: 'cpu', adapter: 'x' } })); // prettier-ignore
const update = (n: number) =>
  updateLine(n, { 'rollout/success': 0.5, 'critic/score/mean': 0.25, 'actor/entropy': 1.5 });
const call = '<tool_call>\n{"name": "search", "arguments": {"query": "Ada"}}\n</tool_call>\nuser\n<tool_response>\nNabokov\n</tool_response>\nassistant\n'; // prettier-ignore
const rollout = (step: number, calls: number) => JSON.stringify({ input: 'user\nWho?\nassistant\n', output: `${call.repeat(calls)}<answer>Nabokov</answer>`, gts: 'x', score: 1, step }); // prettier-ignore

function* log(name: string, bytes: number): Generator<string> {
  let written = 0;
  yield `${manifest(name)}\n`;
  for (let n = 1; written < bytes; n++) {
    const line = `${update(n)}\n`;
    written += line.length;
    yield line;
  }
}
function* rollouts(rows: number, calls: number): Generator<string> {
  for (let step = 1; step <= rows; step++) yield `${rollout(step, calls)}\n`;
}

/** Writes a file to disk; its path. */
async function written(name: string, lines: Iterable<string>): Promise<string> {
  const file = path.join(folder, name);
  await pipeline(Readable.from(lines), createWriteStream(file));
  return file;
}

const pick = (page: Page, file: string) =>
  page.locator('input[type="file"]:not([webkitdirectory])').first().setInputFiles(file);
const opened = (page: Page) => page.getByText('Opened 1 run.').waitFor({ timeout: 120_000 });
const listed = (page: Page) => page.getByTestId('record').first().waitFor({ timeout: 120_000 });

interface Case {
  readonly screen: 'runs' | 'rollouts';
  readonly file: () => Promise<string>;
  readonly read: (page: Page) => Promise<void>;
  readonly deeds?: (page: Page) => Promise<void>;
}
const scrolls = async (page: Page) => {
  await page.getByTestId('record').first().hover();
  for (let n = 0; n < 20; n++) {
    await page.mouse.wheel(0, 4000);
    await page.waitForTimeout(50);
  }
};

/** What is opened, and what a reader then does. */
const CASES: Readonly<Record<string, Case>> = {
  'a rollout of 15,000 segments, opened and scrolled': {
    ...{ screen: 'rollouts', file: () => written('1.jsonl', rollouts(1, 7500)), read: listed, deeds: scrolls },
  },
  'rollouts of 100,000 steps, opened and two steps set side by side': {
    ...{ screen: 'rollouts', file: () => written('steps.jsonl', rollouts(100_000, 1)) },
    read: async (page) => {
      await listed(page);
      await page.locator('.file-bar progress').waitFor({ state: 'detached', timeout: 120_000 });
    },
    deeds: async (page) => {
      await page.getByRole('group', { name: 'Look at' }).getByRole('button').last().click();
      await page.getByTestId('steps-look').waitFor();
    },
  },
  'a log of 100 MB under Runs': {
    ...{ screen: 'runs', file: () => written('large.jsonl', log('large', 100e6)), read: opened },
  },
  'a log just under 1 MiB, which the page itself reads': {
    ...{ screen: 'runs', file: () => written('small.jsonl', log('small', 2 ** 20 - 4096)), read: opened },
  },
  'a log whose run has a name of 3 MB': {
    ...{ screen: 'runs', file: () => written('named.jsonl', log('n'.repeat(3e6), 4096)), read: opened },
  },
};

test.each(Object.keys(CASES))(
  '%s',
  async (kind) => {
    const { screen, file, read, deeds } = CASES[kind]!;
    const made = await file();
    const { page, problems } = await visitStill(browser, { hash: `#/${screen}` });
    await watch(page);
    await browser.startTracing(page, TRACED);
    const began = performance.now();
    await pick(page, made);
    await read(page);
    const seconds = (performance.now() - began) / 1000;
    await deeds?.(page);
    const processor = longestTask(await browser.stopTracing());
    report(`${kind}: the longest task`, processor, TASK_MS);
    console.log(`  by the clock ${(await noted(page)).task.toFixed(0)} ms; read after ${seconds.toFixed(1)} s`);
    expect(problems).toEqual([]);
    await page.context().close();
  },
  300_000,
);
