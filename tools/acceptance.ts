import path from 'node:path';

/** A test that was run. */
export interface RanTest {
  readonly file: string; // path, posix or not
  readonly name: string; // title, after those of the suites around it
  readonly passed: boolean;
}

interface NamedTest {
  readonly file: string; // without folder and ending
  readonly titles: readonly string[]; // beginnings or ends of titles; none: any test of the file
}

/** A row of docs/acceptance.md: a statement, and the tests that show it. */
interface Statement {
  readonly number: number;
  readonly tests: readonly NamedTest[];
}

/** The statements of docs/acceptance.md. A row names tests as `file`: a title, which “…” shortens; several are kept apart by “;”. */
export function statementsOf(markdown: string): readonly Statement[] {
  return markdown
    .split('\n')
    .filter((line) => /^\|\s+\d+ \|/.test(line))
    .map((row) => {
      const [, number, , , shownBy = ''] = row.split('|');
      const named = [...shownBy.matchAll(/`([\w/-]+)`(?: \(unit\))?(?:: ([^`]*))?/g)];
      return {
        number: Number(number),
        tests: named.map(([, file = '', titles = '']) => ({
          file: path.posix.basename(file),
          titles: titles.split(';').flatMap((part) => {
            const [before = '', after = ''] = part.split('…').map((piece) => piece.trim());
            return part.includes('…') ? [before, before === '' ? after.replace(/[,.].*/, '') : ''].filter(Boolean) : [];
          }),
        })),
      };
    });
}

/**
 * Statements that the tests of a run do not show, a line each: one that names no test, a file that is not there, a test that did not
 * pass. Names whose files were not all run are not judged, so that a run of some files can be.
 */
export function unshown(
  statements: readonly Statement[],
  ran: readonly RanTest[],
  files: readonly string[],
): readonly string[] {
  const nameOf = (file: string) => /([^\\/]+)\.test\.tsx?$/.exec(file)?.[1] ?? '';
  return statements.flatMap(({ number, tests }) => {
    if (tests.length === 0) return [`statement ${number} names no test`];
    return tests.flatMap(({ file, titles }) => {
      const known = files.filter((each) => nameOf(each) === file);
      if (known.length === 0) return [`statement ${number}: there is no test file ${file}`];
      const there = ran.filter((test) => nameOf(test.file) === file);
      // one of the page from end to end and one of a part of it may have one name
      if (new Set(there.map((test) => test.file)).size < known.length) return [];
      return (titles.length === 0 ? [''] : titles)
        .filter((title) => !there.some(({ name, passed }) => passed && name.includes(title)))
        .map((title) => `statement ${number}: no test of ${file} passed${title && ` that is called “${title}”`}`);
    });
  });
}
