import { widenHalves } from './halves.ts';
import {
  absolute,
  add,
  addIntegers,
  and,
  constant,
  convert,
  div,
  dotOfPairs,
  load,
  integerLanes,
  loadAnywhere,
  loadBytes,
  loadHalves,
  loadLane,
  loadSplat,
  loadUnsignedBytes,
  max,
  mul,
  narrow,
  nearest,
  plus,
  quotient,
  shiftLeft,
  shiftPairsRight,
  shiftRight,
  shuffle,
  splatInteger,
  times,
  truncate,
  type Integer,
  type Local,
  type Vector,
} from './instructions.ts';
import { routine, type Routine } from './routine.ts';
import { acrossLanes, sumsOfFour } from './sums.ts';

/*
 * y (n,o) = x (n,k) · wᵀ where w (o,k) lies as a file packed it; each block is widened in registers, for two rows of x at most and four of w. As in
 * matmulKernels.ts an output's terms are added in an order that depends on k alone. Where weights are whole numbers times a scale, so
 * are activations: of each 32 the largest is 32,767, and the sum of products of whole numbers is exact.
 */

/** Weights of a block, and activations with one scale. */
const BLOCK = 32;
/** The largest number of 16 bits. */
const MOST = 32_767;
/** Blocks of activations whose largest is below it are taken as 0. */
const LEAST = 1e-30;
/** How each format of weights by themselves gives four of them from an address on. */
const FLOATS = {
  F32: { bytes: 4, four: (_: Routine, at: Integer, offset: number) => loadAnywhere(at, offset) },
  F16: { bytes: 2, four: (f: Routine, at: Integer, offset: number) => widenHalves(f, loadHalves(at, offset)) },
  BF16: { bytes: 2, four: (_: Routine, at: Integer, offset: number) => shiftLeft(loadHalves(at, offset), 16) },
} as const;

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

/** `count` addresses, `step` bytes apart. */
function pointers(f: Routine, first: Integer, step: Integer, count: number): Local<'i32'>[] {
  const all = [f.let(plus(first, 0))];
  while (all.length < count) all.push(f.let(plus(all.at(-1)!, step)));
  return all;
}

/** Scales of the blocks at four addresses, and what is added to each weight, or null; each a lane of one vector. */
type Scales = (f: Routine, at: readonly Integer[]) => { readonly scale: Vector; readonly least: Vector | null };

const lanesOf = (bits: 16 | 32, at: readonly Integer[]) =>
  at.reduce<Vector>((v, from, i) => loadLane(bits, from, v, bits === 16 ? 2 * i : i), constant(0));

/** A half at the start of each block. */
const oneHalf: Scales = (f, at) => ({ scale: f.let(widenHalves(f, lanesOf(16, at))), least: null });

/** How formats of 32 whole numbers and a scale give the numbers of a block as four vectors of eight int16, in order. */
const INTEGERS = {
  Q4_0: {
    bytes: 18,
    scales: ((f, at) => {
      const scale = f.let(widenHalves(f, lanesOf(16, at)));
      return { scale, least: mul(scale, constant(-8)) };
    }) as Scales,
    eights: (f: Routine, at: Integer) => nibbles(f, at, 2),
  },
  Q4_1: {
    bytes: 20,
    scales: ((f, at) => {
      const words = f.let(lanesOf(32, at));
      const scale = f.let(widenHalves(f, and(words, splatInteger(0xffff))));
      return { scale, least: widenHalves(f, shiftRight(words, 16)) };
    }) as Scales,
    eights: (f: Routine, at: Integer) => nibbles(f, at, 4),
  },
  Q8_0: {
    bytes: 34,
    scales: oneHalf,
    eights: (_: Routine, at: Integer) => [2, 10, 18, 26].map((offset) => loadBytes(at, offset)),
  },
} as const;

/** 32 numbers of four bits: the low halves of sixteen bytes, then the high ones. */
function nibbles(f: Routine, at: Integer, offset: number): Vector[] {
  const [a, b] = [f.let(loadUnsignedBytes(at, offset)), f.let(loadUnsignedBytes(at, offset + 8))];
  const mask = splatInteger(0x000f_000f);
  return [and(a, mask), and(b, mask), shiftPairsRight(a, 4), shiftPairsRight(b, 4)];
}

/**
 * The product with blocks of 32 whole numbers: of x what `quantize` wrote. For each block of four rows of w, exact sums of whole numbers are brought
 * side by side, then scaled and added.
 */
