import { afterAll, expect, test } from 'vitest';
import type { Reply, Request } from '../../src/written/sandbox.ts';
import { ENDLESS_BUILTINS } from './hostileBuiltins.ts';
import { HARM, HARM_AT_LOAD, harmful } from './hostileClasses.ts';
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

test.each(ENDLESS_BUILTINS)(
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
    await expect(opened).rejects.toMatchObject({ line });
  },
);
