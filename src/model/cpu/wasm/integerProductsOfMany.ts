import {
  plus,
  times,
  quotient,
  add,
  mul,
  dotOfPairs,
  addIntegers,
  convert,
  constant,
  integerLanes,
  shuffle,
  load,
  loadSplat,
  type Vector,
  type Integer,
  type Local,
} from './instructions.ts';
import { routine, pointers, type Routine } from './routine.ts';
import { BLOCK, INTEGERS, type IntegerFormat } from './integerBlocks.ts';

/** Pairs of numbers in a block. */
const PAIRS = BLOCK / 2;
const VECTOR_BYTES = 16;
/** Of four rows' blocks, widened, and of their scales with what is added to each weight. */
const WIDE_BYTES = VECTOR_BYTES * PAIRS;
const SCALES_BYTES = 2 * VECTOR_BYTES;
/** Bytes that a column of the four takes, with its part of their scales. */
export const WIDENED_BYTES = (WIDE_BYTES + SCALES_BYTES) / BLOCK;

/**
 * The product of `integerProduct` for many rows of x, to the same bits: four rows of w are widened once, into `room`, pairs of their numbers side by side,
 * so that a pair of x in every lane gives sums for all four. Bytes of `room`: 8·k for the numbers, then k for scales and for what is added.
 */
export const integerProductOfMany = (name: IntegerFormat) =>
  routine(
    ['y', 'stride', 'x', 'w', 'n', 'o', 'k', 'room'],
    `product${name}OfMany`,
    (f, { y, stride, x, w, n, o, k, room }) => {
      const blocks = f.let(quotient(k, BLOCK));
      const wRow = f.let(times(blocks, INTEGERS[name].bytes));
      const xRow = f.let(times(k, 2));
      const scaleRow = f.let(times(blocks, 4));
      const xScales = f.let(plus(x, times(n, xRow)));
      const xSums = f.let(plus(xScales, times(n, scaleRow)));
      const scales = f.let(plus(room, times(blocks, WIDE_BYTES)));
      f.blocks(o, [4, 1], (column, width) => {
        const first = f.let(plus(w, times(quotient(column, 4), wRow)));
        widenBlocks(f, name, pointers(f, first, width === 1 ? 0 : wRow, 4), blocks, room, scales);
        f.blocks(n, [4, 1], (i, rows) => {
          const row = f.let(quotient(i, 4));
          const xs = pointers(f, plus(x, times(row, xRow)), xRow, rows);
          const scaleAt = pointers(f, plus(xScales, times(row, scaleRow)), scaleRow, rows);
          const sumAt = pointers(f, plus(xSums, times(row, scaleRow)), scaleRow, rows);
          const totals = multiplied(f, name, { xs, scaleAt, sumAt }, blocks, room, scales);
          const ys = pointers(f, plus(plus(y, column), times(row, stride)), stride, rows);
          for (const [r, at] of ys.entries()) f.store(at, totals[r]!, width);
        });
      });
    },
  );

/** Writes the blocks of four rows at `ws`, which move behind them: of each pair of columns four pairs of int16, then the four scales and what is added. */
function widenBlocks(
  f: Routine,
  name: IntegerFormat,
  ws: readonly Local<'i32'>[],
  blocks: Integer,
  room: Integer,
  roomScales: Integer,
): void {
  const { bytes, scales, eights } = INTEGERS[name];
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
    f.set(to, plus(to, WIDE_BYTES));
    f.set(scaleTo, plus(scaleTo, SCALES_BYTES));
    for (const at of ws) f.set(at, plus(at, bytes));
  });
}

/** Rows of x as `quantize` wrote them, by where each row's numbers, scales and sums are. */
interface Quantized {
  readonly xs: readonly Local<'i32'>[];
  readonly scaleAt: readonly Local<'i32'>[];
  readonly sumAt: readonly Local<'i32'>[];
}

/** The products of each row of x, which move behind them, with the four widened rows: a vector of four. */
function multiplied(
  f: Routine,
  name: IntegerFormat,
  { xs, scaleAt, sumAt }: Quantized,
  blocks: Integer,
  room: Integer,
  roomScales: Integer,
): Local<'v128'>[] {
  const from = f.let(plus(room, 0));
  const scaleFrom = f.let(plus(roomScales, 0));
  const totals = xs.map(() => f.let(constant(0)));
  f.loop(0, blocks, 1, () => {
    const sums = xs.map(() => f.let(integerLanes(0, 0, 0, 0)));
    for (let pair = 0; pair < PAIRS; pair++) {
      const v = f.let(load(from, 4, VECTOR_BYTES * pair));
      for (const [r, at] of xs.entries()) {
        f.set(sums[r]!, addIntegers(sums[r]!, dotOfPairs(v, loadSplat(at, 4 * pair))));
      }
    }
    const scale = f.let(load(scaleFrom));
    for (const [r, total] of totals.entries()) {
      f.set(total, add(total, mul(mul(convert(sums[r]!), loadSplat(scaleAt[r]!)), scale)));
      if (INTEGERS[name].adds) f.set(total, add(total, mul(loadSplat(sumAt[r]!), load(scaleFrom, 4, VECTOR_BYTES))));
      f.set(xs[r]!, plus(xs[r]!, 2 * BLOCK));
      f.set(scaleAt[r]!, plus(scaleAt[r]!, 4));
      f.set(sumAt[r]!, plus(sumAt[r]!, 4));
    }
    f.set(from, plus(from, WIDE_BYTES));
    f.set(scaleFrom, plus(scaleFrom, SCALES_BYTES));
  });
  return totals;
}

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
