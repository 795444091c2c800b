import { afterAll, expect, test } from 'vitest';
import { classSettings, isSolved, weightedReward } from '../../src/written/classSettings.ts';
import { readDeclaration } from '../../src/written/script/declaration.ts';
import { playTasks } from '../../src/written/plays.ts';
import type { Reply, Request } from '../../src/written/script/sandbox.ts';
import { ENDLESS_BUILTINS } from './hostileBuiltins.ts';
import { HARM, HARM_AT_LOAD, harmful } from './hostileClasses.ts';
import { firstRows } from '../weekly.ts';
import { acting, sandboxOf } from './machine.ts';

const open = (id: number): Request => ({ op: 'open', id, split: 'train', index: id, chance: [1, id, 0] });
const call = (id: number, word = 'y'): Request => ({ op: 'call', id, tool: 'act', values: [word] });
const said = ({ problem, refused }: Reply) => problem ?? refused;

/** Processor seconds of what was stopped. */
const seconds: number[] = [];
afterAll(() => {
  const most = Math.max(...seconds);
  const all = seconds.reduce((sum, each) => sum + each, 0);
  console.log(
    `${seconds.length} hostile environments: ${all.toFixed(1)} processor seconds, the longest ${most.toFixed(1)}`,
  );
});

/** Far more than the budget of work takes (a tenth of what the page allows), far less than for ever. */
const MOST_SECONDS = 20;

function timed<T>(work: () => T): T {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  seconds.push((user + system) / 1e6);
  expect(seconds.at(-1)).toBeLessThan(MOST_SECONDS);
  return result;
}

test.each(HARM)(
  '%s: told with its line, and the episodes beside it do not notice',
  async (_name, part, code, words, line) => {
    const sandbox = await sandboxOf(harmful(part, code));
    expect(sandbox.serve([open(1), call(1)]).map(({ text }) => text)).toEqual(['begin', 'seen 1']);
    const harm: Request[] = [
      open(2),
      call(2, 'x'),
      { op: 'expert', id: 2, chance: [0, 0, 0] },
      { op: 'reward', id: 2 },
    ];
    const [told] = timed(() => sandbox.serve(harm)).filter((reply) => said(reply) !== undefined);
    const after = sandbox.serve([call(1), { op: 'reward', id: 1 }, { op: 'close', id: 2 }, open(3), call(3)]);
    sandbox.dispose();
    expect(said(told ?? {})).toMatch(words);
    expect(told?.line ?? null).toBe(line);
    expect(after).toEqual([
      expect.objectContaining({ text: 'seen 2' }),
      { parts: { right: 1 } },
      {},
      expect.objectContaining({ text: 'begin' }),
      expect.objectContaining({ text: 'seen 1' }),
    ]);
  },
);

// that one meter stops them all: written/meteredMachine
test.each(firstRows(ENDLESS_BUILTINS, 10))(
  '%s is stopped, told with its line; the next calls are served, or refused with the reason',
  async (_name, code) => {
    const sandbox = await sandboxOf(acting(`if (word === 'x') { ${code} }\n    return 'seen ' + ++this.seen;`));
    const begun = sandbox.serve([open(1), call(1)]);
    const [told] = timed(() => sandbox.serve([call(1, 'x')]));
    const [next] = sandbox.serve([call(1)]);
    sandbox.dispose();
    expect(begun[1]?.text).toBe('seen 1');
    expect(told?.problem ?? told?.refused).toMatch(/computed too long|memory/);
    expect(told?.line).toBe(6);
    const ended = told?.problem?.includes('virtual machine was ended') ?? false;
    expect(next).toEqual(ended ? told : expect.objectContaining({ text: 'seen 2' }));
  },
);

test.each(HARM_AT_LOAD)(
  '%s as the file is loaded: refused with its line',
  async (_name, before, statics, words, line) => {
    const source = `${before}\nexport default class Harmful {\n${statics}\nreset(): string { return ''; } act(): string { return ''; } getReward() { return 1; }\n}\n`;
    const opened = (async () => sandboxOf(source))();
    await expect(opened).rejects.toThrow(words);
    await expect(opened).rejects.toMatchObject({ problems: [{ line }] });
  },
);

test('tools, arguments and parts of the reward may be called as every object’s own members are', async () => {
  const names = ['toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf', 'then', 'toJSON'];
  const odd = [...names, '__proto__', 'constructor'];
  const tools = names.map(
    (name) => `${name}(${name}: string, __proto__: string): string { return '${name} ' + ${name} + __proto__; }`,
  );
  const parts = odd.map((name) => `['${name}', 1]`).join();
  const source = `export default class Names {\nreset(): string { return 'begin'; }\n${tools.join('\n')}\ngetReward() { return Object.fromEntries([${parts}]); }\n}\n`;
  const declaration = readDeclaration(source);
  const sandbox = await sandboxOf(source);
  const [play] = playTasks(sandbox, declaration.tools, [{ split: 'train', index: 0 }], {
    ...{ seed: 1, maxTurns: names.length },
    player: ({ replies }) => {
      const name = names[replies.length] ?? '';
      return {
        tool: name,
        values: Object.fromEntries([
          [name, 'x'],
          ['__proto__', 'y'],
        ]),
      };
    },
  });
  const missing = playTasks(sandbox, declaration.tools, [{ split: 'train', index: 0 }], {
    ...{ seed: 1, maxTurns: 1 },
    player: () => ({ tool: 'toString', values: {} }),
  });
  sandbox.dispose();
  expect(play?.problems).toEqual([]);
  expect(play?.replies.map(({ text }) => text)).toEqual(names.map((name) => `${name} xy`));
  expect(missing[0]?.replies[0]?.refused).toMatch(/toString/);
  const settings = classSettings({});
  expect(weightedReward(play?.parts ?? {}, settings)).toBe(odd.length);
  expect(isSolved({}, { ...settings, weights: { toString: 1 } })).toBe(false);
});

test.each([
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<|im_start|>system',
  '<|im_end|>',
  '</call>',
  '</tool_response>',
  '\u202e',
  '{{ x }}',
])('an answer, a refusal and a prompt with %s come out as the text they are', async (markup) => {
  const text = JSON.stringify(markup);
  const sandbox = await sandboxOf(`export default class Markup {
      reset(): string { return ${text}; }
      act(word: string): string { if (word === 'no') throw new Error(${text}); return ${text}; }
      getReward() { return 1; }
    }`);
  const replies = sandbox.serve([open(1), call(1), call(1, 'no')]);
  sandbox.dispose();
  expect(replies.map(({ text: said, refused }) => said ?? refused)).toEqual([markup, markup, markup]);
});
