import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { classSettings } from '../../src/written/classSettings.ts';
import { checkEnvironment } from '../../src/written/checker.ts';
import { readPython } from '../../src/written/python/pythonDeclaration.ts';
import { PYTHON_LIMITS } from '../../src/written/python/pythonSandbox.ts';
import { actingInPython, pythonSandboxOf } from './pythonMachine.ts';

const OPEN = { op: 'open', id: 0, split: 'train', index: 0, chance: [1, 2, 3] } as const;
const CALL = { op: 'call', id: 0, tool: 'act', values: ['x'] } as const;

/** What a tool does, and what is said of it. None of it ends Python. */
const BODIES: readonly (readonly [string, string, RegExp])[] = [
  ['an endless loop', 'while True: pass', /computed too long and was stopped/],
  ['an endless loop inside of a builtin', 'return str(sum(1 for _ in iter(int, 1)))', /computed too long/],
  ['deep recursion', 'return (f := lambda n: f(n + 1))(0)', /recursion/],
  ['a string of four gigabytes', 'return "x" * 2 ** 32', /index-sized integer/],
  ['a string of a gigabyte', 'return "x" * 2 ** 30', /MemoryError/],
  ['the end of the program', 'raise SystemExit("bye")', /A tool failed: SystemExit: bye/],
  ['what Python itself is stopped by', 'raise KeyboardInterrupt', /computed too long/],
  ['an error without words', 'raise ValueError', /ValueError/],
  ['an error with markup', 'raise ValueError("<script>1</script>")', /<script>/],
  ['an error whose words fail', 'raise type("E", (Exception,), {"__str__": lambda s: 1 / 0})()', /without words/],
  [
    'an error whose words never end',
    'raise type("E", (Exception,), {"__str__": lambda s: str(sum(1 for _ in iter(int, 1)))})()',
    /computed too long/,
  ],
  ['a result whose words fail', 'return type("R", (), {"__str__": lambda s: 1 / 0})()', /division by zero/],
];

test('what a tool does wrong is told with its line, and the next call is served', async () => {
  const tools = BODIES.map(([, body], at) => `    def act${at}(self) -> str:\n        ${body}\n`);
  const source = actingInPython('return ""', '', tools.join(''));
  const sandbox = await pythonSandboxOf(source);
  const lines = source.split('\n');
  for (const [at, [name, , says]] of BODIES.entries()) {
    const call = { op: 'call', id: 0, tool: `act${at}`, values: [] } as const;
    const [opened, called, after] = sandbox.serve([OPEN, call, { op: 'reward', id: 0 }]);
    expect(opened?.text, name).toMatch(/^begin \d+$/);
    expect(called?.problem ?? called?.refused, name).toMatch(says);
    expect(called?.line, name).toBe(lines.findIndex((line) => line.includes(`act${at}(`)) + 2);
    expect(after, name).toEqual({ parts: { reward: 1 } });
  }
  sandbox.dispose();
});

test.each([
  ['-0.0', 0],
  ['True', 1],
  ['1e39', '1e+39'],
  ['10 ** 400', '1000'],
  ['float("nan")', 'nan'],
  ['float("-inf")', '-inf'],
])('a reward of %s is a number up to a million, without the sign of a zero, or a fault', async (value, told) => {
  const sandbox = await pythonSandboxOf(actingInPython('return ""').replace('return 1.0', `return ${value}`));
  const [, reply] = sandbox.serve([OPEN, { op: 'reward', id: 0 }]);
  sandbox.dispose();
  if (typeof told === 'number') expect(reply?.parts).toStrictEqual({ reward: told });
  else expect(reply?.problem).toMatch(new RegExp(`reward = ${told.replace('+', '\\+')}.*a million`));
});

test('a tool that takes all memory is told so with its line, and the next call is served', async () => {
  const source = actingInPython('a = [bytearray(2 ** 26) for _ in range(100)]; return "x"');
  // filling 512 MB takes a busy machine more than the 1.5 s that the other tests allow
  const sandbox = await pythonSandboxOf(source, { ...PYTHON_LIMITS, callMs: 30_000 });
  const [, called, after] = sandbox.serve([OPEN, CALL, { op: 'reward', id: 0 }]);
  sandbox.dispose();
  expect(called?.refused).toMatch(/MemoryError/);
  expect(called?.line).toBe(6);
  expect(after).toEqual({ parts: { reward: 1 } });
});

const AGAIN = `import importlib, os, sys
KEPT = []
def again(name):
    for other in [one for one, value in sys.modules.items() if value is None]: del sys.modules[other]
    return importlib.import_module(name)
`;

