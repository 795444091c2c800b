import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { FileProblem } from '../../src/domain/environmentFile.ts';
import { readFile } from '../../src/written/examination.ts';
import { ODD_ENVIRONMENT } from './oddEnvironment.ts';
import { HIDDEN_WORD } from './pythonMachine.ts';
import { TEMPLATES } from './templates.ts';

/** The mistakes of a file that can be played. */
function mistakesOf(text: string, name = 'mine.ts'): readonly FileProblem[] {
  const found = readFile({ name, text });
  if (found.problem !== null) throw new Error(found.problem.what);
  return found.declared.mistakes;
}
const shortly = (problems: readonly FileProblem[]) => problems.map(({ what, line }) => `${line}: ${what}`);

/** A class with these members; its `act` returns a text and its reward is 1 unless they say otherwise. Members begin at line 3. */
const withMembers = (members: string, reward = 'return 1;', act = "return 'done';") =>
  `/** A task. */
export default class Mine {
${members}
  reset(): string { return 'go'; }
  act(word: string): string { ${act} }
  getReward() { ${reward} }
}
`;

test('no mistake is seen in the files that ship, nor in one with odd names', () => {
  for (const [, text] of TEMPLATES) expect(mistakesOf(text)).toEqual([]);
  expect(mistakesOf(ODD_ENVIRONMENT)).toEqual([]);
  expect(mistakesOf(HIDDEN_WORD, 'a.py')).toEqual([]);
  expect(mistakesOf(readFileSync('test/written/oddPython.py', 'utf8'), 'a.py')).toEqual([]);
});

test('a member that is used and never declared or given a value is told at its first line', () => {
  const found = mistakesOf(
    withMembers(
      `  declared = 0; #own = 1; kept: string[];
  constructor(private given: number) {}
  private set() { this.later = 1; [this.a, this.b = 2] = [1, 2]; ({ c: this.c } = { c: 1 }); for (this.d of [1]); this.e ??= 3; }
  read() { return \`\${this.declared + this.#own + this.given + this.later + this.a + this.b + this.c + this.d + this.e}\`; }
  first() { return \`\${this.asked}\`; }
  count() { this.asked += 1; this.times++; this.deep.inside = 1; return \`\${this.summ()}\`; }
  other() { function own(this: { x: number }) { return this.x; } const o = { m() { return this.y; } }; return \`\${[1].map(() => this.z)}\`; }
  done = false;`,
    ),
  );
  expect(shortly(found)).toEqual([
    '7: The class has no `asked`. Declare it at the top of the class, such as `asked = 0;`, or correct the name.',
    expect.stringMatching(/^8: .*`times`/),
    expect.stringMatching(/^8: .*`deep`/),
    '8: The class has no method `summ`. Add it, or correct the name.',
    expect.stringMatching(/^9: .*`z`/),
  ]);
});

test.each([
  ['extends another', 'class Base {}\nexport default class Mine extends Base {'],
  ['sets members by name', "export default class Mine {\n  all(): string { this['x'] = 1; return ''; }"],
  [
    'copies them from an object',
    "export default class Mine {\n  all(): string { Object.assign(this, {}); return ''; }",
  ],
])('nothing is said of members of a class that %s', (_name, head) => {
  const text = `${head}\n  reset(): string { return ''; }\n  act(): string { return this.x; }\n  getReward() { return 1; }\n}\n`;
  expect(mistakesOf(text)).toEqual([]);
});

test.each<[string, string, string, string]>([
  [
    'a static of the playground',
    'static maxTurn = 3;',
    '',
    '3: The playground does not read `static maxTurn`. Did you mean `maxTurns`?',
  ],
  [
    'another such',
    'static weigths = { a: 1 };',
    '',
    '3: The playground does not read `static weigths`. Did you mean `weights`?',
  ],
  [
    'a field where it is given a value',
    'secret = 1; done = false;',
    'this.secert = this.secret;',
    '5: `this.secert` is given a value but never read. Did you mean `secret`?',
  ],
  [
    'done where it is given a value',
    '',
    'this.dnoe = true;',
    '5: `this.dnoe` is given a value but never read. Did you mean `done`?',
  ],
  [
    'a field that only one place names',
    '',
    'this.other = 2;',
    '5: `this.other` is given a value but never read. Declare it if you need it.',
  ],
  [
    'done where it is declared',
    'dome = false;',
    'this.done = true;',
    '3: `dome` is declared but never used. Did you mean `done`?',
  ],
])('a name that was mistyped is told at its line: %s', (_, members, act, told) => {
  expect(shortly(mistakesOf(withMembers(`  ${members}`, 'return 1;', `${act} return '';`)))).toEqual([told]);
});

