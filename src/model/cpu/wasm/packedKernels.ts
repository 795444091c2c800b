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
} from './instructions.ts';
import { routine, pointers, type Routine } from './routine.ts';
import { combineLanes, sumsOfFour } from './sums.ts';
import { widenFloat16 } from './float16Kernels.ts';
import { INTEGER_BLOCKS } from './integerBlocks.ts';
import { integerProduct, quantize } from './integerProducts.ts';
import { integerProductOfMany } from './integerProductsOfMany.ts';

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

/**
 * The product with weights in a format without blocks. k is a multiple of 4. `stride` is bytes from one row of y to the
 * next.
 */
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

/** The names of the formats without blocks. */
export const FLOAT_FORMATS: ReadonlySet<string> = new Set(Object.keys(FLOAT_LOADERS));
/** The names of the formats with blocks of 32 integers and a scale. */
export const INTEGER_FORMATS: ReadonlySet<string> = new Set(Object.keys(INTEGER_BLOCKS));

/**
 * Builds the kernels for packed weights: `quantize`, and `productNAME` (and for integer formats `productNAMEOfMany`)
 * for each format.
 */
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