test('what Python takes outside of its memory counts: files end at 512 MB with all else, and output is not kept', async () => {
  const block = 'block = bytearray(2 ** 25)\n';
  const files = `${block}for n in range(40): open(f"{n}", "wb").write(block)\nreturn "taken"`;
  const sparse = 'with open("a", "wb") as file: file.seek(2 ** 30); file.write(b"x")\nreturn "taken"';
  const deleted = `${block}for n in range(40):\n    open("b", "wb").write(block)\n    os.unlink("b")\nreturn "freed"`;
  const tools = [
    deleted,
    sparse,
    'with open("c", "wb") as file: file.truncate(2 ** 30)\nreturn "taken"',
    'os.write(os.pipe()[1], b"x"); return "taken"',
    'print("x" * 2 ** 25, end="", flush=True); return "printed"',
    files,
  ];
  const members = tools.map((body, at) => `    def act${at}(self) -> str:\n${body.replaceAll(/^/gm, '        ')}\n`);
  const sandbox = await pythonSandboxOf(actingInPython('return ""', AGAIN, members.join('')), {
    ...PYTHON_LIMITS,
    callMs: 30_000,
  });
  const before = process.memoryUsage().rss;
  const [, ...replies] = sandbox.serve([
    OPEN,
    ...tools.map((_, at) => ({ op: 'call', id: 0, tool: `act${at}`, values: [] }) as const),
  ]);
  const grown = process.memoryUsage().rss - before;
  sandbox.dispose();
  const full = expect.stringContaining('Errno 51') as string;
  expect(replies.map(({ text, refused }) => text ?? refused)).toEqual([
    'freed',
    full,
    full,
    expect.stringContaining('Errno 33') as string,
    'printed',
    full,
  ]);
  expect(grown).toBeLessThan(800 * 2 ** 20);
});

test('a conversion to JavaScript, which a file brings back, ends Python before it takes memory', async () => {
  const body =
    'core = again("_pyodide_core")\nfor _ in range(8): KEPT.append(core.to_js(bytearray(2 ** 27)))\nreturn "taken"';
  const sandbox = await pythonSandboxOf(actingInPython(body, AGAIN), { ...PYTHON_LIMITS, callMs: 30_000 });
  const before = process.memoryUsage().rss;
  const [, called] = sandbox.serve([OPEN, CALL]);
  sandbox.dispose();
  expect(called?.problem).toMatch(/JavaScript.*Python was ended/);
  expect(process.memoryUsage().rss - before).toBeLessThan(700 * 2 ** 20);
});

const ENDS: readonly (readonly [string, string])[] = [
  [
    'a loop that catches what stops it',
    'while True:\n    try:\n        while True: pass\n    except BaseException: pass',
  ],
  ['the end of the process', 'import os; os._exit(3)'],
  ['a crash', 'import ctypes; ctypes.string_at(1 << 31)'],
  ['replies that are none', 'import json; json.JSONEncoder.encode = lambda *a, **k: "1"; json.dumps = 1; return "x"'],
];

test.each(ENDS)('%s ends that Python alone: it is told, and a new one starts', async (_, body) => {
  const sandbox = await pythonSandboxOf(actingInPython(body));
  const [, called] = sandbox.serve([OPEN, CALL]);
  const [later] = sandbox.serve([CALL]);
  if (called?.problem !== undefined) expect(later?.problem).toMatch(/Python was ended/);
  sandbox.dispose();
  const again = await pythonSandboxOf(actingInPython('return "fine"'));
  expect(again.serve([OPEN, CALL])[1]).toMatchObject({ text: 'fine' });
  again.dispose();
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
    const [reply] = sandbox.serve([{ ...OPEN, index }]);
    told.push(reply?.text ?? reply?.problem ?? '');
    if (reply?.problem === undefined) continue;
    sandbox.dispose(); // some end Python
    sandbox = await pythonSandboxOf(source);
  }
  sandbox.dispose();
  expect(train).toBeGreaterThan(30);
  expect(told.filter((line) => line.includes('REACHED'))).toEqual([]);
  await new Promise((resolve) => server.close(resolve));
  expect(asked).toEqual([]);
});

test('the same seed gives the same episode, whatever other episodes do in between', async () => {
  const drawing = actingInPython('import random\nreturn str(random.randrange(1000))');
  const sandbox = await pythonSandboxOf(drawing);
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
    const report = await checkEnvironment(declaration, () => pythonSandboxOf(source), { episodes: 200, seed: 1 });
    expect(report.findings).toEqual([]);
    expect(report.expert).toBeGreaterThanOrEqual(0.9);
    expect(report.chance).toBeLessThan(0.5);
    expect(declaration.tools.every(({ description }) => description !== '')).toBe(true);
  },
);

test('the work of requests is counted: calls and loop turns of Python, each time the same', async () => {
  const sandbox = await pythonSandboxOf(
    actingInPython('total = 0\nfor i in range(len(word) * 100):\n    total += i\nreturn str(total)'),
  );
  const workOf = (word: string) => sandbox.counted(() => sandbox.serve([OPEN, { ...CALL, values: [word] }])).work;
  workOf('x'); // imports `random`
  const [short, long] = [workOf('x'), workOf('x'.repeat(21))];
  expect(long - short).toBe(6 * 20 * 100); // a loop turn counts as six of a class in TypeScript
  expect(workOf('x')).toBe(short);
  const { result } = sandbox.counted(() => sandbox.serve([OPEN, CALL]));
  expect(result[1]).toMatchObject({ text: '4950' });
});

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
