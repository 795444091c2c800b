import type { AttentionShape } from '../attention.ts';
import { narrowHalves, widenHalves } from './halves.ts';
import {
  add,
  addIntegers,
  and,
  constant,
  div,
  integerLanes,
  less,
  lessIntegers,
  load,
  loadAnywhere,
  loadHalves,
  loadInteger,
  loadSplat,
  max,
  mul,
  plus,
  quotient,
  select,
  splatInteger,
  sub,
  times,
  type Integer,
  type Lanes,
  type Local,
  type Vector,
} from './instructions.ts';
import { routine, type Routine } from './routine.ts';
import { acrossLanes, exponential, sumsOfFour } from './sums.ts';

const BYTES = 4;

/** How keys and values lie in their slots: four numbers from an address on. */
const STORED = {
  F32: {
    bytes: 4,
    load: (_: Routine, at: Integer, offset: number) => loadAnywhere(at, offset),
    store: (f: Routine, at: Integer, v: Vector) => f.store(at, v),
  },
  F16: {
    bytes: 2,
    load: (f: Routine, at: Integer, offset: number) => widenHalves(f, loadHalves(at, offset)),
    store: (f: Routine, at: Integer, v: Vector) => f.store(at, narrowHalves(f, v), 2),
  },
} as const;

/** How keys and values are stored. */
export type SlotFormat = keyof typeof STORED;

/** Where a slot's numbers lie: each head in whole vectors. */
function layout({ kvHeads, headDim }: AttentionShape, format: SlotFormat) {
  const vectors = Math.ceil(headDim / 4);
  const headBytes = vectors * 4 * STORED[format].bytes;
  return { vectors, headBytes, slotBytes: kvHeads * headBytes };
}

/** Float32s that the keys, or the values, of so many slots take. */
export function slotNumbers(shape: AttentionShape, format: SlotFormat, slots: number): number {
  return Math.ceil((slots * layout(shape, format).slotBytes) / BYTES);
}

/** `fileSlots`: keys and values of n rows of qkv into the slot that tables[first + counts − 1] names, the end of a head's last vector 0. */
const fileSlots = (shape: AttentionShape, format: SlotFormat) =>
  routine(
    ['keys', 'values', 'qkv', 'stride', 'tables', 'first', 'counts', 'n'],
    `fileSlots${format}`,
    (f, { keys, values, qkv, stride, tables, first, counts, n }) => {
      const { vectors, headBytes, slotBytes } = layout(shape, format);
      const { heads, kvHeads, headDim } = shape;
      const { bytes, store } = STORED[format];
      f.loop(0, n, 1, (i) => {
        const index = plus(loadInteger(plus(first, times(i, BYTES))), loadInteger(plus(counts, times(i, BYTES))));
        const slot = f.let(times(loadInteger(plus(tables, times(plus(index, -1), BYTES))), slotBytes));
        const row = f.let(plus(plus(qkv, times(i, stride)), heads * headDim * BYTES));
        for (const [part, to] of [keys, values].entries()) {
          const at = f.let(plus(to, slot));
          const from = f.let(plus(row, part * kvHeads * headDim * BYTES));
          f.loop(0, kvHeads, 1, () => {
            for (let c = 0; c < vectors; c++) {
              const lanes: Lanes = headDim - 4 * c >= 4 ? 4 : 2;
              store(f, plus(at, 4 * bytes * c), load(from, lanes, 16 * c));
            }
            f.set(at, plus(at, headBytes));
            f.set(from, plus(from, headDim * BYTES));
          });
        }
      });
    },
  );

/** All ones in the lanes j, j + 1, … that are below count. */
const below = (j: Integer, count: Integer) =>
  lessIntegers(addIntegers(splatInteger(j), integerLanes(0, 1, 2, 3)), splatInteger(count));

/**
 * `attendSlots`: query i, row i of q, sees the counts[i] slots that tables[first[i] …] names. A key or value is widened once for the H/kvH heads that
 * read it: with s_j = q·k_j/√D and e_j = exp(s_j − max s), out (n, H·D) = Σ e_j·v_j / Σ e_j. `scores` is room for each of those heads' numbers,
 * `scoreStride` bytes apart. Long: three loops over the slots of one query, which share its variables.
 */
