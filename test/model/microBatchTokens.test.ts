import { expect, test } from 'vitest';
import { Role } from '../../src/domain/tokens.ts';
import { microBatchWords, nodeCapacity, nodeCounts, TokenPlacer } from '../../src/model/gpu/microBatchTokens.ts';

// five rows of at most six tokens; 0 is padding
const ROWS = [[7, 3, 5, 2], [4, 4, 4, 4, 4, 4], [7, 3, 5, 9, 9], [7, 3], []];
const T = 6;
const tokens = Int32Array.from(ROWS.flatMap((row) => [...row, ...new Array<number>(T - row.length).fill(0)]));
const RECORD = {
  tokens,
  roles: Uint8Array.from(tokens, (id) => (id > 0 ? Role.action : Role.pad)),
  states: new Uint8Array(5 * T),
};

/** Nodes and targets of a micro-batch of these rows, read from its words as the kernels do. */
function placed(rows: readonly number[], sharePrefixes: boolean) {
  const placer = new TokenPlacer({ rows: 5, length: T }, rows.length, rows.length, sharePrefixes);
  placer.load(RECORD);
  const { words, nodes, tokens: inRows } = placer.place(Int32Array.from(rows));
  const capacity = nodeCapacity(rows.length, T);
  const [positionsAt, startsAt, targetsAt] = [128, 256, 384]; // sections of up to 128 words each
  expect(4 * capacity).toBeLessThanOrEqual(128);
  const count = nodes[0]!;
  const all = Array.from({ length: capacity }, (_, n) => Array.from(words.subarray(4 * n, 4 * n + 4)));
  expect(words).toHaveLength(microBatchWords(rows.length, T));
  expect(Array.from(words.subarray(positionsAt, positionsAt + count))).toEqual(all.slice(0, count).map(([, t]) => t));
  const after = Array.from({ length: capacity }, (_, n) =>
    Array.from({ length: words[startsAt + n + 1]! - words[startsAt + n]! }, (_, j) => {
      const at = targetsAt + 2 * (words[startsAt + n]! + j);
      expect(words[at]).toBe(n);
      return words[at + 1]!;
    }),
  );
  return { count, inRows, nodes: all, after };
}

test('rows that share a beginning have its nodes once, in depth-first order, and targets for each row', () => {
  const { count, inRows, nodes, after } = placed([2, 1, 0, 3, 4], true);
  expect(count).toBe(9);
  expect(inRows).toBe(4 + 5 + 3 + 1);
  // token, position, first node of the tree, one past the last node under it; a row's last token has no node
  expect(nodes.slice(0, count)).toEqual([
    [4, 0, 0, 5],
    [4, 1, 0, 5],
    [4, 2, 0, 5],
    [4, 3, 0, 5],
    [4, 4, 0, 5],
    [7, 0, 5, 9],
    [3, 1, 5, 9],
    [5, 2, 5, 9],
    [9, 3, 5, 9],
  ]);
  const at = (row: number, t: number) => row * T + t;
  expect(after.slice(0, count).map((list) => list.toSorted((a, b) => a - b))).toEqual([
    ...[1, 2, 3, 4, 5].map((t) => [at(1, t)]),
    [at(0, 1), at(2, 1), at(3, 1)],
    [at(0, 2), at(2, 2)],
    [at(0, 3), at(2, 3)],
    [at(2, 4)],
  ]);
  // unused nodes are trees of one token without targets
  expect(nodes.slice(count)).toEqual(Array.from({ length: nodes.length - 9 }, (_, i) => [0, 0, 9 + i, 10 + i]));
  expect(after.slice(count).flat()).toEqual([]);
});

test('without sharing each row is a tree of its own', () => {
  const { count, nodes, after } = placed([0, 3, 2], false);
  expect(count).toBe(8);
  expect(nodes.slice(0, count).map(([, t, root, last]) => [t, root, last])).toEqual([
    [0, 0, 1],
    [0, 1, 4],
    [1, 1, 4],
    [2, 1, 4],
    [0, 4, 8],
    [1, 4, 8],
    [2, 4, 8],
    [3, 4, 8],
  ]);
  expect(after.slice(0, count).map((list) => list.length)).toEqual(new Array(8).fill(1));
});

test('rows beyond a micro-batch go into the next, and passes are recorded for eighths of the nodes', () => {
  const placer = new TokenPlacer({ rows: 5, length: T }, 2, 6, true);
  placer.load(RECORD);
  expect(placer.place(Int32Array.of(0, 2, 1, 3, 4)).nodes).toEqual([4, 6, 0]);
  expect(placer.place(new Int32Array(0)).nodes).toEqual([0]);
  // the same rows, decoded
  placer.clear();
  const chunk = { maxTokens: 2, forcedRoles: new Int32Array(5), states: new Int32Array(5), budgets: new Int32Array(5) };
  for (let t = 0; t < T; t += 2) {
    const parts = Array.from({ length: 5 }, (_, row) => ROWS[row]!.slice(t, t + 2));
    const ids = (from: number) => Int32Array.from(parts.flatMap((part) => [part[from] ?? 0, 0]));
    const counts = (from: number) => Int32Array.from(parts, (part) => Number(part.length > from));
    placer.appendForced({ ...chunk, forced: ids(0), forcedCounts: counts(0) });
    placer.appendDrawn(chunk.maxTokens, { tokens: ids(1), counts: counts(1), logprobs: new Float32Array(10) });
  }
  expect(placer.place(Int32Array.of(0, 2, 1, 3, 4)).nodes).toEqual([4, 6, 0]);
  placer.clear(2);
  expect(placer.place(Int32Array.of(0, 2)).nodes).toEqual([3]);
  expect(nodeCounts(64, 65)).toEqual([512, 1024, 1536, 2048, 2560, 3072, 3584, 4096]);
  expect(nodeCounts(5, T)).toEqual([16, 32]);
});

test.each<[string, (placer: TokenPlacer) => void]>([
  ['loaded', (placer) => placer.load({ ...RECORD, tokens: tokens.map((id) => (id === 5 ? 6 : id)) })],
  ['emptied', (placer) => placer.clear(0)],
  [
    'given',
    (placer) =>
      placer.appendForced({
        ...{ maxTokens: 1, forced: Int32Array.of(8, 8, 8, 8, 8), forcedCounts: Int32Array.of(0, 0, 0, 1, 0) },
        ...{ forcedRoles: new Int32Array(5), states: new Int32Array(5), budgets: new Int32Array(5) },
      }),
  ],
  [
    'drawn',
    (placer) =>
      placer.appendDrawn(1, {
        ...{ tokens: Int32Array.of(8, 8, 8, 8, 8), counts: Int32Array.of(0, 0, 0, 1, 0) },
        logprobs: new Float32Array(5),
      }),
  ],
])('the same rows stay where they are until a token of the batch is %s', (_, change) => {
  const placer = new TokenPlacer({ rows: 5, length: T }, 3, 3, true);
  placer.load(RECORD);
  const rows = Int32Array.of(0, 2, 3);
  const before = placer.place(rows);
  const words = before.words.slice();
  expect(placer.place(rows.slice())).toBe(before);
  expect(placer.place(Int32Array.of(0, 3, 2))).not.toBe(before); // its words are overwritten, so the next are written again
  const again = placer.place(rows);
  expect(again).not.toBe(before);
  expect(again.words).toEqual(words);
  change(placer);
  expect(placer.place(rows)).not.toBe(again);
  expect(again.words).not.toEqual(words);
});
