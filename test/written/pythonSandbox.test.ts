import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { classSettings } from '../../src/written/classSettings.ts';
import { checkEnvironment } from '../../src/written/checker.ts';
import { readPython } from '../../src/written/python/pythonDeclaration.ts';
import { PYTHON_LIMITS } from '../../src/written/python/pythonSandbox.ts';
import { isWeekly } from '../weekly.ts';
import { actingInPython, pythonSandboxOf } from './pythonMachine.ts';

const OPEN = { op: 'open', id: 0, split: 'train', index: 0, chance: [1, 2, 3] } as const;
const REWARD = { op: 'reward', id: 0 } as const;
/** For what never ends. */
const BRIEF = { ...PYTHON_LIMITS, callMs: 600, graceMs: 400 };
const CALL = { op: 'call', id: 0, tool: 'act', values: ['x'] } as const;

/** What a tool does, and what is said of it. None of it ends Python. */
const BODIES: readonly (readonly [string, string, RegExp])[] = [
  ['deep recursion', 'return (f := lambda n: f(n + 1))(0)', /recursion/],
  ['a string of four gigabytes', 'return "x" * 2 ** 32', /index-sized integer/],
  ['a string of a gigabyte', 'return "x" * 2 ** 30', /MemoryError/],
  ['the end of the program', 'raise SystemExit("bye")', /A tool failed: SystemExit: bye/],
  ['what Python itself is stopped by', 'raise KeyboardInterrupt', /computed too long/],
  ['an error without words', 'raise ValueError', /ValueError/],
  ['an error with markup', 'raise ValueError("<script>1</script>")', /<script>/],
  ['an error whose words fail', 'raise type("E", (Exception,), {"__str__": lambda s: 1 / 0})()', /without words/],
  ['a result whose words fail', 'return type("R", (), {"__str__": lambda s: 1 / 0})()', /division by zero/],
];
const ENDLESS: readonly (readonly [string, string])[] = [
  ['an endless loop', 'while True: pass'],
  ['an endless loop inside of a builtin', 'return str(sum(1 for _ in iter(int, 1)))'],
  [
    'an error whose words never end',
    'raise type("E", (Exception,), {"__str__": lambda s: str(sum(1 for _ in iter(int, 1)))})()',
  ],
];
/** What ends Python. */
const ENDS: readonly (readonly [string, string])[] = [
  [
    'a conversion to JavaScript, which a file brings back,',
    'core = again("_pyodide_core")\nfor _ in range(8): KEPT.append(core.to_js(bytearray(2 ** 27)))',
  ],
  [
    'a loop that catches what stops it',
    'while True:\n    try:\n        while True: pass\n    except BaseException: pass',
  ],
  ['the end of the process', 'import os; os._exit(3)'],
  ['a crash', 'import ctypes; ctypes.string_at(1 << 31)'],
  ['replies that are none', 'import json; json.JSONEncoder.encode = lambda *a, **k: "1"; json.dumps = 1; return "x"'],
];
const AGAIN = `import importlib, os, sys
KEPT = []
def again(name):
    for other in [one for one, value in sys.modules.items() if value is None]: del sys.modules[other]
    return importlib.import_module(name)
`;
/** What takes memory, in Python and outside of it, and what is said of it. */
const TAKES: readonly (readonly [string, string | RegExp])[] = [
  [
    'block = bytearray(2 ** 25)\nfor n in range(40):\n    open("b", "wb").write(block)\n    os.unlink("b")\nreturn "freed"',
    'freed',
  ],
  ['with open("a", "wb") as file: file.seek(2 ** 30); file.write(b"x")', /Errno 51/],
  ['with open("c", "wb") as file: file.truncate(2 ** 30)', /Errno 51/],
  ['os.write(os.pipe()[1], b"x"); return "taken"', /Errno 33/],
  ['print("x" * 2 ** 25, end="", flush=True); return "printed"', 'printed'],
  ['block = bytearray(2 ** 25)\nfor n in range(40): open(f"{n}", "wb").write(block)', /Errno 51/],
  [
    'for name in os.listdir(): name.isdigit() and os.unlink(name)\na = [bytearray(2 ** 26) for _ in range(100)]',
    /MemoryError/,
  ],
];
/** One file with a tool for each body: a sandbox takes the Python that the last one of the same file left, and starting one takes seconds. */
const toolNames = new Map<string, string>();
const tools = [...BODIES, ...ENDLESS, ...ENDS].map(([, body]) => body);
const PAYING = 'self.paid = eval(word)';
const WORKING = 'total = 0\nfor i in range(len(word) * 100):\n    total += i\nreturn str(total)';
tools.push(...TAKES.map(([body]) => body), PAYING, WORKING);
const MISCHIEF = actingInPython(
  'import random\nreturn str(random.randrange(1000))',
  AGAIN,
  tools
    .map((body, at) => {
      toolNames.set(body, `act${at}`);
      return `    def act${at}(self, word: str) -> str:\n${body.replaceAll(/^/gm, '        ')}\n`;
    })
    .join(''),
).replace('return 1.0', 'return getattr(self, "paid", 1.0)');

