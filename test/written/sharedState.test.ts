import { expect, test } from 'vitest';
import { acting, sandboxOf } from './machine.ts';
import { actingInPython, pythonSandboxOf } from './pythonMachine.ts';

const OPEN = { op: 'open', id: 0, split: 'train', index: 0, chance: [1, 2, 3] } as const;
const CALL = { op: 'call', id: 0, tool: 'act', values: ['x'] } as const;
const REWARD = { op: 'reward', id: 0 } as const;
const EXTRA = 'static made = 1; static #own = 0; static #list: number[] = [];';

/** The replies to two calls of an episode and to the question for its reward. `body` begins at line 6. */
async function repliesOf(before: string, body: string, members = EXTRA) {
  const sandbox = await sandboxOf(acting(`${body}\nreturn 'acted';`, before, members));
  const [, ...replies] = sandbox.serve([OPEN, CALL, CALL, REWARD]);
  sandbox.dispose();
  return replies;
}

test.each([
  ['an assignment', 'let kept = 0;', 'kept = 1;', '`kept`'],
  ['a count', 'let kept = 0;', 'kept++;', '`kept`'],
  ['a sum in an inner function', 'var kept = 0;', '[1].forEach((n) => { kept += n; });', '`kept`'],
  ['a cache that begins empty', 'let kept: any = null;', 'kept ??= [];', '`kept`'],
  ['another function', 'function kept() {}', 'kept = () => 0;', '`kept`'],
  ['another class', 'class Deck {}', 'Deck = null as any;', '`Deck`'],
  ['a private static field', '', 'Acting.#own += 1;', '`#own`'],
  ['the class’s own method', '', 'Acting.prototype.getReward = () => 77;', "'getReward' is read-only"],
  ['the prototype by an instance', '', 'Object.getPrototypeOf(this).reset = () => "";', "'reset' is read-only"],
  ['a static field', '', 'Acting.made++;', "'made' is read-only"],
  ['a new static field', '', '(Acting as any).kept = 1;', 'not extensible'],
  ['a private static list', '', 'Acting.#list.push(1);', 'not extensible'],
  ['a list outside', 'const kept = [2, 1];', 'kept.sort();', "'0' is read-only"],
  ['an object in a list outside', 'const kept = [{ n: 0 }];', 'kept[0]!.n = 1;', "'n' is read-only"],
  ['what a list outside lost', 'const kept = [1];', 'kept.pop();', 'could not delete'],
  ['a map outside', 'const kept = new Map();', "kept.set('a', 1);", "'set' would change"],
  [
    'a map that fills itself',
    'const kept: any = new Map();',
    "kept.getOrInsert('a', 1);",
    "'getOrInsert' would change",
  ],
  ['a list in a map outside', "const kept = new Map([['a', [0]]]);", "kept.get('a')!.push(1);", 'not extensible'],
  ['a set in a function’s field', 'const f = () => 0; f.kept = new Set();', 'f.kept.add(1);', "'add' would change"],
  ['a weak map about what all share', 'const kept = new WeakMap();', 'kept.set(Acting, 1);', "'set' would change"],
  [
    'a list in an object of a class',
    'class Deck { cards = [1]; } const deck = new Deck();',
    'deck.cards.pop();',
    'delete',
  ],
  ['another class’s method', 'class Deck { top() {} }', 'Deck.prototype.top = () => 2;', "'top' is read-only"],
])('an episode that changes %s for all episodes is a fault at its line', async (_, before, body, words) => {
  const [first] = await repliesOf(before, body);
  expect(first).toMatchObject({ problem: expect.stringContaining(words) as string, line: 6 });
  expect(first?.problem).toMatch(/all episodes share.*Keep it in `this` and set it in reset\(\)/i);
});

