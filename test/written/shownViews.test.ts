import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { EnvView, WrittenView } from '../../src/domain/envView.ts';
import { envSettings } from '../../src/envs/index.ts';
import { playExpert } from '../../src/envs/players.ts';
import { Calls } from '../../src/ui/drawings/Calls.tsx';
import { RewardSplit } from '../../src/ui/parts/RewardSplit.tsx';
import { viewUpTo } from '../../src/page/rollout/viewUpTo.ts';
import type { Reply } from '../../src/written/script/sandbox.ts';
import { readDeclaration } from '../../src/written/script/declaration.ts';
import { writtenEnvironment } from '../../src/written/writtenEnvironment.ts';
import { acting, sandboxOf } from './machine.ts';
import { TEMPLATES } from './templates.ts';

const OPEN = { op: 'open', id: 0, split: 'train', index: 0, chance: [1, 2, 3] } as const;
const CALL = { op: 'call', id: 0, tool: 'act', values: ['x'] } as const;

/** What a class with this body of `view()` replies when it begins and when it is called. */
async function replies(view: string): Promise<readonly Reply[]> {
  const sandbox = await sandboxOf(acting('this.seen++; return "done";', '', `view() { ${view} }`));
  return sandbox.serve([OPEN, CALL]);
}

const SHOWN: readonly (readonly [string, string, WrittenView])[] = [
  ['a text', 'return `seen ${this.seen}`;', { kind: 'text', text: 'seen 1' }],
  ['a text by name', 'return { text: "x" };', { kind: 'text', text: 'x' }],
  ['a table', 'return { table: [["a", "b"], [1, this.seen]] };', { kind: 'table', rows: [['a', 'b'], ['1', '1']] }], // prettier-ignore
  ['a grid of letters', 'return { grid: ["ab", "cd"] };', { kind: 'grid', rows: [['a', 'b'], ['c', 'd']] }], // prettier-ignore
  [
    'a line',
    'return { line: { from: 0, to: 9, marks: { here: 3 } } };',
    { kind: 'line', from: 0, to: 9, marks: [{ name: 'here', at: 3 }] },
  ],
];

test.each(SHOWN)('a class shows %s, before its first turn and after each', async (_, view, shown) => {
  const [begun, called] = await replies(view);
  expect(called).toMatchObject({ text: 'done', shown });
  expect(begun?.shown?.kind).toBe(shown.kind);
});

test.each([
  ['nothing', 'return;'],
  ['a list of rows that are no rows', 'return { grid: [1, 2] };'],
  ['more rows than are drawn', 'return { grid: new Array(31).fill("a") };'],
  ['a line that ends before it begins', 'return { line: { from: 3, to: 1 } };'],
])('a view of %s is a fault of the class, and says what a view is', async (_, view) => {
  const [begun] = await replies(view);
  expect(begun?.problem).toMatch(/^view\(\) returned .*\{ table: rows \}/);
});

test('a view that fails is a fault at its line; one with a long text or cell is cut', async () => {
  const [begun] = await replies('throw new Error("no");');
  expect(begun).toMatchObject({ problem: 'view() failed: no', line: 4 });
  const [long] = await replies('return "x".repeat(1e5);');
  expect(long?.shown).toEqual({ kind: 'text', text: 'x'.repeat(2000) });
  const [cells] = await replies('return { table: [["y".repeat(1e5)]] };');
  expect(cells?.shown).toEqual({ kind: 'table', rows: [['y'.repeat(60)]] });
});

const view: Extract<EnvView, { kind: 'calls' }> = {
  ...{ kind: 'calls', title: 'Numbers', prompt: 'Find <b>it</b>', shown: { kind: 'text', text: 'before' } },
  steps: [
    { turn: 1, text: 'guess(3)', result: 'more', shown: { kind: 'grid', rows: [['ab', 'c']] } },
    { turn: 2, text: 'guess(5)', result: 'found', shown: { kind: 'line', from: 0, to: 9, marks: [{ name: 'n', at: 5 }] } }, // prettier-ignore
  ],
  earned: { right: 1, close: 0.5 },
};
const drawn = (turn: number) => renderToStaticMarkup(createElement(Calls, { view, turn }));

test('the board shows the prompt as text, each call with its answer, and what the class shows at the turn in view', () => {
  expect(drawn(2)).toContain('Find &lt;b&gt;it&lt;/b&gt;');
  expect(drawn(1)).toContain('guess(5)');
  expect(drawn(1)).toContain('aria-label="ab c"');
  expect(drawn(1)).not.toContain('board-line');
  expect(drawn(2)).toContain('inset-inline-start:55.5');
});

test('the outcome has the parts by the names of the class, also where they are 0; a reward of other kinds has none', () => {
  const parts = {
    outcome: 1.1,
    process: 0,
    call: 0,
    format: -0.1,
    think: 0,
    turnCost: 0,
    preference: 0,
    information: 0,
  };
  const split = (episode: Parameters<typeof RewardSplit>[0]['episode']) =>
    renderToStaticMarkup(createElement(RewardSplit, { episode })).replaceAll(/<[^>]*>/g, '');
  expect(split({ parts, view })).toBe('outcome +1.1 (right +1, close +0.5)format −0.1');
  const nothing = { ...view, earned: { right: 0, close: 0 } };
  expect(split({ parts: { ...parts, outcome: 0 }, view: nothing })).toBe('outcome 0 (right 0, close 0)format −0.1');
  expect(split({ parts })).toBe('outcome +1.1format −0.1');
});

test('the board of tic-tac-toe is drawn as the moves leave it, in a rollout and at the end of a game', async () => {
  const [, source = ''] = TEMPLATES.find(([name]) => name === 'ticTacToe.ts') ?? [];
  const speaking = { chatTokenizer: null, think: false };
  const env = writtenEnvironment(readDeclaration(source), await sandboxOf(source), speaking);
  const settings = envSettings(parseConfig({ env: 'your-environment' }));
  const { view: played } = playExpert({ env, settings }, { seed: 3, environmentSeed: 3 });
  if (played.kind !== 'calls') throw new Error('it shows no calls');
  const board = /aria-label="([^"]*)"/.exec(renderToStaticMarkup(createElement(Calls, { view: played, turn: 0 })))?.[1];
  expect(renderToStaticMarkup(createElement(Calls, { view: { ...played, steps: [] }, turn: 0 }))).toContain(
    'aria-label="1 2 3; 4 5 6; 7 8 9"',
  );
  expect(board?.replaceAll(';', '')).toBe(played.steps.at(-1)?.result); // which is the board as the agent reads it
  expect(board).toContain('X');
});

test('what a class paid is not told before the rollout is over', () => {
  expect(viewUpTo(view, 1, false)).toMatchObject({ earned: null, steps: [{ turn: 1 }] });
  expect(viewUpTo(view, 2, true)).toMatchObject({ earned: view.earned });
});
