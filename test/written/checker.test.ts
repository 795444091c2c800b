import { expect, test } from 'vitest';
import { checkEnvironment } from '../../src/written/checker.ts';
import { readDeclaration } from '../../src/written/script/declaration.ts';
import { sandboxOf } from './machine.ts';

const check = (source: string, episodes = 60) =>
  checkEnvironment(readDeclaration(source), () => sandboxOf(source), { episodes, seed: 1 });

/** State that outlives an episode where nothing can freeze it: in a function’s own variable. */
const COUNTER = 'const next = (() => { let n = 0; return () => n++; })();';
/** Find a number from 0 to 9: right as it stands, and with one thing planted in it. */
const numbers = ({
  reset = '',
  guess = '',
  reward = 'this.done ? 1 : 0',
  expert = 'this.hidden',
  before = '',
  statics = '',
} = {}) => `${before}
/** Find the number. */
export default class Numbers {
  static tasks = { train: 40, test: 20 };
  static maxTurns = 3;
  ${statics}
  hidden = 0;
  done = false;
  reset({ split, index, draw }): string { this.hidden = draw.int(10); ${reset} return split + ' ' + index; }
  guess(n: number): string { ${guess} this.done = n === this.hidden; return this.done ? 'found' : 'no'; }
  expert() { return { tool: 'guess', arguments: { n: ${expert} } }; }
  getReward() { return ${reward}; }
}
`;

test('a sound environment has no finding; chance earns what three draws out of sixteen do, the expert all', async () => {
  const report = await check(numbers());
  expect(report.findings).toEqual([]);
  expect(report.expert).toBe(1);
  expect(report.nonsense).toBe(0);
  expect(report.chance).toBeGreaterThan(0.05); // 1 − (15/16)³ = .176 over 60 tasks: four standard deviations are .2
  expect(report.chance).toBeLessThan(0.38);
  expect(report.episodes).toBe(180);
});

test.each([
  [
    'what an episode remembers stands outside of it',
    { before: COUNTER, guess: 'if (next() % 7 === 0) return "seven";' },
    /different episode.*\((?:train|test) task \d+\)/,
  ],
  ['it counts in a variable outside', { before: 'let played = 0;', guess: 'played++;' }, /All episodes share `played`/],
  ['it asks for a chance of its own', { guess: 'if (Math.random() < .5) return "x";' }, /draw/],
  ['the reward is turned round', { reward: 'this.done ? 0 : 1' }, /nothing beats chance/],
  ['every turn is paid the same', { reward: '1' }, /nothing beats chance/],
  ['the reward is no number', { reward: '{ solved: 0 / 0 }' }, /solved = NaN/],
  ['the reward is beyond float32', { reward: '1e39' }, /reward = 1e\+39.*a million/],
  ['the reward is beyond every number', { reward: '{ solved: -1 / 0 }' }, /solved = -Infinity/],
  [
    'two parts make a reward that is too large',
    { reward: '{ a: 1e6, b: this.done ? 1 : 0 }', statics: 'static weights = { b: 1e6 };' },
    /The reward is 2000000/,
  ],
  ['a tool returns no text', { guess: 'if (n > 12) return n;' }, /returned number/],
  ['reset returns nothing', { reset: 'return;' }, /reset\(\) returned undefined/],
  ['the expert calls a tool wrongly', { expert: '"one"' }, /nothing beats chance/],
  // once in a while is enough: it still earns more than chance, and training would stop at it
  [
    'the expert seldom calls a tool wrongly',
    { expert: 'this.hidden === 3 ? "one" : this.hidden' },
    /^expert\(\) makes a wrong call: n of guess has to be a[n]? (?:number|integer)\. Training can’t imitate it\./m,
  ],
  [
    'the expert names a tool that is not there',
    { expert: 'this.hidden }, ...(this.hidden === 3 && { tool: "bell" }), last: {' },
    /there is no tool bell/,
  ],
])('found: %s', async (_name, planted, says) => {
  const { findings } = await check(numbers(planted));
  expect(findings.map(({ text }) => text).join('\n')).toMatch(says);
});

