import type { AttentionShape } from '../attention.ts';
import {
  plus,
  times,
  quotient,
  less,
  select,
  loadInteger,
  add,
  sub,
  mul,
  div,
  max,
  and,
  addIntegers,
  lessIntegers,
  constant,
  integerLanes,
  splatInteger,
  loadHalves,
  loadAnywhere,
  load,
  loadSplat,
  type Vector,
  type Integer,
  type Lanes,
  type Local,
} from './instructions.ts';
import { pointers, routine, type Routine } from './routine.ts';
import { acrossLanes, exponential, sumsOfFour } from './sums.ts';
import { widenHalves, narrowHalves } from './halves.ts';

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
export function slotLayout({ kvHeads, headDim }: AttentionShape, format: SlotFormat) {
  const vectors = Math.ceil(headDim / 4);
  const headBytes = vectors * 4 * STORED[format].bytes;
  return { vectors, headBytes, slotBytes: kvHeads * headBytes };
}

/** Float32s that the keys, or the values, of so many slots take. */
export function slotNumbers(shape: AttentionShape, format: SlotFormat, slots: number): number {
  return Math.ceil((slots * slotLayout(shape, format).slotBytes) / BYTES);
}

/** `fileSlots`: keys and values of n rows of qkv into the slot that tables[first + counts − 1] names, the end of a head's last vector 0. */
const fileSlots = (shape: AttentionShape, format: SlotFormat) =>
  routine(
    ['keys', 'values', 'qkv', 'stride', 'tables', 'first', 'counts', 'n'],
    `fileSlots${format}`,
    (f, { keys, values, qkv, stride, tables, first, counts, n }) => {
      const { vectors, headBytes, slotBytes } = slotLayout(shape, format);
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

/** One query of the heads that read the same keys, and the slots that it sees. */
interface Query {
  readonly heads: number; // that share a key
  readonly at: Integer; // the first one's numbers; the others follow
  readonly table: Integer; // its slots
  readonly count: Integer;
  readonly scores: readonly Local<'i32'>[]; // room for each head's numbers
}

/**
 * `attendSlots`: query i, row i of q, sees the counts[i] slots that tables[first[i] …] names. A key or value is widened once for the H/kvH heads that
 * read it: with s_j = q·k_j/√D and e_j = exp(s_j − max s), out (n, H·D) = Σ e_j·v_j / Σ e_j. `scores` is room for each of those heads' numbers,
 * `scoreStride` bytes apart. Of one query it may be fewer than all `kvHeads`, from those on at which `out`, `q`, `keys` and `values` begin.
 */
const attendSlots = (shape: AttentionShape, format: SlotFormat) =>
  routine(
    ['out', 'q', 'qStride', 'keys', 'values', 'tables', 'first', 'counts', 'scores', 'scoreStride', 'n', 'kvHeads'],
    `attendSlots${format}`,
    (f, { out, q, qStride, keys, values, tables, first, counts, scores, scoreStride, n, kvHeads }) => {
      const { headBytes } = slotLayout(shape, format);
      const heads = shape.heads / shape.kvHeads;
      const width = heads * shape.headDim * BYTES;
      f.loop(0, n, 1, (i) => {
        const count = f.let(loadInteger(plus(counts, times(i, BYTES))));
        const table = f.let(plus(tables, times(loadInteger(plus(first, times(i, BYTES))), BYTES)));
        const at = f.let(plus(q, times(i, qStride)));
        const [key, value] = [f.let(plus(keys, 0)), f.let(plus(values, 0))];
        f.loop(0, kvHeads, 1, () => {
          const query = { heads, at, table, count, scores: pointers(f, scores, scoreStride, heads) };
          const inverse = exponentiated(f, query, similarities(f, shape, format, query, key));
          weighted(f, shape, format, query, value, inverse, out);
          f.set(key, plus(key, headBytes));
          f.set(value, plus(value, headBytes));
          f.set(at, plus(at, width));
          f.set(out, plus(out, width));
        });
      });
    },
  );

/** Writes the scores of each head with the keys from `key` on; the largest of each in some lane of a vector. */
function similarities(f: Routine, shape: AttentionShape, format: SlotFormat, query: Query, key: Integer) {
  const { vectors, slotBytes } = slotLayout(shape, format);
  const { at, table, count, scores, heads } = query;
  const most = scores.map(() => f.let(constant(-Infinity)));
  f.loop(0, count, 4, (j) => {
    const keys = [0, 1, 2, 3].map((r) => {
      const index = r === 0 ? j : select(less(plus(j, r), count), plus(j, r), j);
      return f.let(plus(key, times(loadInteger(plus(table, times(index, BYTES))), slotBytes)));
    });
    const sums = dots(f, format, at, shape.headDim * BYTES, keys, vectors, heads);
    for (const [h, [a, b, c, d]] of sums.entries()) {
      const s = f.let(mul(sumsOfFour(f, [a!, b!, c!, d!]), constant(1 / Math.sqrt(shape.headDim))));
      f.store(plus(scores[h]!, times(j, BYTES)), s);
      f.set(most[h]!, max(most[h]!, s));
    }
  });
  return most;
}

/** Puts e^(score − the largest) in place of each score; one over each head's sum. */
function exponentiated(f: Routine, { scores, count }: Query, most: readonly Local<'v128'>[]) {
  return scores.map((from, h) => {
    const highest = acrossLanes(f, most[h]!, max);
    const lanes = f.let(constant(0));
    f.loop(0, count, 4, (j) => {
      const at = f.let(plus(from, times(j, BYTES)));
      const e = f.let(and(exponential(f, sub(load(at), highest)), below(j, count)));
      f.store(at, e);
      f.set(lanes, add(lanes, e));
    });
    return f.let(div(constant(1), acrossLanes(f, lanes, add)));
  });
}

/** Writes to `out` each head's sum of the values from `value` on, weighted, some columns at a time. */
function weighted(
  f: Routine,
  shape: AttentionShape,
  format: SlotFormat,
  { table, count, scores }: Query,
  value: Integer,
  inverse: readonly Vector[],
  out: Integer,
): void {
  const { headDim } = shape;
  const { slotBytes } = slotLayout(shape, format);
  const { bytes, load: loadFour } = STORED[format];
  const columns = (offset: Integer, vectors: number, lanes: Lanes) => {
    const parts = Array.from({ length: vectors }, (_, part) => part);
    const sums = scores.map(() => parts.map(() => f.let(constant(0))));
    const column = f.let(plus(value, quotient(offset, BYTES / bytes)));
    f.loop(0, count, 1, (j) => {
      const at = f.let(plus(column, times(loadInteger(plus(table, times(j, BYTES))), slotBytes)));
      const v = parts.map((part) => f.let(loadFour(f, at, 4 * bytes * part)));
      for (const [h, ofHead] of sums.entries()) {
        const e = f.let(loadSplat(plus(scores[h]!, times(j, BYTES))));
        for (const part of parts) f.set(ofHead[part]!, add(ofHead[part]!, mul(e, v[part]!)));
      }
    });
    for (const [h, ofHead] of sums.entries()) {
      const to = f.let(plus(out, plus(offset, h * headDim * BYTES)));
      for (const part of parts) f.store(to, mul(ofHead[part]!, inverse[h]!), lanes, 16 * part);
    }
  };
  const whole = headDim - (headDim % 4);
  f.blocks(whole, [16, 4], (offset, size) => columns(offset, size / 4, 4));
  if (headDim > whole) columns(whole * BYTES, 1, 2);
}

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
