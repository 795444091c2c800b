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
import { acrossLanes, sumsOfFour } from './sums.ts';

/*
 * Both products compute tiles of outputs in registers, as many as the sixteen of x86 hold with what is loaded for them. An output's
 * terms are added in an order that depends on k alone, never on n: a row's result has the same bits whatever is computed with it.
 */

/** Rows of w that `matmulNT` works on before the next ones, and columns of w in `matmulAlong`: of wide matrices so much stays in a core's own cache. */
const NEAR_ROWS = 64;
const NEAR_COLUMNS = 32;

/** Walks over `count` in parts of `size`; `body` gets where each begins and how many it has. */
function parts(f: Routine, count: Integer, size: number, body: (from: Integer, some: Integer) => void): void {
  f.loop(0, count, size, (from) => {
    const left = f.let(minus(count, from));
    body(from, f.let(select(less(left, size), left, size)));
  });
}

/**
 * y (n,o) = x (n,k) · wᵀ, w (o,k): both rows lie along k, so lanes run along k; tiles of 2×4 outputs, whose eight vectors are
 * summed across lanes at the end. Lane l sums the terms k ≡ l mod 4 in ascending order, a rest of k %4 goes to lane 0. `out` is bytes
 * from one row of y to the next.
 */
export const matmulNT = routine(['y', 'out', 'x', 'w', 'n', 'o', 'k'], 'matmulNT', (f, { y, out, x, w, n, o, k }) => {
  const row = f.let(times(k, 4));
  parts(f, o, NEAR_ROWS, (from, some) => {
    f.loop(0, n, 2, (i) => {
      // an odd last row is computed twice and written twice, which needs no second loop
      const isPair = f.let(less(plus(i, 1), n));
      const x0 = f.let(plus(x, times(i, row)));
      const y0 = f.let(plus(plus(y, times(i, out)), times(from, 4)));
      const xs = [x0, f.let(plus(x0, select(isPair, row, 0)))];
      const ys = [y0, f.let(plus(y0, select(isPair, out, 0)))];
      f.blocks(some, [4, 1], (column, width) => {
        const first = f.let(plus(plus(w, times(from, row)), times(column, k)));
        const ws = Array.from({ length: width }, () => first);
        for (let j = 1; j < width; j++) ws[j] = f.let(plus(ws[j - 1]!, row));
        const sums = xs.map(() => ws.map(() => f.let(constant(0))));
        // one vector a turn: with two V8 computes the addresses by themselves, 27 instead of 40 GFLOP/s
        f.blocks(k, [4, 1], (c, lanes) => {
          const vectors = ws.map((at) => f.let(load(plus(at, c), lanes)));
          for (const [r, at] of xs.entries()) {
            const u = f.let(load(plus(at, c), lanes));
            for (const [j, v] of vectors.entries()) f.set(sums[r]![j]!, add(sums[r]![j]!, mul(u, v)));
          }
        });
        for (const [r, at] of ys.entries()) {
          const [a, b, c, d] = sums[r]!;
          const total = b && c && d ? sumsOfFour(f, [a!, b, c, d]) : acrossLanes(f, a!, add);
          f.store(plus(at, column), total, width);
        }
      });
    });
  });
});

/**
 * y (n,o) = Σ_c x[i·xRow + c·xStep] · w (k,o), plus what was in y where `keep` is not 0; strides in bytes, so that x may lie either
 * way round. Rows of w lie along o, so lanes run along o; tiles of 4×8 outputs, each summed over c in ascending order. `out` is bytes from one
 * row of y to the next, and of w.
 */
export const matmulAlong = (isFused: boolean) =>
  routine(
    ['y', 'out', 'x', 'xRow', 'xStep', 'w', 'n', 'o', 'k', 'keep'],
    'matmulAlong',
    (f, { y, out, x, xRow, xStep, w, n, o, k, keep }) => {
      const end = f.let(times(k, xStep));
      parts(f, o, NEAR_COLUMNS, (from, some) => {
        f.loop(0, n, 4, (i) => {
          // rows past the last are the last once more
          const rows = [0, 1, 2, 3].map((r) =>
            r === 0 ? i : f.let(select(less(plus(i, r), n), plus(i, r), minus(n, 1))),
          );
          const xs = rows.map((r) => f.let(plus(x, times(r, xRow))));
          const ys = rows.map((r) => f.let(plus(plus(y, times(r, out)), times(from, 4))));
          f.blocks(some, [8, 4, 1], (column, width) => {
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
              f.set(at, plus(at, out));
              f.set(c, plus(c, xStep));
            });
            const each = (step: (sum: (typeof sums)[0][0], r: number, part: number) => void) => {
              for (const [r, ofRow] of sums.entries())
                for (const [j, sum] of ofRow.entries()) step(sum, r, vectorsAt[j]!);
            };
            // all is read before anything is written: the rows may be one and the same
            f.when(keep, () => each((sum, r, part) => f.set(sum, add(load(plus(ys[r]!, column), lanes, part), sum))));
            each((sum, r, part) => f.store(plus(ys[r]!, column), sum, lanes, part));
          });
        });
      });
    },
  );