const calling = (body: string, word = 'x') =>
  ({ op: 'call', id: 0, tool: toolNames.get(body) ?? body, values: [word] }) as const;
const lineOf = (body: string) => MISCHIEF.split('\n').findIndex((line) => line.includes(`${toolNames.get(body)}(`)) + 2;

test('whenever it arrives, what stops a loop stops it', async () => {
  const sandbox = await pythonSandboxOf(MISCHIEF, { ...PYTHON_LIMITS, callMs: 2 });
  sandbox.serve([OPEN]);
  // one of some hundred came between a reading and a writing of the same number, and was lost
  const ends = Array.from(
    { length: isWeekly ? 200 : 50 },
    () => sandbox.serve([calling('while True: pass')])[0]?.problem ?? '',
  );
  expect(ends.filter((said) => said.includes('could not be stopped') || said.includes('Python was ended'))).toEqual([]);
  sandbox.dispose();
});

test('what a tool does wrong is told with its line, and the next call is served', async () => {
  for (const [cases, limits] of [
    [BODIES, PYTHON_LIMITS],
    [ENDLESS.map(([name, body]) => [name, body, /computed too long and was stopped/] as const), BRIEF],
  ] as const) {
    const sandbox = await pythonSandboxOf(MISCHIEF, limits);
    for (const [name, body, says] of cases) {
      const [opened, called, after] = sandbox.serve([OPEN, calling(body), REWARD]);
      expect(opened?.text, name).toMatch(/^begin \d+$/);
      expect(called?.problem ?? called?.refused, name).toMatch(says);
      expect(called?.line, name).toBe(lineOf(body));
      expect(after, name).toEqual({ parts: { reward: 1 } });
    }
    sandbox.dispose();
  }
});

test('a reward is a number up to a million, without the sign of a zero, or a fault', async () => {
  const sandbox = await pythonSandboxOf(MISCHIEF);
  for (const [value, told] of [
    ['-0.0', 0],
    ['True', 1],
    ['1e39', '1e+39'],
    ['10 ** 400', '1000'],
    ['float("nan")', 'nan'],
    ['float("-inf")', '-inf'],
  ] as const) {
    const [, , reply] = sandbox.serve([OPEN, calling(PAYING, value), REWARD]);
    if (typeof told === 'number') expect(reply?.parts, value).toStrictEqual({ reward: told });
    else expect(reply?.problem, value).toMatch(new RegExp(`reward = ${told.replace('+', '\\+')}.*a million`));
  }
  sandbox.dispose();
});

test('the same seed gives the same episode, whatever other episodes do in between', async () => {
  const sandbox = await pythonSandboxOf(MISCHIEF);
  const other = { ...OPEN, id: 1, chance: [9, 9, 9] } as const;
  const alone = sandbox.serve([OPEN, CALL, CALL]).map(({ text }) => text);
  const mixed = sandbox.serve([
    OPEN,
    other,
    CALL,
    { ...CALL, id: 1 },
    { op: 'expert', id: 0, chance: [0, 0, 0] },
    CALL,
  ]);
  expect([mixed[0], mixed[2], mixed[5]].map((reply) => reply?.text)).toEqual(alone);
  expect(new Set(alone).size).toBe(3);
  sandbox.dispose();
});

test('the work of requests is counted: calls and loop turns of Python, each time the same', async () => {
  const sandbox = await pythonSandboxOf(MISCHIEF);
  const workOf = (word: string) => sandbox.counted(() => sandbox.serve([OPEN, calling(WORKING, word)])).work;
  workOf('x'); // imports `random`
  const [short, long] = [workOf('x'), workOf('x'.repeat(21))];
  expect(long - short).toBe(6 * 20 * 100); // a loop turn counts as six of a class in TypeScript
  expect(workOf('x')).toBe(short);
  const { result } = sandbox.counted(() => sandbox.serve([OPEN, calling(WORKING)]));
  sandbox.dispose();
  expect(result[1]).toMatchObject({ text: '4950' });
});

test.each(ENDS)('%s ends that Python alone: it is told, and a new one starts', async (_, body) => {
  const sandbox = await pythonSandboxOf(MISCHIEF, { ...BRIEF, callMs: 1500 });
  expect(sandbox.serve([OPEN])[0]?.text).toMatch(/^begin \d+$/); // after the end of the one before
  const before = process.memoryUsage().rss;
  const [called] = sandbox.serve([calling(body)]);
  const [later] = sandbox.serve([CALL]);
  sandbox.dispose();
  expect(called?.problem).toMatch(/Python was ended/);
  expect(later?.problem).toMatch(/Python was ended/);
  expect(process.memoryUsage().rss - before).toBeLessThan(700 * 2 ** 20);
});

