import { expect, test } from 'vitest';
import { random, Purpose } from '../../src/base/rng.ts';
import { type TokenTree, tokenTrees, restrictTargets } from '../../src/model/learning/tokenTree.ts';
import type { Batch } from '../../src/model/learning/batchArrays.ts';

const LENGTH = 5;
const ROWS = [
  [7, 8, 9, 1],
  [5, 5, 5, 5], // nothing of it is wanted
  [7, 8, 9, 2, 3],
  [6, 8, 9],
  [7, 8, 9, 2, 4],
];

function trees(most: number, share: boolean) {
  const tokens = new Int32Array(ROWS.length * LENGTH);
  const wanted = new Float32Array(tokens.length);
  ROWS.forEach((row, b) => {
    tokens.set(row, b * LENGTH);
    if (b !== 1) wanted.fill(1, b * LENGTH, b * LENGTH + row.length);
  });
  const batch = {
    ...{ rows: ROWS.length, length: LENGTH, tokens, states: new Int32Array(tokens.length) },
    lengths: Int32Array.from(ROWS, ({ length }) => length),
    contextStarts: new Int32Array(tokens.length),
  } as unknown as Batch;
  return tokenTrees(batch, Int32Array.from(ROWS.keys()), { head: [wanted], value: [wanted] }, most, share);
}

/** The tokens before each wanted place, by the nodes that lead there, and the token scored after them. */
const scored = (built: ReturnType<typeof trees>) =>
  built.flatMap(({ targets, tokens }) =>
    Array.from({ length: targets.count }, (_, j) => ({
      places: targets.batchIndexLists[j]!,
      before: tokens[targets.positions[j]!],
      token: targets.tokens[j],
    })),
  );

test.each([
  // [6 8] and [7 8 9] and [2] after it: a row's last token is read by nobody
  [100, true, [6]],
  // at most four nodes: a row that does not fit begins a tree of its own, and the next shares with that one
  [4, true, [2, 4]],
  [4, false, [2, 3, 4, 4]],
] as const)(
  'rows as trees of %i nodes, shared: %s, and every place is scored after its own token',
  (most, share, counts) => {
    const built = trees(most, share);
    expect(built.map(({ count }) => count)).toEqual(counts);
    const found = scored(built);
    const places = found.flatMap((target) => target.places).sort((a, b) => a - b);
    expect(places).toEqual([1, 2, 3, 11, 12, 13, 14, 16, 17, 21, 22, 23, 24]);
    for (const { places: of, before, token } of found) {
      for (const place of of) {
        const row = ROWS[Math.floor(place / LENGTH)]!;
        expect([before, token]).toEqual([row[(place % LENGTH) - 1], row[place % LENGTH]]);
      }
    }
  },
);

/** 150 batches of short rows over two tokens and two states, many of which begin as the first; a third of their places are wanted. */
const BATCHES = Array.from({ length: 150 }, (_, seed) => {
  const { int } = random(seed, Purpose.environment);
  const [rows, length] = [1 + int(5), 2 + int(5)];
  const draw = () => {
    const drawn = Int32Array.from({ length: rows * length }, () => int(2));
    for (let r = 1; r < rows; r++) drawn.set(drawn.subarray(0, int(length + 1)), r * length);
    return drawn;
  };
  const lengths = Int32Array.from({ length: rows }, () => 1 + int(length));
  const marked = () => {
    const mask = new Float32Array(rows * length);
    for (let r = 0; r < rows; r++) for (let t = 0; t < lengths[r]!; t++) mask[r * length + t] = Number(int(3) === 0);
    return mask;
  };
  const contextStarts = new Int32Array(rows * length); // a context starts at a third of the tokens
  for (let i = 0; i < rows * length; i++)
    contextStarts[i] = i % length === 0 || int(3) === 0 ? i % length : contextStarts[i - 1]!;
  const batch = { rows, length, tokens: draw(), states: Uint8Array.from(draw()), lengths, contextStarts } as unknown as Batch; // prettier-ignore
  const [head, other, value] = [marked(), marked(), marked()];
  return { batch, wanted: { head: [head, other], value: [value] }, most: length + int(8), share: int(4) > 0 };
});

/** What lies before a node and at it, read by the table that attention reads. */
const pathOf = ({ tokens, positions, first, table }: TokenTree, node: number) => {
  const nodes = Array.from({ length: positions[node]! + 1 }, (_, p) => table[first[node]! + p]!);
  expect([nodes.at(-1), ...nodes.map((each) => positions[each])]).toEqual([node, ...nodes.keys()]);
  return nodes.map((each) => tokens[each]);
};

/** Places of the trees' targets and values, each of which stands behind the beginning of its own row. */
function placesOf(built: readonly TokenTree[], batch: Batch) {
  const startOf = (place: number) => place - (place % batch.length) + batch.contextStarts[place]!;
  const beginningOf = (place: number) => Array.from(batch.tokens.subarray(startOf(place), place));
  const heads = built.flatMap((tree) =>
    tree.targets.batchIndexLists.flatMap((places, j) => {
      for (const place of places) {
        expect(pathOf(tree, tree.targets.positions[j]!)).toEqual(beginningOf(place));
        expect([batch.tokens[place], batch.states[place]]).toEqual([tree.targets.tokens[j], tree.targets.states[j]]);
      }
      return places;
    }),
  );
  const values = built.flatMap(({ values: { batchIndices, positions, count }, ...tree }) => {
    expect(batchIndices).toHaveLength(count);
    batchIndices.forEach((place, j) => expect(pathOf(tree as TokenTree, positions[j]!)).toEqual(beginningOf(place)));
    return Array.from(batchIndices);
  });
  return [heads, values].map((places) => places.sort((a, b) => a - b));
}
const wantedPlaces = ({ length, lengths, contextStarts }: Batch, masks: readonly Float32Array[]) =>
  Array.from(masks[0]!.keys()).filter((place) => {
    const t = place % length;
    return (
      t > contextStarts[place]! && t < lengths[Math.floor(place / length)]! && masks.some((mask) => mask[place] !== 0)
    );
  });

