import {
  plus,
  times,
  quotient,
  add,
  mul,
  shiftLeft,
  constant,
  loadUint16,
  loadAnywhere,
  load,
  type Integer,
  div,
  max,
  dotOfPairs,
  narrow,
  addIntegers,
  absolute,
  nearest,
  truncate,
  convert,
  integerLanes,
  shuffle,
  loadSplat,
  type Vector,
  type Local,
} from './instructions.ts';
import { routine, pointers, type Routine } from './routine.ts';
import { combineLanes, sumsOfFour } from './sums.ts';
import { widenFloat16 } from './float16Kernels.ts';
import { INTEGER_BLOCKS, BLOCK_SIZE, type IntegerFormat } from './integerBlocks.ts';
import { integerProductOfMany } from './integerProductsOfMany.ts';

const MAX_INT16 = 32_767;
/** So that a block of zeros isn't divided by 0. A block whose largest absolute value is smaller loses precision. */
const MIN_DIVISOR = 1e-30;
/**
 * The product y (n,o) = x (n,k) · wᵀ with weights in blocks of 32 integers. `x` is the output of `quantize`: int16
 * (n,k), then scales (n,k/32), then sums (n,k/32). For a block of four rows of w, the sums of integers are exact; they
 * are collected in one vector, then scaled and added. `stride` is bytes from one row of y to the next.
 */
const integerProduct = (name: IntegerFormat) =>
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

/** Rounds blocks of 32: int16 to `out`, their scale (float32) to `scaleAt`, the sum of the rounded block (float32, scaled) to `sumAt`. */
const quantize = routine(['out', 'scaleAt', 'sumAt', 'x', 'blocks'], 'quantize', (f, p) => {
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

/*
 * Computes y (n,o) = x (n,k) · wᵀ, where w (o,k) is packed in the format of its file. Blocks are widened in registers,
 * for up to two rows of x and four rows of w. As in matmulKernels.ts, the terms of an output are added in an order that
 * depends only on k. If weights are integers times a scale, activations are rounded to that form too: in each block of
 * 32, the largest absolute value becomes 32,767. Sums of products of integers are then exact.
 */

/** The formats without blocks. `loadFour` loads four weights as float32. */
const FLOAT_LOADERS = {
  F32: { bytes: 4, loadFour: (_: Routine, at: Integer, offset: number) => loadAnywhere(at, offset) },
  F16: { bytes: 2, loadFour: (f: Routine, at: Integer, offset: number) => widenFloat16(f, loadUint16(at, offset)) },
  BF16: { bytes: 2, loadFour: (_: Routine, at: Integer, offset: number) => shiftLeft(loadUint16(at, offset), 16) },
} as const;

/** Bytes of a weight, by name of the format without blocks. */
export const FLOAT_BYTES: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(FLOAT_LOADERS).map(([name, { bytes }]) => [name, bytes]),
);

/** Formats without blocks. k is a multiple of 4. `stride` is bytes from one row of y to the next. */
const floatProduct = (name: keyof typeof FLOAT_LOADERS) =>
  routine(['y', 'stride', 'x', 'w', 'n', 'o', 'k'], `product${name}`, (f, { y, stride, x, w, n, o, k }) => {
    const { bytes, loadFour } = FLOAT_LOADERS[name];
    const xRow = f.let(times(k, 4));
    const wRow = f.let(times(k, bytes));
    f.blocks(n, [2, 1], (i, rows) => {
      const xs = pointers(f, plus(x, times(i, k)), xRow, rows);
      const ys = pointers(f, plus(y, times(quotient(i, 4), stride)), stride, rows);
      f.blocks(o, [4, 1], (column, width) => {
        const ws = pointers(f, plus(w, times(quotient(column, 4), wRow)), wRow, width);
        const sums = xs.map(() => ws.map(() => f.let(constant(0))));
        const wAddresses = ws.map((from) => f.let(plus(from, 0)));
        f.blocks(k, [4], (c) => {
          const vectors = wAddresses.map((from) => f.let(loadFour(f, from, 0)));
          for (const [r, from] of xs.entries()) {
            const u = f.let(load(plus(from, c)));
            for (const [j, v] of vectors.entries()) f.set(sums[r]![j]!, add(sums[r]![j]!, mul(u, v)));
          }
          for (const from of wAddresses) f.set(from, plus(from, 4 * bytes));
        });
        for (const [r, yAddress] of ys.entries()) {
          const [a, b, c, d] = sums[r]!;
          const total = b && c && d ? sumsOfFour(f, [a!, b, c, d]) : combineLanes(f, a!, add);
          f.store(plus(yAddress, column), total, width);
        }
      });
    });
  });

export const FLOAT_FORMATS: ReadonlySet<string> = new Set(Object.keys(FLOAT_LOADERS));
export const INTEGER_FORMATS: ReadonlySet<string> = new Set(Object.keys(INTEGER_BLOCKS));

/** `quantize`, and `productNAME` (for integer formats `productNAMEOfMany` too) for each format. */
export const packedKernels = (): readonly Routine[] => [
  quantize,
  floatProduct('F32'),
  floatProduct('F16'),
  floatProduct('BF16'),
  integerProduct('Q4_0'),
  integerProduct('Q4_1'),
  integerProduct('Q8_0'),
  integerProductOfMany('Q4_0'),
  integerProductOfMany('Q4_1'),
  integerProductOfMany('Q8_0'),
];