test.each([
  ['a static of one’s own', 'static WORDS = ["a"];', ''],
  ['a field that is read elsewhere', '', 'this.words = 1; this.word = this.words; return `${this.word}`;'],
  ['a field that the playground reads', '', 'this.done = true;'],
  ['a declared field that nothing resembles', 'unused = 1;', 'this.done = true;'],
  ['a class that hands itself on', '', 'this.dnoe = true; log(this);'],
])('a name that may be meant is left alone: %s', (_, members, act) => {
  expect(mistakesOf(withMembers(`  ${members}`, 'return 1;', `${act} return '';`))).toEqual([]);
});

test.each([
  ['return this.done;', /returns a boolean.*\? 1 : 0/],
  ['return this.done && 1;', /returns a boolean/],
  ['const won = this.words.includes("a"); return won;', /returns a boolean/],
  ['return this.words;', /returns a list/],
  ['return this.words.join();', /returns a text/],
  ['return "1";', /returns a text/],
  ['return this.isOver();', /returns a boolean/],
  ['if (this.done) return 1; return;', /returns nothing/],
  ['this.done = true;', /returns nothing/],
  ['return this.done ? 1 : null;', /returns nothing/],
  ['return this.words.length > 1;', /returns a boolean/],
  ['return { solved: this.done };', /part `solved` is a boolean/],
  ['return { ok: 1, "the way": `${1}` };', /part `the way` is a text/],
])('a reward that is no number is told: %s', (reward, says) => {
  const members = '  done = false; private words: string[] = [];\n  private isOver(): boolean { return this.done; }';
  const found = mistakesOf(withMembers(members, reward));
  expect(shortly(found)).toEqual([expect.stringMatching(says)]);
  expect(found[0]?.line).toBe(7);
});

test.each([
  'return this.done ? 1 : 0;',
  'return { solved: Number(this.done), far: -this.words.length / 3 + 1, ...this.more };',
  'return this.total;',
  'return this.parts;',
  'const parts = [1, 2].filter((n) => { return n > 1; }); return parts.length;',
  'if (this.done) return this.sum() as number; throw new Error("no");',
  'const n = n; return n;',
  'return this.begun ?? 0;',
])('a reward that is a number, or may be one, is left alone: %s', (reward) => {
  const members =
    '  done = false; words = []; total; more = {}; begun = null; parts = { a: 1 };\n  private sum() { return 1; }';
  expect(mistakesOf(withMembers(members, reward))).toEqual([]);
});

test('a tool and reset() have to return a text', () => {
  const text = withMembers('  done = false;', 'return 1;', 'this.done = word === "a"; return this.done;');
  expect(shortly(mistakesOf(text))).toEqual([expect.stringMatching(/^5: `act\(\)` returns a boolean.*String/)]);
  expect(shortly(mistakesOf(text.replace("{ return 'go'; }", '{ this.done = false; }')))).toEqual([
    expect.stringMatching(/^4: `reset\(\)` returns nothing/),
    expect.stringMatching(/^5: /),
  ]);
});

test('a file with several problems tells them all, each at its line', () => {
  const text = withMembers(
    '  async look(): string { return ""; }\n  go(to: Date, how, [a]: string[]): string { return ""; }',
  ).replace('getReward', 'reward');
  const found = readFile({ name: 'mine.ts', text });
  if (found.problem === null) throw new Error('it was read');
  expect(shortly([found.problem, ...found.others])).toEqual([
    expect.stringMatching(/^2: .*getReward/),
    expect.stringMatching(/^3: .*async/),
    expect.stringMatching(/^4: .*`to`.*`Date`/),
    expect.stringMatching(/^4: .*`how`.*no type/),
    expect.stringMatching(/^4: .*destructured/),
  ]);
  const half = readFile({ name: 'mine.ts', text: text.replace('reset(): string {', 'reset(): string {{') });
  expect(half.problem?.what).toMatch(/TypeScript/); // and what the parser still finds
  expect(half.problem && shortly(half.others)).toEqual([
    expect.stringMatching(/^3: .*async/),
    ...Array<unknown>(3).fill(expect.stringMatching(/^4: /)),
  ]);
});

test('an optional parameter has the type that stands after the question mark', () => {
  const found = readFile({ name: 'mine.ts', text: withMembers('  ask(word?: string): string { return ""; }') });
  expect(found.problem).toBeNull();
});

