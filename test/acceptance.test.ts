import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { statementsOf, unshown } from '../tools/acceptance.ts';

const LIST = `
|   # | Statement | State | Shown by |
| --: | --------- | ----- | -------- |
|   1 | Opens     | holds | \`cold\`: the page opens …; \`replay\` |
|   2 | Trains    | holds | \`training\` (unit): … on every backend |
`;
const FILES = ['e2e/cold.test.ts', 'e2e/replay.test.ts', 'training.test.ts'];
const statements = statementsOf(LIST);
const RAN = [
  { file: '/x/test/e2e/cold.test.ts', name: 'the page opens in two seconds', passed: true },
  { file: '/x/test/e2e/replay.test.ts', name: 'plays', passed: true },
  { file: 'C:\\x\\test\\training.test.ts', name: 'the loop > trains on every backend', passed: true },
];

test('statements are shown by tests that passed', () => {
  expect(statements.map(({ number }) => number)).toEqual([1, 2]);
  expect(unshown(statements, RAN, FILES)).toEqual([]);
});

test('a test that failed, was renamed or is gone shows nothing, and each statement it was named for is told', () => {
  const failed = RAN.map((each) => ({ ...each, passed: !each.file.includes('cold') }));
  expect(unshown(statements, failed, FILES)).toEqual([
    'statement 1: no test of cold passed that is called “the page opens”',
  ]);
  const renamed = RAN.map((each) => ({ ...each, name: each.name.replace('on every', 'with each') }));
  expect(unshown(statements, renamed, FILES)).toEqual([
    'statement 2: no test of training passed that is called “on every backend”',
  ]);
  expect(unshown(statements, RAN, FILES.slice(1))).toEqual(['statement 1: there is no test file cold']);
  expect(unshown(statementsOf('|   3 | Nothing | holds | a look |'), [], FILES)).toEqual(['statement 3 names no test']);
});

test('a run of some files judges those alone', () => {
  expect(unshown(statements, RAN.slice(0, 1), FILES)).toEqual([]);
});

test('the list of the project is numbered from 1 on, and each statement names test files that are there', () => {
  const all = statementsOf(readFileSync('docs/acceptance.md', 'utf8'));
  expect(all.length).toBeGreaterThan(40);
  expect(all.map(({ number }) => number)).toEqual(all.map((_, i) => i + 1));
  expect(unshown(all, [], readdirSync('test', { recursive: true, encoding: 'utf8' }))).toEqual([]);
});
