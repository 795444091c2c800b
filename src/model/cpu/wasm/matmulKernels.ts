import {
  add,
  integer,
  less,
  load,
  loadSplat,
  minus,
  mul,
  multiplyAdd,
  plus,
  select,
  times,
  constant,
  type Integer,
  type Lanes,
} from './instructions.ts';
import { routine, type Routine } from './routine.ts';
import { combineLanes, sumsOfFour } from './sums.ts';

/*
 * Both products compute tiles of outputs in registers. A tile is as large as the sixteen registers of x86 allow,
 * together with the loaded factors. The terms of an output are added in an order that depends only on k, never on n. So
 * a row's result has the same bits, whichever rows are computed together with it.
 */

/** Rows of w that `matmulNT` multiplies with all of x before it goes on; they stay in a core's own cache. */
const CACHED_ROWS = 64;
/** Columns of w that `matmulAlong` multiplies with all of x before it goes on, for the same reason. */
const CACHED_COLUMNS = 32;

/** Loops over `count` items in parts of `size`. `body` gets the first item and the number of items of each part. */
function loopInParts(
  f: Routine,
  count: Integer,
  size: number,
  body: (from: Integer, partCount: Integer) => void,
): void {
  f.loop(0, count, size, (from) => {
    const remaining = f.let(minus(count, from));
    body(from, f.let(select(less(remaining, size), remaining, size)));
  });
}

/**
 * Computes y (n,o) = x (n,k) · wᵀ, w (o,k). Rows of x and w both lie along k, so lanes run along k. A tile has 2×4
 * outputs; the lanes of its eight vectors are summed at the end. Lane l sums the terms with index ≡ l mod 4 in
 * ascending order; the last k % 4 terms go to lane 0. `yRow` is bytes from one row of y to the next.
 */
export const matmulNT = routine(['y', 'yRow', 'x', 'w', 'n', 'o', 'k'], 'matmulNT', (f, { y, yRow, x, w, n, o, k }) => {
  const row = f.let(times(k, 4));
  loopInParts(f, o, CACHED_ROWS, (from, partCount) => {
    f.loop(0, n, 2, (i) => {
      // with an odd n, the last row is computed and written twice, which saves a second loop
      const isPair = f.let(less(plus(i, 1), n));
      const x0 = f.let(plus(x, times(i, row)));
      const y0 = f.let(plus(plus(y, times(i, yRow)), times(from, 4)));
      const xs = [x0, f.let(plus(x0, select(isPair, row, 0)))];
      const ys = [y0, f.let(plus(y0, select(isPair, yRow, 0)))];
      f.blocks(partCount, [4, 1], (column, width) => {
        const first = f.let(plus(plus(w, times(from, row)), times(column, k)));
        const ws = Array.from({ length: width }, () => first);
        for (let j = 1; j < width; j++) ws[j] = f.let(plus(ws[j - 1]!, row));
        const sums = xs.map(() => ws.map(() => f.let(constant(0))));
        // one vector per iteration (40 GFLOP/s): with two, V8 computes addresses in extra instructions (27 GFLOP/s)
        f.blocks(k, [4, 1], (c, lanes) => {
          const vectors = ws.map((at) => f.let(load(plus(at, c), lanes)));
          for (const [r, at] of xs.entries()) {
            const u = f.let(load(plus(at, c), lanes));
            for (const [j, v] of vectors.entries()) f.set(sums[r]![j]!, add(sums[r]![j]!, mul(u, v)));
          }
        });
        for (const [r, at] of ys.entries()) {
          const [a, b, c, d] = sums[r]!;
          const total = b && c && d ? sumsOfFour(f, [a!, b, c, d]) : combineLanes(f, a!, add);
          f.store(plus(at, column), total, width);
        }
      });
    });
  });
});

/**
 * Computes y (n,o) = Σ_c x[i·xRow + c·xStep] · w (k,o), or adds it to y if `accumulate` is not 0. The strides of x are
 * in bytes, so x can be transposed. Rows of w lie along o, so lanes run along o. A tile has 4×8 outputs, each summed
 * over c in ascending order. `yRow` is bytes from one row of y to the next, and from one row of w to the next.
 */
export const matmulAlong = (isFused: boolean) =>
  routine(
    ['y', 'yRow', 'x', 'xRow', 'xStep', 'w', 'n', 'o', 'k', 'accumulate'],
    'matmulAlong',
    (f, { y, yRow, x, xRow, xStep, w, n, o, k, accumulate }) => {
      const end = f.let(times(k, xStep));
      loopInParts(f, o, CACHED_COLUMNS, (from, partCount) => {
        f.loop(0, n, 4, (i) => {
          // instead of rows past the last, the last row is used again
          const rows = [0, 1, 2, 3].map((r) =>
            r === 0 ? i : f.let(select(less(plus(i, r), n), plus(i, r), minus(n, 1))),
          );
          const xs = rows.map((r) => f.let(plus(x, times(r, xRow))));
          const ys = rows.map((r) => f.let(plus(plus(y, times(r, yRow)), times(from, 4))));
          f.blocks(partCount, [8, 4, 1], (column, width) => {
            const lanes: Lanes = width === 1 ? 1 : 4;
            const vectorsAt = Array.from({ length: width / lanes }, (_, part) => 4 * lanes * part);
            const sums = xs.map(() => vectorsAt.map(() => f.let(constant(0))));
            const at = f.let(plus(plus(w, times(from, 4)), column));
            const c = f.let(integer(0));
            f.while(less(c, end), () => {
              const vectors = vectorsAt.map((part) => f.let(load(at, lanes, part)));
              for (const [r, from] of xs.entries()) {
                const u = f.let(loadSplat(plus(from, c)));
                for (const [j, v] of vectors.entries()) {
                  const sum = sums[r]![j]!;
                  f.set(sum, multiplyAdd(isFused)(sum, u, v));
                }
              }
              f.set(at, plus(at, yRow));
              f.set(c, plus(c, xStep));
            });
            const forEachSum = (visit: (sum: (typeof sums)[0][0], r: number, part: number) => void) => {
              for (const [r, ofRow] of sums.entries())
                for (const [j, sum] of ofRow.entries()) visit(sum, r, vectorsAt[j]!);
            };
            // reads all rows before it writes any, because some of them may be the same row
            f.when(accumulate, () =>
              forEachSum((sum, r, part) => f.set(sum, add(load(plus(ys[r]!, column), lanes, part), sum))),
            );
            forEachSum((sum, r, part) => f.store(plus(ys[r]!, column), sum, lanes, part));
          });
        });
      });
    },
  );