test.each([
  [
    'a table made as the file is loaded',
    'let kept = 0; const fill = () => { kept = 5; }; fill();',
    'return `${kept}`;',
  ],
  ['a variable with the name of one outside', 'let kept = 0;', 'let own = kept; { let kept = 1; kept++; }'],
  ['a function’s own variables', 'const sum = (n: number) => { let all = 0; all += n; return all; };', 'sum(2);'],
  ['an episode’s own collections', '', 'const m = new Map([[1, [2]]]); m.set(3, [4]); m.get(1)!.push(5); m.delete(1);'],
  ['copies of a list outside', 'const kept = [2, 1];', '[...kept].sort().push(3); kept.map((n) => n + 1);'],
  ['a helper class’s objects', 'class Deck { #n = 0; top() { return ++this.#n; } }', 'new Deck().top();'],
  ['a weak map about this episode', 'const kept = new WeakMap();', 'kept.set(this, 1);'],
  ['a method that an object binds for itself', '', 'this.getReward = this.getReward.bind(this);'],
  ['a generator function outside', 'function* upTo(n: number) { yield n; }', '[...upTo(3)];'],
])('%s: no fault', async (_, before, body) => {
  const [first, second, reward] = await repliesOf(before, body);
  expect(first).not.toHaveProperty('problem');
  expect(first).not.toHaveProperty('refused');
  expect(second).toEqual(first);
  expect(reward).toEqual({ parts: { reward: 1 } });
});

test('a shared regular expression starts anew in each call', async () => {
  const [first, second] = await repliesOf('const A = /a/g;', 'return String(A.test("a"));');
  expect([first?.text, second?.text]).toEqual(['true', 'true']);
});

test.each(['new Uint8Array(4)', 'new ArrayBuffer(4)', '[[1, 2].values()]'])(
  '%s outside of the class is refused, because it can’t be frozen',
  async (value) => {
    await expect(sandboxOf(acting('return word;', `const kept = ${value};`))).rejects.toThrow(/`kept` holds a buffer/);
  },
);

/** A tool that runs a file, compares what it holds with what it held before its `change()`, and returns the fault. */
const COMPARE = `import sys, types
playground = sys._getframe(1).f_globals
module = types.ModuleType("case")
exec(word, module.__dict__)
shared = playground["SharedState"](module, word)
module.change()
try:
    shared.compare()
    return "no fault"
except playground["Fault"] as fault:
    return f"{fault.line}: {fault}"`;
const SHARING = actingInPython(
  COMPARE,
  'KEPT = []',
  '    def keep(self, word: str) -> str:\n        KEPT.append(word)\n        return word\n',
);

