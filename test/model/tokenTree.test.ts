import { expect, test } from 'vitest';
import { tokenTrees } from '../../src/model/cpu/adapters/tokenTree.ts';
import type { Batch } from '../../src/model/cpu/batchArrays.ts';

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
  } as unknown as Batch;
  return tokenTrees(batch, Int32Array.from(ROWS.keys()), { head: [wanted], value: [wanted] }, most, share);
}

/** The tokens before each wanted place, by the nodes that lead there, and the token scored after them. */
const scored = (built: ReturnType<typeof trees>) =>
  built.flatMap(({ targets, tokens }) =>
    Array.from({ length: targets.count }, (_, j) => ({
      places: targets.placesOf[j]!,
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
