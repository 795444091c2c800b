import {
  plus,
  times,
  quotient,
  add,
  mul,
  div,
  max,
  dotOfPairs,
  narrow,
  addIntegers,
  absolute,
  nearest,
  truncate,
  convert,
  constant,
  integerLanes,
  shuffle,
  load,
  loadSplat,
  type Vector,
  type Local,
} from './instructions.ts';
import { routine, pointers, type Routine } from './routine.ts';
import { acrossLanes } from './sums.ts';
import { BLOCK, INTEGERS, type IntegerFormat } from './integerBlocks.ts';

/** The largest signed integer of 16 bits. */
const MOST = 32_767;
/** The least divisor: it keeps a block of zeros from dividing by 0. A block whose largest absolute value is smaller loses precision. */
const LEAST = 1e-30;
/**
 * The product with blocks of 32 whole numbers: of x (n,k) what `quantize` wrote, int16 (n,k), then scales (n,k/32), then sums (n,k/32). For each block of four rows of w, exact sums of whole numbers are brought
 * side by side, then scaled and added.
 */
export const integerProduct = (name: IntegerFormat) =>
  routine(['y', 'stride', 'x', 'w', 'n', 'o', 'k'], `product${name}`, (f, { y, stride, x, w, n, o, k }) => {
    const { bytes, scales, eights } = INTEGERS[name];
    const blocks = f.let(quotient(k, BLOCK));
    const wRow = f.let(times(blocks, bytes));
    const xRow = f.let(times(k, 2));
    const scaleRow = f.let(times(blocks, 4));
    const xScales = f.let(plus(x, times(n, xRow)));
    const xSums = f.let(plus(xScales, times(n, scaleRow)));
    f.blocks(n, [2, 1], (i, rows) => {
      const row = f.let(quotient(i, 4));
      f.blocks(o, [4, 1], (column, width) => {
        const first = f.let(plus(w, times(quotient(column, 4), wRow)));
        const ws = pointers(f, first, width === 1 ? 0 : wRow, 4);
        const xs = pointers(f, plus(x, times(row, xRow)), xRow, rows);
        const scaleAt = pointers(f, plus(xScales, times(row, scaleRow)), scaleRow, rows);
        const sumAt = pointers(f, plus(xSums, times(row, scaleRow)), scaleRow, rows);
        const totals = xs.map(() => f.let(constant(0)));
        f.loop(0, blocks, 1, () => {
          const whole = xs.map(() => [] as Local<'v128'>[]);
          const block = xs.map((from) => [0, 1, 2, 3].map((part) => f.let(load(from, 4, 16 * part))));
          for (const at of ws.slice(0, width)) {
            const parts = eights(f, at).map((v) => f.let(v));
            for (const r of xs.keys()) {
              const sum = parts.map((v, part) => dotOfPairs(v, block[r]![part]!)).reduce((a, b) => addIntegers(a, b));
              whole[r]!.push(f.let(sum));
            }
          }
          const { scale, least } = scales(f, ws);
          const lows = least && f.let(least);
          for (const [r, total] of totals.entries()) {
            const [a, b = a, c = a, d = a] = whole[r]!;
            const sums = convert(integerSumsOfFour(f, [a!, b!, c!, d!]));
            f.set(total, add(total, mul(mul(sums, loadSplat(scaleAt[r]!)), scale)));
            if (lows) f.set(total, add(total, mul(loadSplat(sumAt[r]!), lows)));
            f.set(xs[r]!, plus(xs[r]!, 2 * BLOCK));
            f.set(scaleAt[r]!, plus(scaleAt[r]!, 4));
            f.set(sumAt[r]!, plus(sumAt[r]!, 4));
          }
          for (const at of ws) f.set(at, plus(at, bytes));
        });
        const ys = pointers(f, plus(plus(y, column), times(row, stride)), stride, rows);
        for (const [r, to] of ys.entries()) f.store(to, totals[r]!, width);
      });
    });
  });

/** The sums of the int32 lanes of four vectors, one in each lane. */
function integerSumsOfFour(f: Routine, [a, b, c, d]: readonly [Vector, Vector, Vector, Vector]): Vector {
  const low = f.let(addIntegers(shuffle(a, b, [0, 4, 1, 5]), shuffle(a, b, [2, 6, 3, 7])));
  const high = f.let(addIntegers(shuffle(c, d, [0, 4, 1, 5]), shuffle(c, d, [2, 6, 3, 7])));
  return addIntegers(shuffle(low, high, [0, 1, 4, 5]), shuffle(low, high, [2, 3, 6, 7]));
}

/**
 * Rounds x, in blocks of 32 numbers, to int16. Writes the int16 to `out`, each block's scale (float32, its numbers are multiples of it) to `scaleAt`,
 * and the sum of each rounded block (float32) to `sumAt`.
 */
export const quantize = routine(['out', 'scaleAt', 'sumAt', 'x', 'blocks'], 'quantize', (f, p) => {
  const { out, scaleAt, sumAt, x, blocks } = p;
  f.loop(0, blocks, 1, () => {
    const vectors = Array.from({ length: BLOCK / 4 }, (_, i) => f.let(load(x, 4, 16 * i)));
    const most = f.let(vectors.map(absolute).reduce((a, b) => max(a, b)));
    const top = acrossLanes(f, most, max);
    const scale = f.let(div(top, constant(MOST)));
    // a block of zeros has the scale 0, and 0/tiny is 0
    const inverse = f.let(div(constant(MOST), max(top, constant(LEAST))));
    const whole = vectors.map((v) => f.let(truncate(nearest(mul(v, inverse)))));
    for (let i = 0; i < whole.length; i += 2) f.store(out, narrow(whole[i]!, whole[i + 1]!), 4, 8 * i);
    const total = whole.reduce<Vector>((a, b) => addIntegers(a, b), integerLanes(0, 0, 0, 0));
    const sum = f.let(convert(total));
    f.store(scaleAt, scale, 1);
    f.store(sumAt, mul(acrossLanes(f, sum, add), scale), 1);
    f.set(x, plus(x, 4 * BLOCK));
    f.set(out, plus(out, 2 * BLOCK));
    f.set(scaleAt, plus(scaleAt, 4));
    f.set(sumAt, plus(sumAt, 4));
  });
});
