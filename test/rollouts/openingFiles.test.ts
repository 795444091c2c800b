import { expect, test } from 'vitest';
import { Library, type NamedFile, type OpenProgress } from '../../src/rollouts/library.ts';
import { DEFAULT_PATTERN } from '../../src/rollouts/splitPattern.ts';
import { fileOf } from './reading.ts';

const GOOD = `${JSON.stringify({ prompt: 'q', completion: 'a', reward: 1, example_id: 1 })}\n`;
const VERL = `${JSON.stringify({ input: 'q', output: 'a', score: 1 })}\n`;

async function openedOf(...files: readonly NamedFile[]): Promise<readonly OpenProgress[]> {
  const all: OpenProgress[] = [];
  for await (const opened of new Library().open(files, DEFAULT_PATTERN)) all.push(opened);
  return all;
}

test('what was read is told in bytes up to all of them, over files in the order of their numbers', async () => {
  const opened = await openedOf(fileOf('10.jsonl', VERL + GOOD), fileOf('9.jsonl', `${VERL}${VERL}\n\n`));
  const size = 2 * VERL.length + 2 + VERL.length + GOOD.length;
  expect(opened.every(({ totalBytes: of }) => of === size)).toBe(true);
  expect(opened.at(-1)?.files.map(({ path, rollouts }) => [path, rollouts])).toEqual([['9.jsonl', 2], ['10.jsonl', 1]]); // prettier-ignore
  expect(opened.map(({ bytes }) => bytes)).toEqual([2 * VERL.length - 1, size - 1]);
});

test('a file’s report has what its first rollout had to guess, and counts what was not a number', async () => {
  const file = VERL.replace('1}', 'NaN}');
  const [report] = (await openedOf(fileOf('a.jsonl', file + VERL + file))).at(-1)!.files;
  expect(report).toEqual({
    ...{ path: 'a.jsonl', bytes: file.length * 2 + VERL.length, format: 'verl', rollouts: 3, badLines: 0 },
    ...{ nonFinite: 2, guessed: ['roles', 'turns', 'group'] },
  });
  const [certain] = (await openedOf(fileOf('b.jsonl', GOOD))).at(-1)!.files;
  expect(certain).toMatchObject({ guessed: [], format: 'verifiers results' });
});

test('of bad lines 500 are told one by one, and all are counted', async () => {
  const opened = await openedOf(fileOf('a.jsonl', VERL + '{}\n'.repeat(501) + VERL));
  expect(opened.flatMap(({ problems }) => problems.map(({ line }) => line))).toEqual(Array.from({ length: 500 }, (_, i) => i + 2)); // prettier-ignore
  expect(opened.at(-1)?.files[0]).toMatchObject({ badLines: 501, rollouts: 2 });
});

test('a file is given up after twenty lines of no format; one good line before that is enough', async () => {
  const told = async (text: string) => (await openedOf(fileOf('a.jsonl', text))).flatMap(({ problems }) => problems.map(({ line }) => line)); // prettier-ignore
  const bad = (lines: number) => '{"level": 1}\n'.repeat(lines);
  expect(await told(bad(20) + VERL)).toEqual([...Array.from({ length: 20 }, (_, i) => i + 1), null]);
  expect((await told(bad(19) + VERL + bad(30))).length).toBe(49);
});

test('a row that is not there, and a file that has changed, are refused when they are read', async () => {
  const library = new Library();
  const files = [fileOf('a.jsonl', VERL)];
  for await (const opened of library.open(files, DEFAULT_PATTERN)) expect(opened.bytes).toBeGreaterThan(0);
  expect(library.rows).toBe(1);
  for (const row of [1, -1]) await expect(library.read(row, DEFAULT_PATTERN)).rejects.toThrow(`rollout ${row}, expected one of 0 to 0`); // prettier-ignore
  expect((await library.read(0, DEFAULT_PATTERN)).reward).toBe(1);
});

test('a search goes through all rows, and tells how far it is after each thousand', async () => {
  const library = new Library();
  const lines = Array.from({ length: 2001 }, (_, i) => JSON.stringify({ input: `q${i}`, output: i % 1000 === 7 ? 'Füchse' : 'a', score: 1 })); // prettier-ignore
  for await (const opened of library.open([fileOf('a.jsonl', lines.join('\n'))], DEFAULT_PATTERN)) expect(opened.problems).toEqual([]); // prettier-ignore
  const found: (readonly [readonly number[], number])[] = [];
  for await (const { rows, share } of library.search('FÜCHSE', DEFAULT_PATTERN)) found.push([rows, share]);
  expect(found).toEqual([[[7], 999 / 2001], [[1007], 1999 / 2001], [[], 1]]); // prettier-ignore
  const signs: number[] = [];
  for await (const { rows } of library.search('ü', DEFAULT_PATTERN)) signs.push(...rows); // no letter of ASCII to look for first
  expect(signs).toEqual([7, 1007]);
});