const integerProduct = (name: keyof typeof INTEGERS) =>
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
          for (const at of ws.slice(0, width)) {
            const parts = eights(f, at).map((v) => f.let(v));
            for (const [r, from] of xs.entries()) {
              const sum = parts
                .map((v, part) => dotOfPairs(v, load(from, 4, 16 * part)))
                .reduce((a, b) => addIntegers(a, b));
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

/** Pairs of numbers in a block. */
const PAIRS = BLOCK / 2;
const VECTOR_BYTES = 16;

/**
 * The same for many rows of x, to the same bits: four rows of w are widened once, into `room`, pairs of their numbers side by side, so that a pair of x
 * in every lane gives sums for all four. Bytes of `room`: 8·k for the numbers, then k for scales and for what is added.
 */
const integerProductOfMany = (name: keyof typeof INTEGERS) =>
  routine(
    ['y', 'stride', 'x', 'w', 'n', 'o', 'k', 'room'],
    `product${name}OfMany`,
    (f, { y, stride, x, w, n, o, k, room }) => {
      const { bytes, scales, eights } = INTEGERS[name];
      const blocks = f.let(quotient(k, BLOCK));
      const wRow = f.let(times(blocks, bytes));
      const xRow = f.let(times(k, 2));
      const scaleRow = f.let(times(blocks, 4));
      const xScales = f.let(plus(x, times(n, xRow)));
      const xSums = f.let(plus(xScales, times(n, scaleRow)));
      const roomScales = f.let(plus(room, times(k, 8)));
      const hasLeast = name !== 'Q8_0';
      f.blocks(o, [4, 1], (column, width) => {
        const first = f.let(plus(w, times(quotient(column, 4), wRow)));
        const ws = pointers(f, first, width === 1 ? 0 : wRow, 4);
        const to = f.let(plus(room, 0));
        const scaleTo = f.let(plus(roomScales, 0));
        f.loop(0, blocks, 1, () => {
          const rows = ws.map((at) => eights(f, at).map((v) => f.let(v)));
          for (let part = 0; part < 4; part++) {
            const [a, b, c, d] = rows.map((row) => row[part]!);
            for (const [pair, v] of transposed(f, [a!, b!, c!, d!]).entries()) {
              f.store(to, v, 4, VECTOR_BYTES * (4 * part + pair));
            }
          }
          const { scale, least } = scales(f, ws);
          f.store(scaleTo, scale);
          if (least) f.store(scaleTo, least, 4, VECTOR_BYTES);
          f.set(to, plus(to, VECTOR_BYTES * PAIRS));
          f.set(scaleTo, plus(scaleTo, 2 * VECTOR_BYTES));
          for (const at of ws) f.set(at, plus(at, bytes));
        });
        f.blocks(n, [4, 1], (i, rows) => {
          const row = f.let(quotient(i, 4));
          const xs = pointers(f, plus(x, times(row, xRow)), xRow, rows);
          const scaleAt = f.let(plus(xScales, times(row, scaleRow)));
          const sumAt = f.let(plus(xSums, times(row, scaleRow)));
          const from = f.let(plus(room, 0));
          const totals = xs.map(() => f.let(constant(0)));
          f.loop(0, blocks, 1, (block) => {
            const sums = xs.map(() => f.let(integerLanes(0, 0, 0, 0)));
            for (let pair = 0; pair < PAIRS; pair++) {
              const v = f.let(load(from, 4, VECTOR_BYTES * pair));
              for (const [r, at] of xs.entries()) {
                f.set(sums[r]!, addIntegers(sums[r]!, dotOfPairs(v, loadSplat(at, 4 * pair))));
              }
            }
            const scaleFrom = f.let(plus(roomScales, times(block, 2 * VECTOR_BYTES)));
            const scale = f.let(load(scaleFrom));
            for (const [r, total] of totals.entries()) {
              const ofRow = times(scaleRow, r);
              const scaled = mul(mul(convert(sums[r]!), loadSplat(plus(scaleAt, ofRow))), scale);
              f.set(total, add(total, scaled));
              if (hasLeast) {
                f.set(total, add(total, mul(loadSplat(plus(sumAt, ofRow)), load(scaleFrom, 4, VECTOR_BYTES))));
              }
              f.set(xs[r]!, plus(xs[r]!, 2 * BLOCK));
            }
            f.set(from, plus(from, VECTOR_BYTES * PAIRS));
            f.set(scaleAt, plus(scaleAt, 4));
            f.set(sumAt, plus(sumAt, 4));
          });
          const ys = pointers(f, plus(plus(y, column), times(row, stride)), stride, rows);
          for (const [r, at] of ys.entries()) f.store(at, totals[r]!, width);
        });
      });
    },
  );

/** Lane r of four vectors side by side in vector r. */
function transposed(f: Routine, [a, b, c, d]: readonly [Vector, Vector, Vector, Vector]): Vector[] {
  const [ab, cd] = [f.let(shuffle(a, b, [0, 4, 1, 5])), f.let(shuffle(c, d, [0, 4, 1, 5]))];
  const [abHigh, cdHigh] = [f.let(shuffle(a, b, [2, 6, 3, 7])), f.let(shuffle(c, d, [2, 6, 3, 7]))];
  return [
    shuffle(ab, cd, [0, 1, 4, 5]),
    shuffle(ab, cd, [2, 3, 6, 7]),
    shuffle(abHigh, cdHigh, [0, 1, 4, 5]),
    shuffle(abHigh, cdHigh, [2, 3, 6, 7]),
  ];
}

/** The sums of the int32 lanes of four vectors, one in each lane. */
function integerSumsOfFour(f: Routine, [a, b, c, d]: readonly [Vector, Vector, Vector, Vector]): Vector {
  const low = f.let(addIntegers(shuffle(a, b, [0, 4, 1, 5]), shuffle(a, b, [2, 6, 3, 7])));
  const high = f.let(addIntegers(shuffle(c, d, [0, 4, 1, 5]), shuffle(c, d, [2, 6, 3, 7])));
  return addIntegers(shuffle(low, high, [0, 1, 4, 5]), shuffle(low, high, [2, 3, 6, 7]));
}

/**
 * Writes x (n,k), k a multiple of 32, in 16 bits: int16 (n,k), then float32 (n,k/32) of what each 32 are multiples of, then (n,k/32) of the sums
 * of each 32 as they are then.
 */
const quantize = routine(['out', 'x', 'n', 'k'], 'quantize', (f, { out, x, n, k }) => {
  const blocks = f.let(times(n, quotient(k, BLOCK)));
  const scaleAt = f.let(plus(out, times(n, times(k, 2))));
  const sumAt = f.let(plus(scaleAt, times(blocks, 4)));
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