test('of any batch each wanted place is scored once, behind the beginning of its own context, in trees of so many nodes at most', () => {
  let merged = 0;
  for (const { batch, wanted, most, share } of BATCHES) {
    const rows = Int32Array.from({ length: batch.rows }, (_, row) => row);
    const built = tokenTrees(batch, rows, wanted, most, share);
    const want = [wantedPlaces(batch, wanted.head), wantedPlaces(batch, wanted.value)];
    expect(placesOf(built, batch)).toEqual(want);
    for (const tree of built) {
      const { count, tokens, positions, targets } = tree;
      expect([tokens.length, positions.length, tree.first.length]).toEqual([count, count, count]);
      expect(count).toBeLessThanOrEqual(most);
      expect([targets.batchIndexLists.length, targets.tokens.length, targets.states.length]).toEqual(Array(3).fill(targets.count)); // prettier-ignore
      const each = Array.from(targets.batchIndexLists, (_, j) => `${targets.positions[j]} ${targets.tokens[j]} ${targets.states[j]}`); // prettier-ignore
      if (share) expect(new Set(each).size).toBe(each.length); // what is scored behind one node is scored once
      else expect(targets.batchIndexLists.every((places) => places.length === 1)).toBe(true);
      merged += targets.batchIndexLists.filter((places) => places.length > 1).length;
    }
    // the tree of all tokens, of which fewer are wanted afterwards
    const all = tokenTrees(batch, rows, { head: null, value: null }, 1000, share);
    const fewer = all.map((tree) => restrictTargets(tree, wanted));
    expect(placesOf(fewer, batch)).toEqual(want);
    for (const { targets, values } of fewer) {
      expect(targets.batchIndexLists.every((places) => places.length > 0)).toBe(true);
      expect([targets.count, targets.positions.length, values.positions.length]).toEqual([targets.batchIndexLists.length, targets.tokens.length, values.count]); // prettier-ignore
    }
  }
  expect(merged).toBeGreaterThan(20);
});

test('a tree is divided into parts of whole rows, which share nothing and compute few tokens again', () => {
  const [groups, group, shared, own] = [8, 4, 60, 20];
  const [rows, length] = [groups * group, shared + own];
  const tokens = Int32Array.from({ length: rows * length }, (_, i) => i);
  for (let b = 0; b < rows; b++) {
    const leader = (b - (b % group)) * length;
    tokens.set(tokens.slice(leader, leader + shared), b * length);
  }
  const lengths = new Int32Array(rows).fill(length);
  const batch = {
    rows,
    length,
    tokens,
    states: new Uint8Array(rows * length),
    lengths,
    contextStarts: new Int32Array(rows * length),
  } as unknown as Batch;
  const of = (count: number) => Int32Array.from({ length: count }, (_, row) => row);
  const divided = (count: number, share = true) => {
    const built = tokenTrees(batch, of(count), { head: null, value: null }, 1e6, share, 8);
    expect(built).toHaveLength(1);
    const tree = built[0]!;
    let [from, pairs] = [0, 0];
    for (const [index, part] of tree.parts.entries()) {
      expect(part).toMatchObject({ index, from, pairsBefore: pairs });
      for (let node = from; node < from + part.count; node++) {
        const place = tree.first[node]! + tree.positions[node]!;
        expect(tree.table[place]).toBe(node - from); // from the beginning of its part
        pairs += tree.positions[node]! + 1;
      }
      from += part.count;
    }
    expect(tree.count).toBe(from);
    expect(tree.unsharedCount).toBe(count * (length - 1));
    return tree;
  };
  const nodes = shared + group * (own - 1);
  // a part for each group: nothing runs twice
  expect(divided(rows).parts.map(({ count }) => count)).toEqual(new Array(8).fill(nodes));
  // two groups: a cut between them; one within a group would cost sixty tokens of 272
  expect(divided(2 * group).parts.map(({ count }) => count)).toEqual([nodes, nodes]);
  // one group is not worth a cut
  expect(divided(group).parts).toHaveLength(1);
  expect(divided(rows, false).parts.map(({ count }) => count)).toEqual(new Array(8).fill(4 * (length - 1)));
});

test('rows of which nothing is wanted, and rows of one token, make no tree', () => {
  const batch = { rows: 1, length: 3, tokens: new Int32Array(3), states: new Uint8Array(3), lengths: Int32Array.of(3), contextStarts: new Int32Array(3) } as unknown as Batch; // prettier-ignore
  const rows = Int32Array.of(0);
  const firstOnly = [Float32Array.of(1, 0, 0)]; // nothing lies before it
  expect(tokenTrees(batch, rows, { head: [], value: [] }, 9, true)).toEqual([]);
  expect(tokenTrees(batch, rows, { head: firstOnly, value: firstOnly }, 9, true)).toEqual([]);
  expect(tokenTrees({ ...batch, lengths: Int32Array.of(1) }, rows, { head: null, value: null }, 9, true)).toEqual([]);
});
