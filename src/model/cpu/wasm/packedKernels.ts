import {
  plus,
  times,
  quotient,
  add,
  mul,
  shiftLeft,
  constant,
  loadHalves,
  loadAnywhere,
  load,
  type Integer,
} from './instructions.ts';
import { routine, pointers, type Routine } from './routine.ts';
import { acrossLanes, sumsOfFour } from './sums.ts';
import { widenHalves } from './halves.ts';
import { INTEGERS } from './integerBlocks.ts';
import { integerProduct, quantize } from './integerProducts.ts';
import { integerProductOfMany } from './integerProductsOfMany.ts';

/*
 * y (n,o) = x (n,k) · wᵀ where w (o,k) lies as a file packed it; each block is widened in registers, for two rows of x at most and four of w. As in
 * matmulKernels.ts an output's terms are added in an order that depends on k alone. Where weights are whole numbers times a scale, so
 * are activations: of each 32 the largest is 32,767, and the sum of products of whole numbers is exact.
 */

/** How each format of weights by themselves gives four of them from an address on. */
const FLOATS = {
  F32: { bytes: 4, four: (_: Routine, at: Integer, offset: number) => loadAnywhere(at, offset) },
  F16: { bytes: 2, four: (f: Routine, at: Integer, offset: number) => widenHalves(f, loadHalves(at, offset)) },
  BF16: { bytes: 2, four: (_: Routine, at: Integer, offset: number) => shiftLeft(loadHalves(at, offset), 16) },
} as const;

/** Bytes of a weight in each of them. */
export const FLOAT_BYTES: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(FLOATS).map(([name, { bytes }]) => [name, bytes]),
);

/** The product with weights that are numbers by themselves; k is a multiple of 4, `stride` is bytes from one row of y to the next. */
const floatProduct = (name: keyof typeof FLOATS) =>
  routine(['y', 'stride', 'x', 'w', 'n', 'o', 'k'], `product${name}`, (f, { y, stride, x, w, n, o, k }) => {
    const { bytes, four } = FLOATS[name];
    const xRow = f.let(times(k, 4));
    const wRow = f.let(times(k, bytes));
    f.blocks(n, [2, 1], (i, rows) => {
      const xs = pointers(f, plus(x, times(i, k)), xRow, rows);
      const ys = pointers(f, plus(y, times(quotient(i, 4), stride)), stride, rows);
      f.blocks(o, [4, 1], (column, width) => {
        const ws = pointers(f, plus(w, times(quotient(column, 4), wRow)), wRow, width);
        const sums = xs.map(() => ws.map(() => f.let(constant(0))));
        const at = ws.map((from) => f.let(plus(from, 0)));
        f.blocks(k, [4], (c) => {
          const vectors = at.map((from) => f.let(four(f, from, 0)));
          for (const [r, from] of xs.entries()) {
            const u = f.let(load(plus(from, c)));
            for (const [j, v] of vectors.entries()) f.set(sums[r]![j]!, add(sums[r]![j]!, mul(u, v)));
          }
          for (const from of at) f.set(from, plus(from, 4 * bytes));
        });
        for (const [r, to] of ys.entries()) {
          const [a, b, c, d] = sums[r]!;
          const total = b && c && d ? sumsOfFour(f, [a!, b, c, d]) : acrossLanes(f, a!, add);
          f.store(plus(to, column), total, width);
        }
      });
    });
  });

/** Formats of weights that are numbers by themselves, and those of whole numbers in blocks of 32 with a scale. */
export const FLOAT_FORMATS: ReadonlySet<string> = new Set(Object.keys(FLOATS));
export const INTEGER_FORMATS: ReadonlySet<string> = new Set(Object.keys(INTEGERS));

/** The kernels of this file: `quantize`, and one `productNAME` for each format. */
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
