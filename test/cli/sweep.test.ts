import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readRunFile } from '../../src/experiments/runFile.ts';
import { bundled } from './bundled.ts';

let program = '';
let folder = '';
let whole: Ended; // a sweep of 2 configurations × 2 seeds that nothing disturbed, in the folder `whole`
const TINY = { env: 'bandit', warmStart: 'none', width: 16, prompts: 2, groupSize: 2, evalTasks: 8 };
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'sweep-'));
  const write = (name: string, file: object) => writeFileSync(path.join(folder, name), JSON.stringify(file));
  write('four.json', { set: TINY, updates: 2, grid: { learningRate: [0.001, 0.01] }, seeds: [1, 2] });
  write('long.json', { set: { ...TINY, evalEvery: 0, miEvery: 0, layers: 1 }, updates: 80, grid: {}, seeds: [1] });
  // started from this folder: the facts that one of the environments asks about are not there
  write('fails.json', { set: { ...TINY, env: undefined }, updates: 1, grid: { env: ['bandit', 'world-facts'] } });
  program = (await bundled())('experiment');
  whole = await start('four.json', '--out', 'whole').ended;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** Starts the program in a process group of its own, with two runs at a time unless `--jobs` says otherwise. */
function start(...args: readonly string[]): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
  const env = { ...process.env, CALLER_FOLDER: folder };
  const child = spawn(process.execPath, [program, '--jobs', '2', ...args], {
    ...{ env, cwd: folder, detached: true },
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (text) => (out += String(text)));
  child.stderr.on('data', (text) => (err += String(text)));
  const ended = new Promise<Ended>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal, out, err })),
  );
  return { child, ended };
}

const resultsIn = (out: string) => {
  const runs = path.join(folder, out, 'runs');
  return existsSync(runs) ? readdirSync(runs).filter((name) => name.endsWith('.jsonl')) : [];
};
const tables = (out: string) =>
  ['table.csv', 'table.json', 'table.md'].map((name) => readFileSync(path.join(folder, out, name), 'utf8'));

/** Sends a signal to the program and all it has started as soon as so many results are there. */
async function stopAt(count: number, out: string, signal: NodeJS.Signals, ...args: readonly string[]): Promise<Ended> {
  const { child, ended } = start(...args, '--out', out);
  while (child.exitCode === null && resultsIn(out).length < count)
    await new Promise((resolve) => setTimeout(resolve, 2));
  if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, signal);
  return ended;
}

test('a sweep of 2 configurations × 2 seeds that is killed twice and gone on with comes to the table of one that is not', async () => {
  expect(whole.code).toBe(0);
  expect(whole.err).toMatch(/4 runs, 0 of them done/);
  expect(resultsIn('whole')).toHaveLength(4);
  const killed: number[] = [];
  for (const count of [1, 2]) {
    const { signal } = await stopAt(count, 'killed', 'SIGKILL', 'four.json', '--jobs', '1');
    expect(signal).toBe('SIGKILL');
    killed.push(resultsIn('killed').length);
    expect(existsSync(path.join(folder, 'killed/table.csv'))).toBe(false);
  }
  expect(killed[0]).toBeLessThan(killed[1] ?? 0); // it went on, and was killed before its end
  expect(killed[1]).toBeLessThan(4);
  const last = await start('four.json', '--out', 'killed').ended;
  expect(last.code).toBe(0);
  expect(last.err).toContain(`4 runs, ${killed[1]} of them done`); // nothing is run twice
  expect(tables('killed')).toEqual(tables('whole'));
  expect(last.out).toBe(whole.out);
});

// larger than what a pipe holds (64 kB): the process that trained must not end before all of it has left
test('a long run’s log arrives whole', async () => {
  const { code, err } = await start('long.json', '--out', 'long').ended;
  expect([code, err]).toEqual([0, expect.not.stringContaining('ended with code')]);
  const [file = ''] = resultsIn('long');
  expect(readFileSync(path.join(folder, 'long', 'runs', file)).byteLength).toBeGreaterThan(9e4);
});

test('each run of a sweep opens on the page, with every curve and the number that the table has of it', async () => {
  const read = await Promise.all(
    resultsIn('whole').map((name) => {
      const file = new Blob([readFileSync(path.join(folder, 'whole/runs', name))]);
      return readRunFile({ path: `whole/runs/${name}`, file, written: '', manifest: null });
    }),
  );
  const table = JSON.parse(tables('whole')[1] ?? '') as { rows: { knobs: { learningRate: number }; values: number[] }[] }; // prettier-ignore
  const rows = table.rows.map(({ knobs: { learningRate }, values }) => [learningRate, values]);
  const rates = [...new Set(read.map(({ begun }) => begun.learningRate))];
  const lastOf = (rate: number) => read.filter(({ begun }) => begun.learningRate === rate).map(({ series }) => series.get('eval/success')?.lastValue); // prettier-ignore
  expect(Object.fromEntries(rates.map((rate) => [rate, lastOf(rate)]))).toEqual(Object.fromEntries(rows));
  for (const run of read) {
    expect(run).toMatchObject({ update: 2, name: `${run.arm}, seed ${run.begun.seed}` });
    expect(run.seconds).toBeGreaterThan(0);
    expect(run.series.get('rollout/success')?.points.x).toEqual(Uint32Array.of(1, 2));
    for (const curve of ['actor/entropy', 'actor/grad_norm', 'time/update'] as const) expect(run.series.get(curve)?.lastUpdate).toBe(2); // prettier-ignore
  }
});

test('two shards come to the table of one machine, in one folder or merged from two', async () => {
  const [first, second] = await Promise.all([
    start('four.json', '--out', 'a', '--shard', '1/2').ended,
    start('four.json', '--out', 'b', '--shard', '2/2').ended,
  ]);
  expect([first.code, second.code, resultsIn('a').length, resultsIn('b').length]).toEqual([0, 0, 2, 2]);
  const alone = await start('four.json', '--out', 'a', '--table').ended;
  expect(alone.code).toBe(1);
  expect(alone.err).toMatch(/^2 of the runs are missing\./);
  mkdirSync(path.join(folder, 'copied'));
  for (const part of ['a', 'b'])
    cpSync(path.join(folder, part, 'runs'), path.join(folder, 'copied/runs'), { recursive: true });
  const [copied, merged] = await Promise.all([
    start('four.json', '--out', 'copied', '--table').ended,
    start('four.json', '--out', 'merged', '--merge', 'a', '--merge', 'b', '--table', '--json').ended,
  ]);
  expect([copied.code, merged.code, merged.err]).toEqual([0, 0, '']);
  for (const out of ['copied', 'merged']) expect(tables(out)).toEqual(tables('whole'));
  expect(JSON.parse(merged.out)).toMatchObject({ done: 4, planned: 4 });
});

test('a run that fails is named, and the exit code is 1; Ctrl-C is 130', async () => {
  const failed = await start('fails.json', '--out', 'fails').ended;
  expect(failed.code).toBe(1);
  expect(failed.err).toMatch(
    /^failed: env=world-facts seed 1: .+\n1 of the runs failed\. The same command tries them again\.$/m,
  );
  expect(resultsIn('fails')).toHaveLength(1);
  const stopped = await stopAt(1, 'stopped', 'SIGINT', 'four.json');
  expect(stopped.code).toBe(130);
  expect(stopped.err).toMatch(/Stopped\. Run the same command again/);
});
