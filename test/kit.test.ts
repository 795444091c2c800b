import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AdapterReport, goldensPassed, reportProblem, reportText } from '../src/domain/adapterReport.ts';

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

let folder = '';
beforeAll(() => (folder = mkdtempSync(path.join(tmpdir(), 'kit-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the kit is packed in one command and runs from an empty folder without packages', () => {
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
