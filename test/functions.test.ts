import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, test } from 'vitest';

const MOST_LINES = 60;
/** How the comment above a longer one says why it is. */
const REASON = /Long: \S/;

interface LongFunction {
  readonly at: string;
  readonly lines: number;
  readonly reason: boolean;
}

/** The functions of a file that are longer than sixty lines, and whether the comment above says why. */
function longFunctions(file: string, text: string): LongFunction[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: LongFunction[] = [];
  const visit = (node: ts.Node, above: string): void => {
    const comments = ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [];
    const own = comments.map(({ pos, end }) => text.slice(pos, end)).join('\n');
    // a declaration's comment stands above the arrow that it names
    const said = own === '' ? above : own;
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const [from, to] = [node.getStart(), node.end].map((at) => source.getLineAndCharacterOfPosition(at).line);
      const lines = to! - from! + 1;
      if (lines > MOST_LINES) found.push({ at: `${file}:${from! + 1}`, lines, reason: REASON.test(said) });
      node.forEachChild((child) => visit(child, ''));
    } else node.forEachChild((child) => visit(child, ts.isBlock(node) ? '' : said));
  };
  visit(source, '');
  return found;
}

const long = (reason: string) => `/** Adds. ${reason} */\nexport const add = () => {\n${'  step();\n'.repeat(60)}};\n`;

test('a function of more than sixty lines says above why it is so long', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
  const all = files.flatMap((name) => longFunctions(`src/${name}`, readFileSync(`src/${name}`, 'utf8')));
  expect(files.length).toBeGreaterThan(100);
  expect(all.filter(({ reason }) => !reason)).toEqual([]);
});

test('and one that does not is found', () => {
  expect(longFunctions('add.ts', long(''))).toEqual([{ at: 'add.ts:2', lines: 62, reason: false }]);
  expect(longFunctions('add.ts', long('Long: its steps are a table.'))[0]?.reason).toBe(true);
  expect(longFunctions('add.ts', `// Long: nothing\n\nconst x = 1;\n${long('')}`)[0]?.reason).toBe(false);
});