test('files and memory end at 512 MB together, what is deleted is free again, and output is not kept', async () => {
  // filling 512 MB takes a busy machine more than the time that the other tests allow
  const sandbox = await pythonSandboxOf(MISCHIEF, { ...PYTHON_LIMITS, callMs: 30_000 });
  const before = process.memoryUsage().rss;
  const [, ...replies] = sandbox.serve([OPEN, ...TAKES.map(([body]) => calling(body)), REWARD]);
  const grown = process.memoryUsage().rss - before;
  for (const [at, [body, says]] of TAKES.entries())
    expect(replies[at]?.text ?? replies[at]?.refused, body).toMatch(says);
  expect(replies[TAKES.length - 1]?.line).toBe(lineOf(TAKES.at(-1)?.[0] ?? '') + 1);
  expect(replies.at(-1)).toEqual({ parts: { reward: 1 } });
  expect(grown).toBeLessThan(800 * 2 ** 20);
  sandbox.dispose();
});

test('no way leads out of the interpreter: no network, storage, file of the disk, process, other thread, or code in JavaScript', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end('here');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const source = readFileSync('test/written/pythonAttempts.py', 'utf8').replace('PORT', String(port));
  let sandbox = await pythonSandboxOf(source);
  const { train } = classSettings(sandbox.statics).tasks;
  const told: string[] = [];
  for (let index = 0; index < train; index++) {
    if (told.at(-1)?.includes('Python was ended')) {
      sandbox.dispose();
      sandbox = await pythonSandboxOf(source);
    }
    const [reply] = sandbox.serve([{ ...OPEN, index }]);
    told.push(reply?.text ?? reply?.problem ?? '');
  }
  sandbox.dispose();
  expect(train).toBeGreaterThan(30);
  expect(told.filter((line) => line.includes('REACHED'))).toEqual([]);
  await new Promise((resolve) => server.close(resolve));
  expect(asked).toEqual([]);
});

test('what TRL documents plays as there: async, defaults, lists, floats, blocks, any truth value, None, a reward function', async () => {
  const sandbox = await pythonSandboxOf(readFileSync('test/written/hintedPython.py', 'utf8'));
  const call = (tool: string, ...values: readonly unknown[]) => ({ op: 'call', id: 0, tool, values }) as const;
  const [opened, , arranged, paid, mixed, noted, wrong, painted, reward] = sandbox.serve([
    { ...OPEN, index: 2 },
    { op: 'expert', id: 0, chance: [0, 0, 0] },
    call('arrange', [1, 2], 2, undefined),
    { op: 'reward', id: 0 },
    call('mix', 7, undefined, 2),
    call('note', null, { x: 1 }, [1, 'a'], 3),
    call('paint', 'red', 2, null),
    call('paint', 'blue', undefined, 'up'),
    { op: 'reward', id: 0 },
  ]);
  sandbox.dispose();
  expect(opened?.text).toMatch(/^Sort. numbers \[\d, \d, \d\] colour (?:red|blue)$/);
  expect(arranged).toMatchObject({ text: '[1, 2] 2.0 None', over: false });
  expect(paid?.parts).toEqual({ reward: 0, kept: 0.25 / 4 + 0.25 / 4 + 1 / 16 });
  expect(mixed?.text).toBe('[7, 6, 0.25]');
  expect(noted?.text).toBe('None');
  expect(wrong?.refused).toBe("{'error': 'too much red'}");
  expect(painted).toMatchObject({ text: 'painted blue 1 up', over: true });
  expect(Object.keys(reward?.parts ?? {})).toEqual(['reward', 'kept']);
});

test('an enum’s member that the expert returns arrives as its value, and the check finds no fault in such a class', async () => {
  const source = readFileSync('test/written/hintedPython.py', 'utf8');
  const report = await checkEnvironment(readPython(source), () => pythonSandboxOf(source), { episodes: 20, seed: 1 });
  expect(report.findings.filter(({ kind }) => kind === 'fault')).toEqual([]);
  expect(report.expert).toBeGreaterThan(1);
});

test.each(['hiddenWord', 'sortCards'])(
  '%s.py has no finding: its expert earns .9 or more, chance less than half',
  async (name) => {
    const source = readFileSync(`public/environments/${name}.py`, 'utf8');
    const declaration = readPython(source);
    const report = await checkEnvironment(declaration, () => pythonSandboxOf(source), { episodes: 100, seed: 1 });
    expect(report.findings).toEqual([]);
    expect(report.expert).toBeGreaterThanOrEqual(0.9);
    expect(report.chance).toBeLessThan(0.5);
    expect(declaration.tools.every(({ description }) => description !== '')).toBe(true);
  },
);

test.each([
  [true, /Reloading won’t help/],
  [false, /Reload the page once/],
])('without shared memory it is said whether a reload helps (isolated: %s)', async (isIsolated, says) => {
  vi.stubGlobal('SharedArrayBuffer', undefined);
  vi.stubGlobal('crossOriginIsolated', isIsolated);
  // another text, so that no interpreter of an earlier test is taken
  await expect(pythonSandboxOf(actingInPython('return "alone"'))).rejects.toThrow(says);
  vi.unstubAllGlobals();
});
