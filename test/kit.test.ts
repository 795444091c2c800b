import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AdapterReport,
  goldensPassed,
  reportProblem,
  type ReportPart,
  reportText,
} from '../src/domain/adapterReport.ts';
import { runParts } from '../tools/kit/kitPart.ts';
import { speedTable } from '../tools/kit/speedTable.ts';
import { leaveToWeekly } from './weekly.ts';

const PART = {
  name: 'goldens: workgroup',
  outcome: 'passed',
  seconds: 1,
  why: '',
  numbers: { summary: 'good' },
} as const;
const REPORT: AdapterReport = {
  ...{ kind: 'rollout-playground adapter report', version: 2, date: '2026-11-22T12:00:00Z', writtenBy: 'kit' },
  ...{ platform: 'Node', cores: 2, adapter: 'a GPU', software: false, parts: [PART] },
};

test('a report is of one form, and what is not is named', () => {
  expect(reportProblem(REPORT)).toBeNull();
  expect(reportProblem({ ...REPORT, version: 1 })).toMatch(/version/);
  expect(reportProblem({ ...REPORT, parts: [{ ...PART, outcome: 'fine' }] })).toMatch(/^parts\[0\]\.outcome/);
  expect(reportProblem({ ...REPORT, parts: [{ ...PART, outcome: 'crashed' }] })).toMatch(/why/); // without a reason
  expect(reportProblem(null)).not.toBeNull();
});

test('goldens have passed where all did and there are some', () => {
  expect(goldensPassed(REPORT)).toBe(true);
  for (const outcome of ['failed', 'crashed', 'timed out'] as const) {
    const parts = [PART, { ...PART, outcome, why: 'x' }];
    expect(goldensPassed({ parts })).toBe(false);
    expect(reportText({ ...REPORT, parts })).toMatch(/NOT all within bounds; parts that did not pass: 1/);
  }
  expect(goldensPassed({ parts: [] })).toBe(false);
  expect(goldensPassed({ parts: [{ ...PART, outcome: 'not run', why: 'x' }] })).toBe(false);
  expect(goldensPassed({ parts: [PART, { ...PART, name: 'bench', outcome: 'failed', why: 'x' }] })).toBe(true);
});

/** Runs parts that do what their names say, each with 50 ms; returns what was written after each, and how often the runner was stopped. */
async function recorded(names: readonly string[], totalSeconds = 60) {
  const written: ReportPart[][] = [];
  const parts: ReportPart[] = [];
  let stops = 0;
  const run = async ({ name }: { readonly name: string }, keep: (numbers: unknown) => void) => {
    if (name === 'throws') throw new Error('it broke\n  at a place');
    if (name === 'hangs') {
      keep({ rounds: 1 });
      keep({ rounds: 2 });
      await new Promise(() => undefined);
    }
    return { outcome: 'passed', why: '', numbers: { summary: name } } as const;
  };
  const onPart = async (part: ReportPart) => {
    parts.push(part);
    written.push([...parts]);
    await Promise.resolve();
  };
  const now = () => performance.now();
  const limited = names.map((name) => ({ name, seconds: 0.05 }));
  await runParts(limited, { run, stop: () => void stops++ }, onPart, { now, totalSeconds });
  return { written, parts, stops };
}

test('a part that throws or hangs is recorded with what it had measured, and the rest goes on', async () => {
  const { written, parts, stops } = await recorded(['first', 'throws', 'hangs', 'last'], 3600);
  expect(parts.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
    'first passed',
    'throws crashed',
    'hangs timed out',
    'last passed',
  ]);
  expect(parts[1]).toMatchObject({ why: 'it broke', numbers: null });
  expect(parts[2]?.numbers).toEqual({ rounds: 2 });
  expect(stops).toBe(1); // only the part that hangs is ended from outside
  expect(written.map(({ length }) => length)).toEqual([1, 2, 3, 4]); // results are there after each part
  expect(reportProblem({ ...REPORT, parts })).toBeNull();
}, 5000);

test('parts for which no time is left are listed as not run', async () => {
  const { parts } = await recorded(['first', 'last'], 0);
  expect(parts.map(({ outcome }) => outcome)).toEqual(['not run', 'not run']);
  expect(parts[1]?.why).toMatch(/0 s/);
});

test('a report becomes a table: a line for each engine, a column for each part that was taken in turns', () => {
  const part = (name: string, cells: Readonly<Record<string, string>>) => ({ ...PART, name, numbers: { cells } });
  const golden = { ...PART, numbers: { checked: 50, outOfBounds: [{}, {}] } };
  const parts = [part('W1', { ours: '2 ms', other: '9 ms' }), part('U1', { ours: '20 ms' }), golden, PART];
  const table = speedTable({ ...REPORT, versions: { commit: 'abc1234' }, parts });
  expect(table).toContain(
    ['| engine | W1 step | U1 |', '| --- | ---: | ---: |', '| ours | 2 ms | 20 ms |', '| other | 9 ms | – |'].join(
      '\n',
    ),
  );
  expect(table).toContain('Goldens: 48 of 50');
  expect(table).toContain('commit abc1234');
});

let folder = '';
beforeAll(() => (folder = mkdtempSync(path.join(tmpdir(), 'kit-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the kit is packed in one command and runs from an empty folder without packages', (current) => {
  leaveToWeekly(current, 'the form of its reports and its parts, run in Node (above)');
  execFileSync(process.execPath, ['scripts/kit.mjs', '--out', folder], { stdio: 'pipe' });
  const [packed = ''] = readdirSync(folder);
  expect(packed).toMatch(/^rollout-kit-.*\.tar\.gz$/);
  execFileSync('tar', ['-xzf', packed], { cwd: folder });
  const kit = path.join(folder, 'rollout-kit');
  for (const file of [
    'run',
    'run.cmd',
    'run.mjs',
    'README.txt',
    'LICENSE',
    'webgpu/LICENSE.md',
    'golden/advantages.json',
  ]) {
    expect(existsSync(path.join(kit, file)), file).toBe(true);
  }
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [path.join(kit, 'run.mjs'), ...args], {
      cwd: folder,
      encoding: 'utf8',
      // no driver is found: every part says so, and the report is written all the same
      env: { PATH: process.env['PATH'] ?? '', VK_ICD_FILENAMES: '/nowhere', VK_DRIVER_FILES: '/nowhere' },
    });
  expect(run('--help').stdout).toMatch(/^node run\.mjs \[--quick\]/);
  expect(run('--only', 'chess').status).toBe(2);
  const done = run('--quick');
  expect(done.status, done.stderr).toBe(1);
  const report = JSON.parse(readFileSync(path.join(folder, 'adapter-report.json'), 'utf8')) as AdapterReport;
  expect(reportProblem(report)).toBeNull();
  expect(report.parts.map(({ outcome }) => outcome)).not.toContain('passed');
  expect(report.parts.length).toBeGreaterThanOrEqual(9);
  expect(readFileSync(path.join(folder, 'adapter-report.txt'), 'utf8')).toMatch(/goldens: none checked/);
});

test('a platform it has no binary for is refused before anything is packed', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/kit.mjs', '--platform', 'amiga'], {
    encoding: 'utf8',
  });
  expect(stderr).toMatch(/^kit: --platform can’t be amiga\. Use one of .*linux-x64/);
  expect(status).toBe(1);
});
