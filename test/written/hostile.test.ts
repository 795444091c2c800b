import { expect, test } from 'vitest';
import { Purpose, random } from '../../src/base/rng.ts';
import type { Reply } from '../../src/written/script/sandbox.ts';
import { acting, sandboxOf } from './machine.ts';

const OPEN = { op: 'open', id: 0, split: 'train', index: 0, chance: [1, 2, 3] } as const;
const CALL = { op: 'call', id: 0, tool: 'act', values: ['x'] } as const;

/** What a tool does; what is said of it. Each is on line 6 of its file. */
const BODIES: readonly (readonly [string, string, RegExp])[] = [
  ['an endless loop', 'for (;;);', /computed too long/],
  ['an endless loop that catches what stops it', 'for (;;) try { for (;;); } catch {}', /computed too long/],
  ['an endless loop in a finally', 'try { for (;;); } finally { for (;;); }', /computed too long/],
  ['a sort that never ends', 'return String([3, 2, 1].sort(() => { for (;;); }));', /computed too long/],
  ['a pattern that tries for ever', 'return String(/(a+)+$/.test("a".repeat(60) + "b"));', /computed too long/],
  [
    'a generator without an end',
    'return String([...(function* () { for (;;) yield 1; })()].length);',
    /too long|memory/,
  ],
  ['deep recursion', 'const deep = () => deep() + 1; return String(deep());', /call stack/],
  ['recursion through a getter', 'const o = { get x() { return this.x; } }; return o.x;', /call stack/],
  ['recursion through toString', 'const o = { toString() { return `${o}`; } }; return `${o}`;', /call stack/],
  ['a string of a gigabyte', 'return "x".repeat(2 ** 30);', /string length|too long|memory/],
  ['strings doubled for ever', 'let s = "x"; for (;;) s += s;', /too long|memory/],
  ['arrays for ever', 'const all = []; for (;;) all.push(new Array(1e5).fill(1));', /too long|memory/],
  ['a buffer of two gigabytes', 'return String(new ArrayBuffer(2 ** 31 - 1).byteLength);', /memory|length/],
  [
    'nested lists as JSON',
    'let a = []; for (let i = 0; i < 1e6; i++) a = [a]; return JSON.stringify(a);',
    /too long|memory|stack/,
  ],
  ['code from text by Function', 'return new Function("return 1")();', /Function|not defined/],
  ['code from text by a constructor', 'return (() => 0).constructor("return 1")();', /run text as code/],
  ['code from text by an async constructor', 'return (async () => 0).constructor("return 1")();', /run text as code/],
  ['code from text by eval', 'return eval("1");', /not defined/],
  ['chance of its own', 'return String(Math.random());', /draw/],
  ['the clock', 'return String(Date.now());', /not defined/],
  ['the precise clock', 'return String(performance.now());', /not defined/],
  ['the network by fetch', 'return fetch("https://example.org");', /not defined/],
  ['the network by a socket', 'return new WebSocket("ws://localhost");', /not defined/],
  ['the network by XMLHttpRequest', 'return new XMLHttpRequest();', /not defined/],
  ['the page', 'return document.cookie;', /not defined/],
  ['the window', 'return window.name;', /not defined/],
  ['the worker', 'return self.name;', /not defined/],
  ['storage', 'return localStorage.getItem("x");', /not defined/],
  ['the database', 'return String(indexedDB);', /not defined/],
  ['the process', 'return process.env.HOME;', /not defined/],
  ['modules by require', 'return require("fs");', /not defined/],
  ['timers', 'return String(setTimeout(() => 0, 1));', /not defined/],
  ['jobs for later', 'return String(queueMicrotask(() => 0));', /not defined/],
  ['memory that is shared', 'return String(new SharedArrayBuffer(8));', /not defined/],
  ['WebAssembly', 'return String(WebAssembly);', /not defined/],
  [
    'a change to every object',
    'Object.prototype.toJSON = () => "mine"; return "x";',
    /read-only|not extensible|extensible/,
  ],
  ['a change to every list', 'Array.prototype.push = () => 0; return "x";', /read-only/],
  ['a change through __proto__', '({}).__proto__.polluted = 1; return "x";', /extensible/],
  ['a change through a constructor', '({}).constructor.prototype.polluted = 1; return "x";', /extensible/],
  ['another JSON', 'JSON.stringify = () => "[]"; return "x";', /read-only/],
  ['another prototype for objects', 'Object.setPrototypeOf(Object.prototype, {}); return "x";', /prototype|extensible/],
  ['a throw of nothing', 'throw undefined;', /undefined/],
  ['a throw of null', 'throw null;', /null/],
  ['a throw whose words throw', 'throw { get message() { throw 1; } };', /without a message/],
  ['a throw whose words are no text', 'throw { message: { toString() { throw 1; } } };', /without a message/],
  ['a throw of a proxy', 'throw new Proxy({}, { get() { throw 1; } });', /without a message/],
  ['a throw of a symbol', 'throw Symbol("x");', /Symbol/],
  ['an error with a stack of its own', 'const e = new Error("told"); e.stack = { split: 1 }; throw e;', /string/],
  ['a number for a text', 'return 5;', /returned number/],
  ['nothing for a text', 'return;', /returned undefined/],
  ['null for a text', 'return null;', /returned null/],
  ['a list for a text', 'return ["x"];', /returned a list/],
  ['a promise that never settles', 'return new Promise(() => 0);', /returned a promise/],
  ['something like a promise', 'return { then() {} };', /returned a promise/],
  ['a text object', 'return new String("x");', /returned object/],
  [
    'done that throws',
    'Object.defineProperty(this, "done", { get() { throw new Error("late"); } }); return "x";',
    /late/,
  ],
  ['a turn paid NaN', 'this.turnReward = () => NaN; return "x";', /NaN/],
  ['a turn paid by a text', 'this.turnReward = () => "1"; return "x";', /a million/],
  ['a turn paid more than float32 holds', 'this.turnReward = () => 1e39; return "x";', /1e\+39.*a million/],
];

