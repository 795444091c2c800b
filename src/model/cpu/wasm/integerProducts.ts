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
import { combineLanes } from './sums.ts';
import { BLOCK_SIZE, INTEGER_BLOCKS, type IntegerFormat } from './integerBlocks.ts';

/** The largest int16. */
const MAX_INT16 = 32_767;
/**
 * Smallest divisor, so that a block of zeros isn't divided by 0. A block whose largest absolute value is smaller loses
 * precision.
 */
const MIN_DIVISOR = 1e-30;
/**
 * The product y (n,o) = x (n,k) · wᵀ with weights in blocks of 32 integers. `x` is the output of `quantize`: int16
 * (n,k), then scales (n,k/32), then sums (n,k/32). For a block of four rows of w, the sums of integers are exact; they
 * are collected in one vector, then scaled and added. `stride` is bytes from one row of y to the next.
 */
export const integerProduct = (name: IntegerFormat) =>
  routine(['y', 'stride', 'x', 'w', 'n', 'o', 'k'], `product${name}`, (f, { y, stride, x, w, n, o, k }) => {
    const { bytes, scales, loadIntegers } = INTEGER_BLOCKS[name];
    const blocks = f.let(quotient(k, BLOCK_SIZE));
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
          const integerSums = xs.map(() => [] as Local<'v128'>[]);
          const xBlock = xs.map((from) => [0, 1, 2, 3].map((part) => f.let(load(from, 4, 16 * part))));
          for (const at of ws.slice(0, width)) {
            const parts = loadIntegers(f, at).map((v) => f.let(v));
            for (const r of xs.keys()) {
              const sum = parts.map((v, part) => dotOfPairs(v, xBlock[r]![part]!)).reduce((a, b) => addIntegers(a, b));
              integerSums[r]!.push(f.let(sum));
            }
          }
          const { scale, least } = scales(f, ws);
          const addends = least && f.let(least);
          for (const [r, total] of totals.entries()) {
            const [a, b = a, c = a, d = a] = integerSums[r]!;
            const sums = convert(integerSumsOfFour(f, [a!, b!, c!, d!]));
            f.set(total, add(total, mul(mul(sums, loadSplat(scaleAt[r]!)), scale)));
            if (addends) f.set(total, add(total, mul(loadSplat(sumAt[r]!), addends)));
            f.set(xs[r]!, plus(xs[r]!, 2 * BLOCK_SIZE));
            f.set(scaleAt[r]!, plus(scaleAt[r]!, 4));
            f.set(sumAt[r]!, plus(sumAt[r]!, 4));
          }
          for (const at of ws) f.set(at, plus(at, bytes));
        });
        const ys = pointers(f, plus(plus(y, column), times(row, stride)), stride, rows);
        for (const [r, address] of ys.entries()) f.store(address, totals[r]!, width);
      });
    });
  });

/** Sums the int32 lanes of each of four vectors. Returns a vector of the four sums. */
function integerSumsOfFour(f: Routine, [a, b, c, d]: readonly [Vector, Vector, Vector, Vector]): Vector {
  const low = f.let(addIntegers(shuffle(a, b, [0, 4, 1, 5]), shuffle(a, b, [2, 6, 3, 7])));
  const high = f.let(addIntegers(shuffle(c, d, [0, 4, 1, 5]), shuffle(c, d, [2, 6, 3, 7])));
  return addIntegers(shuffle(low, high, [0, 1, 4, 5]), shuffle(low, high, [2, 3, 6, 7]));
}

/**
 * Rounds x to int16 times a scale, in blocks of 32 numbers. Writes the int16 to `out`, the scale of each block
 * (float32) to `scaleAt`, and the sum of each rounded block (float32, with the scale) to `sumAt`.
 */
export const quantize = routine(['out', 'scaleAt', 'sumAt', 'x', 'blocks'], 'quantize', (f, p) => {
  const { out, scaleAt, sumAt, x, blocks } = p;
  f.loop(0, blocks, 1, () => {
    const vectors = Array.from({ length: BLOCK_SIZE / 4 }, (_, i) => f.let(load(x, 4, 16 * i)));
    const maxima = f.let(vectors.map(absolute).reduce((a, b) => max(a, b)));
    const largest = combineLanes(f, maxima, max);
    const scale = f.let(div(largest, constant(MAX_INT16)));
    // a block of zeros has the scale 0; its int16 are 0, because 0 times any number is 0
    const inverse = f.let(div(constant(MAX_INT16), max(largest, constant(MIN_DIVISOR))));
    const rounded = vectors.map((v) => f.let(truncate(nearest(mul(v, inverse)))));
    for (let i = 0; i < rounded.length; i += 2) f.store(out, narrow(rounded[i]!, rounded[i + 1]!), 4, 8 * i);
    const total = rounded.reduce<Vector>((a, b) => addIntegers(a, b), integerLanes(0, 0, 0, 0));
    const sum = f.let(convert(total));
    f.store(scaleAt, scale, 1);
    f.store(sumAt, mul(combineLanes(f, sum, add), scale), 1);
    f.set(x, plus(x, 4 * BLOCK_SIZE));
    f.set(out, plus(out, 2 * BLOCK_SIZE));
    f.set(scaleAt, plus(scaleAt, 4));
    f.set(sumAt, plus(sumAt, 4));
  });
});
