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
import { transpose } from './transpose.ts';
import { BLOCK_SIZE, INTEGER_BLOCKS, type IntegerFormat } from './integerBlocks.ts';

/** Pairs of numbers in a block. */
const PAIRS = BLOCK_SIZE / 2;
const VECTOR_BYTES = 16;
/** Bytes of the widened blocks of four rows. */
const WIDE_BYTES = VECTOR_BYTES * PAIRS;
/** Bytes of the scales of these blocks, and of the numbers that are added to each weight. */
const SCALES_BYTES = 2 * VECTOR_BYTES;

/** Numbers of rows of w that are widened at once. Each row of w gives a column of y. */
const TILE_COLUMNS = [8, 4, 1] as const;
type Columns = (typeof TILE_COLUMNS)[number];
/** Returns the number of groups of four rows of w. A single row is repeated to make a group. */
const groupsOf = (columns: Columns) => Math.ceil(columns / 4);
/** Bytes of the scratch memory `widened` for each column of w. */
export const WIDENED_BYTES = (groupsOf(TILE_COLUMNS[0]) * (WIDE_BYTES + SCALES_BYTES)) / BLOCK_SIZE;

/**
 * The product of `integerProduct` for many rows of x, with the same bits. Widens some rows of w once, into `widened`.
 * There, the pairs of neighbouring numbers of four rows lie side by side, so that a pair of x, repeated in every lane,
 * gives sums for four rows of w. `widened` holds the numbers of all blocks, then their scales and the numbers that are
 * added to each weight. A tile is 4 rows × 8 columns. The loop handles one pair per iteration: 24 billion products per
 * second on one core of a Zen 4. With sixteen pairs per iteration, which V8 compiles badly, it's 6 to 10.
 */
export const integerProductOfMany = (name: IntegerFormat) =>
  routine(
    ['y', 'stride', 'x', 'w', 'n', 'o', 'k', 'widened'],
    `product${name}OfMany`,
    (f, { y, stride, x, w, n, o, k, widened }) => {
      const blocks = f.let(quotient(k, BLOCK_SIZE));
      const wRow = f.let(times(blocks, INTEGER_BLOCKS[name].bytes));
      const xRow = f.let(times(k, 2));
      const scaleRow = f.let(times(blocks, 4));
      const xScales = f.let(plus(x, times(n, xRow)));
      const xSums = f.let(plus(xScales, times(n, scaleRow)));
      f.blocks(o, TILE_COLUMNS, (column, columns) => {
        const groups = groupsOf(columns);
        const scales = f.let(plus(widened, times(blocks, groups * WIDE_BYTES)));
        for (let group = 0; group < groups; group++) {
          const first = f.let(plus(w, times(plus(quotient(column, 4), 4 * group), wRow)));
          widenBlocks(f, name, pointers(f, first, columns === 1 ? 0 : wRow, 4), blocks, {
            widened,
            scales,
            group,
            groups,
          });
        }
        f.blocks(n, [4, 1], (i, rows) => {
          const row = f.let(quotient(i, 4));
          const xs = pointers(f, plus(x, times(row, xRow)), xRow, rows);
          const scaleAt = pointers(f, plus(xScales, times(row, scaleRow)), scaleRow, rows);
          const sumAt = pointers(f, plus(xSums, times(row, scaleRow)), scaleRow, rows);
          const totals = multiplyRows(f, name, { xs, scaleAt, sumAt }, blocks, { widened, scales, groups });
          const ys = pointers(f, plus(plus(y, column), times(row, stride)), stride, rows);
          for (const [r, at] of ys.entries()) {
            for (const [group, total] of totals[r]!.entries())
              f.store(at, total, columns === 1 ? 1 : 4, VECTOR_BYTES * group);
          }
        });
      });
    },
  );

/** The addresses of the widened rows. The vectors of all groups lie side by side. */
interface WidenedRows {
  readonly widened: Integer;
  readonly scales: Integer;
  readonly groups: number;
}

