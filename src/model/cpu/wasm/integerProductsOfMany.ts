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
  load,
  loadSplat,
  type Integer,
  type Local,
} from './instructions.ts';
import { routine, pointers, type Routine } from './routine.ts';
import { transposed } from './transposed.ts';
import { BLOCK, INTEGERS, type IntegerFormat } from './integerBlocks.ts';

/** Pairs of numbers in a block. */
const PAIRS = BLOCK / 2;
const VECTOR_BYTES = 16;
/** Of four rows' blocks, widened, and of their scales with what is added to each weight. */
const WIDE_BYTES = VECTOR_BYTES * PAIRS;
const SCALES_BYTES = 2 * VECTOR_BYTES;

/** Rows of w that are widened at once. */
const COLUMNS = [8, 4, 1] as const;
type Columns = (typeof COLUMNS)[number];
/** Fours of rows of w, of which one by itself is four of the same. */
const foursOf = (columns: Columns) => Math.ceil(columns / 4);
/** Bytes of `room` for each column of w. */
export const WIDENED_BYTES = (foursOf(COLUMNS[0]) * (WIDE_BYTES + SCALES_BYTES)) / BLOCK;

/**
 * The product of `integerProduct` for many rows of x, to the same bits: some rows of w are widened once, into `room`, pairs of their numbers side by side,
 * so that a pair of x in every lane gives sums for four. `room` holds the numbers of all blocks, then scales and what is added to each weight.
 * A tile is 4 rows × 8 columns, walked pair by pair: 24 thousand million products a second on one core of a Zen 4; with sixteen pairs a turn of the loop,
 * which V8 lays out badly, 6 to 10.
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
      f.blocks(o, COLUMNS, (column, columns) => {
        const fours = foursOf(columns);
        const scales = f.let(plus(room, times(blocks, fours * WIDE_BYTES)));
        for (let four = 0; four < fours; four++) {
          const first = f.let(plus(w, times(plus(quotient(column, 4), 4 * four), wRow)));
          widenBlocks(f, name, pointers(f, first, columns === 1 ? 0 : wRow, 4), blocks, { room, scales, four, fours });
        }
        f.blocks(n, [4, 1], (i, rows) => {
          const row = f.let(quotient(i, 4));
          const xs = pointers(f, plus(x, times(row, xRow)), xRow, rows);
          const scaleAt = pointers(f, plus(xScales, times(row, scaleRow)), scaleRow, rows);
          const sumAt = pointers(f, plus(xSums, times(row, scaleRow)), scaleRow, rows);
          const totals = multiplied(f, name, { xs, scaleAt, sumAt }, blocks, { room, scales, fours });
          const ys = pointers(f, plus(plus(y, column), times(row, stride)), stride, rows);
          for (const [r, at] of ys.entries()) {
            for (const [four, total] of totals[r]!.entries())
              f.store(at, total, columns === 1 ? 1 : 4, VECTOR_BYTES * four);
          }
        });
      });
    },
  );

/** Where widened rows lie: fours of them side by side. */
interface Widened {
  readonly room: Integer;
  readonly scales: Integer;
  readonly fours: number;
}

/** Writes the blocks of four rows at `ws`, which move behind them: of each pair of columns four pairs of int16, then the four scales and what is added. */
function widenBlocks(
  f: Routine,
  name: IntegerFormat,
  ws: readonly Local<'i32'>[],
  blocks: Integer,
  { room, scales: scalesAt, four, fours }: Widened & { readonly four: number },
): void {
  const { bytes, scales, eights } = INTEGERS[name];
  const to = f.let(plus(room, VECTOR_BYTES * four));
  const scaleTo = f.let(plus(scalesAt, SCALES_BYTES * four));
  f.loop(0, blocks, 1, () => {
    const rows = ws.map((at) => eights(f, at).map((v) => f.let(v)));
    for (let part = 0; part < 4; part++) {
      for (const [pair, v] of transposed(
        f,
        rows.map((row) => row[part]!),
      ).entries()) {
        f.store(to, v, 4, VECTOR_BYTES * fours * (4 * part + pair));
      }
    }
    const { scale, least } = scales(f, ws);
    f.store(scaleTo, scale);
    if (least) f.store(scaleTo, least, 4, VECTOR_BYTES);
    f.set(to, plus(to, fours * WIDE_BYTES));
    f.set(scaleTo, plus(scaleTo, fours * SCALES_BYTES));
    for (const at of ws) f.set(at, plus(at, bytes));
  });
}

/** Rows of x as `quantize` wrote them, by where each row's numbers, scales and sums are. */
interface Quantized {
  readonly xs: readonly Local<'i32'>[];
  readonly scaleAt: readonly Local<'i32'>[];
  readonly sumAt: readonly Local<'i32'>[];
}

/** The products of each row of x, which move behind them, with the widened rows: vectors of four. */
function multiplied(
  f: Routine,
  name: IntegerFormat,
  { xs, scaleAt, sumAt }: Quantized,
  blocks: Integer,
  { room, scales, fours }: Widened,
): Local<'v128'>[][] {
  const from = f.let(plus(room, 0));
  const scaleFrom = f.let(plus(scales, 0));
  const all = <T>(make: () => T) => Array.from({ length: fours }, make);
  const totals = xs.map(() => all(() => f.let(constant(0))));
  f.loop(0, blocks, 1, () => {
    const sums = xs.map(() => all(() => f.let(integerLanes(0, 0, 0, 0))));
    f.loop(0, 4 * PAIRS, 4, (pair) => {
      const vectors = Array.from({ length: fours }, (_, four) => f.let(load(from, 4, VECTOR_BYTES * four)));
      for (const [r, at] of xs.entries()) {
        const u = f.let(loadSplat(plus(at, pair)));
        for (const [four, v] of vectors.entries()) {
          const sum = sums[r]![four]!;
          f.set(sum, addIntegers(sum, dotOfPairs(v, u)));
        }
      }
      f.set(from, plus(from, fours * VECTOR_BYTES));
    });
    for (const [r, at] of xs.entries()) {
      const scale = f.let(loadSplat(scaleAt[r]!));
      const sum = f.let(loadSplat(sumAt[r]!));
      for (const [four, total] of totals[r]!.entries()) {
        const lies = SCALES_BYTES * four;
        f.set(total, add(total, mul(mul(convert(sums[r]![four]!), scale), load(scaleFrom, 4, lies))));
        if (INTEGERS[name].adds) f.set(total, add(total, mul(sum, load(scaleFrom, 4, lies + VECTOR_BYTES))));
      }
      f.set(at, plus(at, 2 * BLOCK));
      f.set(scaleAt[r]!, plus(scaleAt[r]!, 4));
      f.set(sumAt[r]!, plus(sumAt[r]!, 4));
    }
    f.set(scaleFrom, plus(scaleFrom, fours * SCALES_BYTES));
  });
  return totals;
}