const inPython = (members: string, reward = 'return 1.0') =>
  `class Base:
    def shared(self): self.below = 1
class Mine(Base):
    limit = 3
${members}
    def reset(self, **kwargs): self.word = "a"; self.a, (self.b, self.c) = 1, (2, 3)
    def act(self, word: str): return self.word + self.limit + self.a + self.b + self.c + self.below + self.shared()
    def get_reward(self): ${reward}
`;

test('in Python: a member that never gets a value, and a reward that is no number', () => {
  expect(mistakesOf(inPython('    x: int'), 'a.py')).toEqual([]);
  const members = '    def look(self): self.times += 1; return self.wrod.upper() + self.find("a") + self.__class__';
  expect(shortly(mistakesOf(inPython(members, 'return {"ok": True, "text": f"{1}"}'), 'a.py'))).toEqual([
    '5: The class has no `times`. Give it a value in `reset`, or correct the name.',
    expect.stringMatching(/^5: .*`wrod`/),
    '5: The class has no method `find`. Add it, or correct the name.',
    expect.stringMatching(/^8: .*`text` is a text/),
  ]);
  expect(shortly(mistakesOf(inPython('', 'self.word = ""'), 'a.py'))).toEqual([expect.stringMatching(/^8: .*`None`/)]);
  expect(mistakesOf(inPython(members).replace('class Base:', 'class Base(dict):'), 'a.py')).toEqual([]);
  const by = members.replace('self.times', 'setattr(self, "x", 1); self.times');
  expect(mistakesOf(inPython(by), 'a.py')).toEqual([]);
});

test('in Python: all tools with a problem are told', () => {
  const text = inPython('    def look(self, *all: str): pass\n    def go(self, to: set, how): pass');
  const found = readFile({ name: 'a.py', text });
  expect(found.problem && shortly([found.problem, ...found.others])).toEqual([
    expect.stringMatching(/^5: .*without a name/),
    expect.stringMatching(/^6: .*`to`.*`set`/),
    expect.stringMatching(/^6: .*`how`/),
  ]);
});

const DEEP: readonly (readonly [string, (n: number) => string])[] = [
  ['blocks', (n) => '{'.repeat(n) + '}'.repeat(n)],
  ['brackets', (n) => `x = ${'('.repeat(n)}1${')'.repeat(n)}`],
  ['lists', (n) => `x = ${'['.repeat(n)}${']'.repeat(n)}`],
  ['signs', (n) => `x = ${'-'.repeat(n)}1`],
  ['sums', (n) => `x = 1${' + 1'.repeat(n)}`],
  ['templates', (n) => `x = ${'`${'.repeat(n)}1${'}`'.repeat(n)}`],
  ['else', (n) => `if (x) {} ${'else if (x) {} '.repeat(n)}`],
];

test.each(DEEP)('%s that are nested 8,000 deep are a fault at their line; 200 deep are read', (kind, code) => {
  const python = ['brackets', 'lists', 'signs', 'sums'].includes(kind);
  const files = (n: number) => [
    { name: 'a.ts', text: withMembers(`  deep() {\n    let x = 0;\n    ${code(n)}\n    return '' + x;\n  }`) },
    ...(python
      ? [{ name: 'a.py', text: inPython(`    def deep(self):\n        ${code(n)}\n        return str(x)`) }]
      : []),
  ];
  for (const file of files(8000)) {
    const line = file.text.split('\n').findIndex((each) => each.length > 8000) + 1;
    expect(readFile(file).problem).toEqual({ what: expect.stringContaining('nested too deep') as string, line });
  }
  for (const file of files(200)) expect(readFile(file).problem).toBeNull();
});

test('a docstring of 20,000 lines, 20,000 problems and a hint of 200,000 blanks are read within seconds', () => {
  const docstring = `    """Looks.\n\n    Args:\n${'        word: what\n\n        it is\n'.repeat(7000)}    """`;
  const [before, blanks] = [process.cpuUsage(), ' '.repeat(200_000)];
  const look = `    def look(self, word: str):\n    ${docstring}\n        return word`;
  const read = readFile({ name: 'a.py', text: inPython(look) });
  expect(read.problem).toBeNull();
  const many = Array.from({ length: 20_000 }, (_, n) => `    def act${n}(self, x): pass`).join('\n');
  expect(readFile({ name: 'a.py', text: inPython(many) })).toMatchObject({ problem: { line: 5 } });
  readFile({ name: 'a.py', text: inPython(`    def go(self, to: x${blanks}y): pass`) });
  readFile({ name: 'a.ts', text: withMembers(`  go(to: string${blanks}): string { return this${blanks}.x; }`) });
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(10); // each took minutes
});