const warnings = async (source: string) =>
  (await check(source)).findings.filter(({ kind }) => kind === 'warning').map(({ text }) => text);

test('told: a word that stands in its own prompt alone and ends the task; not one of a list that every prompt has', async () => {
  const words = (prompt: string) =>
    numbers({
      statics: 'secret = "";',
      reset: `this.secret = "word" + (1000 + 2 * index + (split === "test" ? 1 : 0)); return ${prompt};`,
    })
      .replace('guess(n: number)', 'guess(n: string)')
      .replace('n === this.hidden', 'n === this.secret')
      .replace('n: this.hidden', 'n: this.secret');
  expect(await warnings(words('"It is " + this.secret'))).toEqual([expect.stringContaining('60 of 60 tasks')]);
  expect(await warnings(words('split + index'))).toEqual([]);
  const list = words('"One of " + Array.from({ length: 99 }, (_, n) => "word" + (1000 + n)).join(" ")');
  expect(await warnings(list)).toEqual([]);
});

test('told: how many test tasks are tasks of training', async () => {
  expect(await warnings(numbers({ reset: 'this.hidden = 3; return "the only task";' }))).toEqual([
    expect.stringContaining('20 of 20 test tasks'),
  ]);
});

test('a part of the reward that no player ever got is named, and one that a player got is not', async () => {
  // `this.asked` is never declared, so it counts from undefined and stays NaN
  const asked = { guess: 'this.asked += 1;', reward: '{ solved: this.done ? 1 : 0, asked: this.asked > 0 ? 1 : 0 }' };
  expect(await warnings(numbers(asked))).toEqual([
    expect.stringContaining('no `asked`'), // as the editor says it too
    expect.stringContaining('part asked was 0'),
  ]);
  expect(await warnings(numbers({ ...asked, statics: 'asked = 0;' }))).toEqual([]);
});

test('an expert that knows what no agent can read is found by its calls; one that reads the prompt is not', async () => {
  const many = { statics: 'static tasks = { train: 1000, test: 1000 };' };
  const split = (prompt: string) =>
    numbers({ ...many, reset: `return ${prompt};` }).replace('static tasks = { train: 40, test: 20 };', '');
  const found = (await warnings(split('"find it"'))).find((text) => text.includes('After the same texts'));
  expect(found).toMatch(/\(in [45]\d of 60 tasks\)/); // ten hidden numbers: nine of ten tasks differ from the usual call
  expect((await warnings(split('"it is " + this.hidden'))).join()).not.toContain('After the same texts');
});

test('a state’s key and what is observed are checked: a text each, and the same for the same actions', async () => {
  const texts = async (statics: string, before = '') =>
    (await check(numbers({ statics, before }))).findings.map(({ text }) => text).join('\n');
  expect(
    await texts(
      'stateKey() { return String(this.hidden); } observe(history) { return history.map((turn) => turn.answer).join(); }',
    ),
  ).toBe('');
  expect(await texts('stateKey() { return "n" + next(); }', COUNTER)).toMatch(
    /different episode.*stateKey\(\).* turn 1/,
  );
  expect(await texts('stateKey() { return this.hidden; }')).toMatch(/stateKey\(\) returned number/);
  expect(await texts('observe() { return "n" + next(); }', COUNTER)).toMatch(/different episode.*observe\(\)/);
  expect(await texts('observe(history) { return history; }')).toMatch(/observe\(\) returned a list/);
});

test('a mistake of the program is told with its line and how often it came up', async () => {
  const { findings } = await check(numbers({ guess: 'if (n === 5) this.none.there;' }));
  const [bug] = findings.filter(({ text }) => text.includes('mistake'));
  expect(bug?.line).toBe(10);
  expect(bug?.episodes).toBeGreaterThan(1);
});

const textsOf = async (source: string) => (await check(source)).findings.map(({ kind, text }) => `${kind} ${text}`);
/** The environment without its expert. */
const withoutExpert = (source: string) => source.replace(/ {2}expert\(\).*\n/, '');