const attendSlots = (shape: AttentionShape, format: SlotFormat) =>
  routine(
    ['out', 'q', 'qStride', 'keys', 'values', 'tables', 'first', 'counts', 'scores', 'scoreStride', 'n'],
    `attendSlots${format}`,
    (f, { out, q, qStride, keys, values, tables, first, counts, scores, scoreStride, n }) => {
      const { headBytes, slotBytes, vectors } = layout(shape, format);
      const { bytes } = STORED[format];
      const { heads, kvHeads, headDim } = shape;
      const sharing = Array.from({ length: heads / kvHeads }, (_, h) => h);
      const headWidth = headDim * BYTES;
      f.loop(0, n, 1, (i) => {
        const count = f.let(loadInteger(plus(counts, times(i, BYTES))));
        const table = f.let(plus(tables, times(loadInteger(plus(first, times(i, BYTES))), BYTES)));
        const query = f.let(plus(q, times(i, qStride)));
        const key = f.let(plus(keys, 0));
        const value = f.let(plus(values, 0));
        f.loop(0, kvHeads, 1, () => {
          const scoresAt = sharing.map((h) => f.let(plus(scores, times(scoreStride, h))));
          const most = sharing.map(() => f.let(constant(-Infinity)));
          f.loop(0, count, 4, (j) => {
            const at = [0, 1, 2, 3].map((r) => {
              const index = r === 0 ? j : select(less(plus(j, r), count), plus(j, r), j);
              return f.let(plus(key, times(loadInteger(plus(table, times(index, BYTES))), slotBytes)));
            });
            const sums = dots(f, format, query, headWidth, at, vectors, sharing.length);
            for (const [h, [a, b, c, d]] of sums.entries()) {
              const s = f.let(mul(sumsOfFour(f, [a!, b!, c!, d!]), constant(1 / Math.sqrt(headDim))));
              f.store(plus(scoresAt[h]!, times(j, BYTES)), s);
              f.set(most[h]!, max(most[h]!, s));
            }
          });
          const inverse = sharing.map((h) => {
            const highest = acrossLanes(f, most[h]!, max);
            const lanes = f.let(constant(0));
            f.loop(0, count, 4, (j) => {
              const at = f.let(plus(scoresAt[h]!, times(j, BYTES)));
              const e = f.let(and(exponential(f, sub(load(at), highest)), below(j, count)));
              f.store(at, e);
              f.set(lanes, add(lanes, e));
            });
            return f.let(div(constant(1), acrossLanes(f, lanes, add)));
          });
          const weighted = (offset: Integer, width: number, lanes: Lanes) => {
            const parts = Array.from({ length: width }, (_, part) => part);
            const sums = sharing.map(() => parts.map(() => f.let(constant(0))));
            const column = f.let(plus(value, quotient(offset, BYTES / bytes)));
            f.loop(0, count, 1, (j) => {
              const at = f.let(plus(column, times(loadInteger(plus(table, times(j, BYTES))), slotBytes)));
              const v = parts.map((part) => f.let(STORED[format].load(f, at, 4 * bytes * part)));
              for (const h of sharing) {
                const e = f.let(loadSplat(plus(scoresAt[h]!, times(j, BYTES))));
                for (const part of parts) f.set(sums[h]![part]!, add(sums[h]![part]!, mul(e, v[part]!)));
              }
            });
            for (const h of sharing) {
              const to = f.let(plus(out, plus(offset, h * headWidth)));
              for (const part of parts) f.store(to, mul(sums[h]![part]!, inverse[h]!), lanes, 16 * part);
            }
          };
          const whole = headDim - (headDim % 4);
          f.blocks(whole, [16, 4], (offset, size) => weighted(offset, size / 4, 4));
          if (headDim > whole) weighted(whole * BYTES, 1, 2);
          f.set(key, plus(key, headBytes));
          f.set(value, plus(value, headBytes));
          f.set(query, plus(query, sharing.length * headWidth));
          f.set(out, plus(out, sharing.length * headWidth));
        });
      });
    },
  );

/** Products of `heads` queries, `width` bytes apart, with the four keys at `at`, which move behind them: sums of lanes to be, by head and key. */
function dots(
  f: Routine,
  format: SlotFormat,
  query: Integer,
  width: number,
  at: readonly Local<'i32'>[],
  vectors: number,
  heads: number,
): Local<'v128'>[][] {
  const { bytes, load: loadFour } = STORED[format];
  const sums = Array.from({ length: heads }, () => at.map(() => f.let(constant(0))));
  f.loop(0, 4 * BYTES * vectors, 4 * BYTES, (c) => {
    const keys = at.map((from) => f.let(loadFour(f, from, 0)));
    const from = f.let(plus(query, c));
    for (const [h, ofHead] of sums.entries()) {
      const u = f.let(load(from, 4, h * width));
      for (const [r, k] of keys.entries()) f.set(ofHead[r]!, add(ofHead[r]!, mul(u, k)));
    }
    for (const from of at) f.set(from, plus(from, 4 * bytes));
  });
  return sums;
}

/** The kernels of keys and values in slots, in either format. */
export const slotKernels = (shape: AttentionShape): readonly Routine[] =>
  (['F32', 'F16'] as const).flatMap((format) => [fileSlots(shape, format), attendSlots(shape, format)]);