test('in Python each change that outlives an episode is a fault that names it and its line, and nothing else is', async () => {
  const cases: readonly (readonly [file: string, change: string, name: string, line?: string])[] = [
    ['kept = 0', 'global kept; kept += 1', 'kept'],
    ['', 'global kept; kept = 1', 'kept'],
    ['kept = [1]', 'kept.append(2)', 'kept'],
    ['kept = {"a": [1]}', 'kept["a"][0] = 2', 'kept'],
    ['kept = {1}', 'kept.clear()', 'kept'],
    ['import collections; kept = collections.deque()', 'kept.append(1)', 'kept'],
    ['import collections; kept = collections.defaultdict(list)', 'kept[1].append(1)', 'kept'],
    ['import random; kept = random.Random(0)', 'kept.random()', 'kept'],
    ['import itertools; kept = itertools.count()', 'next(kept)', 'kept', 'import itertools; kept = itertools.count()'],
    ['kept = (n for n in range(3))', 'next(kept)', 'kept', 'kept = (n for n in range(3))'],
    ['class Deck: kept = []', 'Deck.kept.append(1)', 'Deck.kept'],
    ['class Deck: kept = 0', 'Deck.kept += 1', 'Deck.kept'],
    ['class Deck: pass', 'Deck.kept = 1', 'Deck.kept'],
    ['class Deck:\n    def top(self): return 1', 'Deck.top = lambda self: 2', 'Deck.top'],
    ['class Deck:\n    def top(self): return 1', 'Deck.__init__ = lambda self: None', 'Deck.__init__'],
    ['class Deck:\n    def __init__(self): self.n = [0]\nkept = [Deck()]', 'kept[0].n[0] += 1', 'kept'],
    ['class Deck:\n    __slots__ = ["n"]\nkept = Deck()', 'kept.n = 1', 'kept'],
    ['def add(n, kept=[]): kept.append(n)', 'add(1)', 'add', 'def add(n, kept=[]): kept.append(n)'],
    ['def add(n, *, kept={}): kept[n] = 1', 'add(1)', 'add', 'def add(n, *, kept={}): kept[n] = 1'],
    [
      'def counter():\n    n = 0\n    def count():\n        nonlocal n\n        n += 1\n    return count\nkept = counter()',
      'kept()',
      'kept',
      'kept = counter()',
    ],
    ['def top(): pass', 'top.kept = 1', 'top'],
    [
      'import functools\ndef add(kept, n): kept.append(n)\nadd_one = functools.partial(add, [])',
      'add_one(1)',
      'add_one',
      'add_one = functools.partial(add, [])',
    ],
    [
      'class Deck:\n    @property\n    def top(self, kept=[]):\n        kept.append(1)\n        return 1',
      'Deck().top',
      'Deck.top',
      'def top(self, kept=[]):',
    ],
    ['LONG = [str(n) for n in range(9)]', 'sorted(LONG); own = list(LONG); own.append(1)', ''],
    ['import functools\n@functools.cache\ndef square(n): return n * n', 'square(3)', ''],
    ['import functools\nclass Deck:\n    @functools.lru_cache\n    def top(self): return 1', 'Deck().top()', ''],
    ['import collections; edges = collections.defaultdict(list)', 'edges[1]', ''],
    ['import random', 'random.random(); random.shuffle([1, 2])', ''],
    ['import enum\nclass Side(enum.Flag):\n    A = 1\n    B = 2', 'Side.A | Side.B', ''],
    [
      'import dataclasses\n@dataclasses.dataclass\nclass Deck:\n    n: int = 0',
      'deck = Deck(); deck.n += 1; str(deck)',
      '',
    ],
    ['import typing\nclass Deck:\n    n: int = 0', 'typing.get_type_hints(Deck); Deck.__annotations__', ''],
    ['import warnings', 'warnings.warn("seen")', ''],
    [
      'class Node: pass\nfirst = Node(); last = first\nfor _ in range(3000): last.next = Node(); last = last.next',
      'Node()',
      '',
    ],
    ['first = []; first.append(first)', 'len(first)', ''],
  ];
  const sandbox = await pythonSandboxOf(SHARING);
  const told = cases.map(([file, change]) => {
    const source = `${file}\ndef change():\n    ${change}\n`;
    const [, reply] = sandbox.serve([OPEN, { ...CALL, values: [source] }]);
    const [, line, name] = /^(\d+): All episodes share `(.*)`, and an episode changed it/.exec(reply?.text ?? '') ?? [];
    return line ? [file, name, source.split('\n')[Number(line) - 1]?.trim()] : [file, reply?.text];
  });
  sandbox.dispose();
  const expected = cases.map(([file, change, name, line = change]) =>
    name === '' ? [file, 'no fault'] : [file, name, line],
  );
  expect(told).toEqual(expected);
});

test('in Python the fault comes with the reward of the episode that made the change', async () => {
  const sandbox = await pythonSandboxOf(SHARING);
  const [, unchanged, , called, reward] = sandbox.serve([OPEN, REWARD, OPEN, { ...CALL, tool: 'keep' }, REWARD]);
  sandbox.dispose();
  expect(unchanged?.parts).toEqual({ reward: 1 });
  expect(called?.text).toBe('x');
  expect(reward).toEqual({ problem: expect.stringContaining('`KEPT`') as string, line: 5 });
});
