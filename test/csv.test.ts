import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import Papa from 'papaparse';
import { expect, test } from 'vitest';
import { baseName } from '../src/base/baseName.ts';
import { csvText } from '../src/base/csv.ts';
import { parseConfig } from '../src/config/config.ts';
import { parseFacts } from '../src/facts/parse.ts';
import { safeNames } from '../src/runs/run.ts';
import { columnTitle, csvOfCurves } from '../src/page/curves/curvesCsv.ts';

const cellsOf = (csv: string) => Papa.parse<string[]>(csv.trimEnd()).data;

/** What a spreadsheet runs, each hidden in another way. */
const RUN = [
  ...['=1+1', '+1+1', '-2+3+cmd|" /C calc"!A0', '@SUM(1)', '-a', '+', '=HYPERLINK("http://x","y")'],
  ...['＝1+1', '＋1', '－2+3', '＠SUM(1)', '﹢1', '﹣2+3', '−2+3'], // full-width, small, the minus sign
  ...[' =1', '\t=1', '\r=1', '\n=1', '\u00a0=1', '\u200b=1', '\ufeff=1', '\u202e=1', '\u2060＝1', '\u00ad-2+3', '"=1'],
];

test('a cell that a spreadsheet would run begins with an apostrophe, however the sign is written or hidden', () => {
  for (const text of RUN) {
    const [[first, second] = []] = cellsOf(csvText([[text, 'x']]));
    expect([first?.[0], second]).toEqual(["'", 'x']);
  }
});

test('behind a semicolon, a tab or a line’s end, which begin a cell to some spreadsheets, nothing runs either', () => {
  for (const end of [';', '\t', '\n', '\r\n']) expect(cellsOf(csvText([[`a${end}=1+1`]]))).toEqual([[`a${end}'=1+1`]]);
});

test('numbers and plain texts stay as they are', () => {
  const row = [-0.5, 1e-7, -1e300, 0, '-0.5', '-3', '1e-3', 'a-b', 'a = b', 'x@y', '', 'it’s', 'a, "b"'];
  expect(cellsOf(csvText([row]))).toEqual([row.map(String)]);
  expect(csvText([[NaN, -0.5]])).toBe(',-0.5\r\n');
});

test('a run’s name heads its column as text', () => {
  const [head] = cellsOf(csvOfCurves([{ title: '-2+3+cmd|x', x: [1], y: [-0.5] }]));
  expect(head).toEqual(['update', "'-2+3+cmd|x"]);
});

test('SHOULD-23: a curve of 5,000 updates has as many rows, its spike among them, under its unit', () => {
  const x = Array.from({ length: 5000 }, (_, i) => i + 1);
  const y = x.map((update) => (update === 2345 ? 77 : update / 5000));
  const rows = csvOfCurves([{ title: columnTitle('critic/score/mean', parseConfig()), x, y }])
    .trimEnd()
    .split('\r\n');
  expect([rows[0], rows.length, rows[2345]]).toEqual(['update,Reward (1) [critic/score/mean]', 5001, '2345,77']);
});

/** Every source of the project, by path. */
function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) return sources(at);
    return /\.(ts|tsx|mjs)$/.test(entry.name) ? [at] : [];
  });
}

test('all CSV is written in one place: no other source joins cells by commas into lines', () => {
  const joins = /join\('[,;]'\)\}\\r?\\n/;
  const writers = ['src', 'scripts', 'tools'].flatMap(sources).filter((file) => joins.test(readFileSync(file, 'utf8')));
  expect(writers).toEqual(['src/base/csv.ts']);
});

test('of a path only its last part goes into a file: facts, and runs that were named by one', () => {
  expect(['/data/ada/facts.csv', 'D:\\ada\\facts.csv', './out/run/', 'facts.csv'].map(baseName)).toEqual(['facts.csv', 'facts.csv', 'run', 'facts.csv']); // prettier-ignore
  const { facts } = parseFacts('/data/ada/facts.csv', 'Ada,wrote,Emma\nEmma,is by,Jane\n');
  expect(facts.source).toBe('facts.csv');
  const nameOf = (name: string) => safeNames(name, { kind: 'cpu', adapter: '' }).name;
  expect(['/data/ada/run', '../out/run', 'Number hunt: lr 1/2'].map(nameOf)).toEqual(['run', 'run', 'Number hunt: lr 1/2']); // prettier-ignore
});