/** Writes, for each pair of neighbours, the pairs of the four rows (int16), then four scales and addends. `ws` end up behind the rows. */
function widenBlocks(
  f: Routine,
  name: IntegerFormat,
  ws: readonly Local<'i32'>[],
  blocks: Integer,
  { widened, scales: scalesAt, group, groups }: WidenedRows & { readonly group: number },
): void {
  const { bytes, scales, loadIntegers } = INTEGER_BLOCKS[name];
  const widenedTo = f.let(plus(widened, VECTOR_BYTES * group));
  const scalesTo = f.let(plus(scalesAt, SCALES_BYTES * group));
  f.loop(0, blocks, 1, () => {
    const rows = ws.map((at) => loadIntegers(f, at).map((v) => f.let(v)));
    for (let part = 0; part < 4; part++) {
      for (const [pair, v] of transpose(
        f,
        rows.map((row) => row[part]!),
      ).entries()) {
        f.store(widenedTo, v, 4, VECTOR_BYTES * groups * (4 * part + pair));
      }
    }
    const { scale, least } = scales(f, ws);
    f.store(scalesTo, scale);
    if (least) f.store(scalesTo, least, 4, VECTOR_BYTES);
    f.set(widenedTo, plus(widenedTo, groups * WIDE_BYTES));
    f.set(scalesTo, plus(scalesTo, groups * SCALES_BYTES));
    for (const at of ws) f.set(at, plus(at, bytes));
  });
}

/** The addresses of the numbers, scales and sums of some rows of x, written by `quantize`. */
interface Quantized {
  readonly xs: readonly Local<'i32'>[];
  readonly scaleAt: readonly Local<'i32'>[];
  readonly sumAt: readonly Local<'i32'>[];
}

/** Returns for each row of x a vector of four products per group. The addresses of x end up behind the rows. */
function multiplyRows(
  f: Routine,
  name: IntegerFormat,
  { xs, scaleAt, sumAt }: Quantized,
  blocks: Integer,
  { widened, scales, groups }: WidenedRows,
): Local<'v128'>[][] {
  const widenedAt = f.let(plus(widened, 0));
  const scalesAt = f.let(plus(scales, 0));
  const perGroup = <T>(make: () => T) => Array.from({ length: groups }, make);
  const totals = xs.map(() => perGroup(() => f.let(constant(0))));
  f.loop(0, blocks, 1, () => {
    const sums = xs.map(() => perGroup(() => f.let(integerLanes(0, 0, 0, 0))));
    f.loop(0, 4 * PAIRS, 4, (pair) => {
      const vectors = Array.from({ length: groups }, (_, group) => f.let(load(widenedAt, 4, VECTOR_BYTES * group)));
      for (const [r, at] of xs.entries()) {
        const u = f.let(loadSplat(plus(at, pair)));
        for (const [group, v] of vectors.entries()) {
          const sum = sums[r]![group]!;
          f.set(sum, addIntegers(sum, dotOfPairs(v, u)));
        }
      }
      f.set(widenedAt, plus(widenedAt, groups * VECTOR_BYTES));
    });
    for (const [r, at] of xs.entries()) {
      const scale = f.let(loadSplat(scaleAt[r]!));
      const sum = f.let(loadSplat(sumAt[r]!));
      for (const [group, total] of totals[r]!.entries()) {
        const offset = SCALES_BYTES * group;
        f.set(total, add(total, mul(mul(convert(sums[r]![group]!), scale), load(scalesAt, 4, offset))));
        if (INTEGER_BLOCKS[name].hasAddend)
          f.set(total, add(total, mul(sum, load(scalesAt, 4, offset + VECTOR_BYTES))));
      }
      f.set(at, plus(at, 2 * BLOCK_SIZE));
      f.set(scaleAt[r]!, plus(scaleAt[r]!, 4));
      f.set(sumAt[r]!, plus(sumAt[r]!, 4));
    }
    f.set(scalesAt, plus(scalesAt, groups * SCALES_BYTES));
  });
  return totals;
}