test.each(BODIES)('%s: the sandbox says so, with its line, and serves the next call', async (name, body, said) => {
  const sandbox = await sandboxOf(
    acting(`if (word === 'x') { ${body} }\n    this.seen++;\n    return 'seen ' + this.seen;`),
  );
  const [, reply, next] = sandbox.serve([OPEN, CALL, { ...CALL, values: ['y'] }]) as [Reply, Reply, Reply];
  sandbox.dispose();
  expect(reply.problem ?? reply.refused ?? '', name).toMatch(said);
  const returns = /returned|^done|late|NaN|million/.test(reply.problem ?? ''); // of what a tool returned no line is to blame
  if (!returns && !body.startsWith('throw') && !/stack|memory|string/.test(reply.refused ?? ''))
    expect(reply.line, name).toBe(6);
  if (!/^done|late|NaN|million/.test(reply.problem ?? '')) expect(next.text, name).toBe('seen 1');
});

test('an episode draws the project’s own random numbers, by its key', async () => {
  const sandbox = await sandboxOf(acting('    return word;'));
  const keys = [[1, 2, 3] as const, [1, 2, 4] as const, [7, 0, 0] as const];
  const replies = sandbox.serve(keys.map((chance, id) => ({ ...OPEN, id, chance })));
  sandbox.dispose();
  const drawn = keys.map(([seed, a, b]) => random(seed, Purpose.environment, a, b).int(1000));
  expect(replies.map(({ text }) => text)).toEqual(drawn.map((n) => `begin ${n}`));
});

test('a text longer than a model reads is cut, and how long it was is told', async () => {
  const sandbox = await sandboxOf(acting('    return "x".repeat(100_000);'));
  const [, reply] = sandbox.serve([OPEN, CALL]);
  sandbox.dispose();
  expect(reply?.text).toHaveLength(4000);
  expect(reply?.cut).toBe(100_000);
});

test('markup, control characters and half a pair come back as they are: as text', async () => {
  const sandbox = await sandboxOf(acting('    return word;'));
  const words = ['<script>alert(1)</script>', '\u0000\u001b[31m', '\ud800', '</tool_response>', '"]}'];
  const replies = sandbox.serve([OPEN, ...words.map((word) => ({ ...CALL, values: [word] }))]);
  sandbox.dispose();
  expect(replies.slice(1).map(({ text }) => text)).toEqual(words);
});

test.each([
  ['loops for ever', 'for (;;);\n', /computed too long/, 1],
  ['throws', 'const a = 1;\nthrow new Error("no");\n', /no/, 2],
  ['imports a file', 'import { x } from "./other";\nx();\n', /only types/, 1],
  ['asks for the clock', 'const now = Date.now();\n', /not defined/, 1],
])('a file that %s as it is loaded is refused with its line', async (_name, before, said, line) => {
  const opened = (async () => sandboxOf(acting("    return 'x';", before)))();
  await expect(opened).rejects.toThrow(said);
  await expect(opened).rejects.toMatchObject({ problems: [{ line }] });
});

test('one episode that computes for ever leaves the others of its batch as they were', async () => {
  const source = acting("    if (word === 'x') for (;;);\n    this.seen++;\n    return 'seen ' + this.seen;");
  const [alone, beside] = await Promise.all([sandboxOf(source), sandboxOf(source)]);
  const ids = [1, 2, 3, 4, 5];
  const opens = ids.map((id) => ({ ...OPEN, id }));
  const calls = (bad: number) => ids.map((id) => ({ ...CALL, id, values: [id === bad ? 'x' : 'y'] }));
  const quiet = alone.serve([...opens, ...calls(0)]);
  const stopped = beside.serve([...opens, ...calls(3)]);
  for (const sandbox of [alone, beside]) sandbox.dispose();
  expect(stopped.filter((_, at) => at !== 5 + 2)).toEqual(quiet.filter((_, at) => at !== 5 + 2));
  expect(stopped[5 + 2]?.problem).toMatch(/computed too long/);
});
