import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const rows = readFileSync('docs/acceptance.md', 'utf8')
  .split('\n')
  .filter((line) => /^\|\s+\d+ \|/.test(line));
const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'));

/** The text of all test files of one name: `choice` is one of the page from end to end and one of its parts. */
const testsNamed = (name: string) =>
  files
    .filter((file) => file === `${name}.test.ts` || file.endsWith(`${path.sep}${name}.test.ts`))
    .map((file) => readFileSync(path.join('test', file), 'utf8'))
    .join('\n')
    .replaceAll('$', '');

/** The tests that a row names: the file, and the beginning or the end of a title, which “…” shortens. */
function named(row: string) {
  const [, , , , shownBy = ''] = row.split('|');
  return [...shownBy.matchAll(/`([\w/]+)`(?: \(unit\))?(?:: ([^`]*))?/g)].map(([, file = '', titles = '']) => ({
    file: path.basename(file),
    titles: titles.split(';').flatMap((part) => {
      const [before = '', after = ''] = part.split('…').map((piece) => piece.trim());
      return part.includes('…') ? [before, before === '' ? after.replace(/[,.].*/, '') : ''].filter(Boolean) : [];
    }),
  }));
}

test('statements are numbered from 1 on, and each names a test file', () => {
  expect(rows.map((row) => Number(row.split('|')[1]))).toEqual(rows.map((_, i) => i + 1));
  expect(rows.filter((row) => named(row).length === 0)).toEqual([]);
});

test.each(rows.map((row) => [Number(row.split('|')[1]), row] as const))(
  'the tests that statement %i names are there, with the titles it quotes',
  (_, row) => {
    for (const { file, titles } of named(row)) {
      const text = testsNamed(file);
      expect(text === '', `no test file ${file}`).toBe(false);
      expect(titles.filter((title) => !text.includes(title))).toEqual([]);
    }
  },
);