test('an expert that fails or makes a wrong call after another player’s call is a fault with its line', async () => {
  const failing = numbers({ guess: 'this.last = n;', statics: 'last = -1;', expert: 'this.next()' }).replace(
    '  getReward',
    '  private next() { if (this.last >= 0) throw new Error("lost"); return this.hidden; }\n  getReward',
  );
  const report = await check(failing);
  expect(report.broken).toBe(true);
  const [fault, ...others] = report.findings.filter(({ kind }) => kind === 'fault');
  expect(others).toEqual([]);
  expect(fault).toMatchObject({ line: 12 });
  expect(fault?.text).toMatch(/expert\(\) failed: lost.*after other players’ calls.*guess\(n=\d+\)/);
  expect(fault?.episodes).toBeGreaterThan(5);
  const wrong = failing.replace('throw new Error("lost")', 'return "x"');
  expect((await textsOf(wrong)).join()).toMatch(/fault The expert makes a wrong call: n of guess has to be a number/);
});

test('one line of code has one remark, with one example, whatever the messages say', async () => {
  const report = await check(numbers({ guess: 'const seen = {}; seen["k" + "ab"[n % 2]].x;' }));
  const bugs = report.findings.filter(({ text }) => text.includes('mistake'));
  expect(bugs).toHaveLength(1);
  expect(bugs[0]?.episodes).toBeGreaterThan(60);
});

test('nonsense that earns more than random calls is told, also without an expert', async () => {
  const echo = numbers({ guess: 'this.sum += Math.abs(n);', statics: 'sum = 0;', reward: 'Math.min(this.sum, 100)' });
  expect((await textsOf(withoutExpert(echo))).join()).toMatch(
    /warning Nonsense calls earn the most: \d+\.\d+, and random calls 20/,
  );
  expect((await textsOf(withoutExpert(numbers()))).join()).not.toMatch(/Nonsense/);
});

test('tasks that nobody solves are told: all of them, or with an expert a tenth', async () => {
  expect((await textsOf(numbers({ reward: 'this.done ? 0.75 : 0' }))).join()).toMatch(
    /No player solved any of the 60 tasks.*at least 1; the most was 0\.75/,
  );
  const third = numbers({ reward: 'this.done && this.hidden > 2 ? 1 : 0' });
  expect((await textsOf(third)).join()).toMatch(/Nobody solved \d+ of 60 tasks, such as (?:train|test) task \d+/);
  expect((await textsOf(withoutExpert(third))).join()).not.toMatch(/olved/);
});

test('a tool without a legal call names the argument whose choices stand only in its description', async () => {
  const game = (tool: string) => withoutExpert(numbers()).replace(/ {2}guess\(n[^\n]*\n/, tool);
  const described = game(`
  /**
   * Moves.
   * @param way Either "north" or "south".
   */
  move(way: string): string { if (way !== 'north' && way !== 'south') return 'No such way.'; this.done = true; return way; }
`);
  const texts = (await textsOf(described)).join('\n');
  expect(texts).toMatch(/No player made a legal call of move.*choices of way .*"north" \| "south"/);
  const typed = described.replace('way: string', "way: 'north' | 'south'");
  expect((await textsOf(typed)).join()).not.toMatch(/legal call/);
  const refusing = game(
    `  pick(code: string): string { if (code !== 'q7') throw new Error('no such code'); return ''; }\n`,
  );
  expect((await textsOf(refusing)).join()).toMatch(/legal call of pick: all \d+ calls were refused.*no such code/);
});

test('the argument that makes a tool hang is named, after two such calls', async () => {
  const slow = withoutExpert(numbers()).replace(
    /guess\(n: number\)[^\n]*/,
    'guess(n: number, digits: number): string { while (digits > 1e9); return n + " " + digits; }',
  );
  const report = await check(slow);
  expect(
    report.findings.find(({ text }) => text.includes('too long:') || text.includes('compute too long'))?.text,
  ).toMatch(/The argument digits makes.*guess\(n=.*digits=/);
  expect(report.findings.find(({ text }) => text.startsWith('A tool computed too long'))).toMatchObject({
    line: 10,
    episodes: 2,
  });
});
