import { qkvWidth, type AttentionShape } from '../../attentionShape.ts';
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
  loadUint16,
  loadAnywhere,
  load,
  loadSplat,
  type Vector,
  type Integer,
  type Lanes,
  type Local,
} from './instructions.ts';
import { pointers, routine, type Routine } from './routine.ts';
import { combineLanes, exponential, sumsOfFour } from './sums.ts';
import { widenFloat16, narrowToFloat16 } from './float16Kernels.ts';

const BYTES = 4;

/** Bytes per number, and functions that load and store four numbers. */
const SLOT_FORMATS = {
  F32: {
    bytes: 4,
    load: (_: Routine, at: Integer, offset: number) => loadAnywhere(at, offset),
    store: (f: Routine, at: Integer, v: Vector) => f.store(at, v),
  },
  F16: {
    bytes: 2,
    load: (f: Routine, at: Integer, offset: number) => widenFloat16(f, loadUint16(at, offset)),
    store: (f: Routine, at: Integer, v: Vector) => f.store(at, narrowToFloat16(f, v), 2),
  },
} as const;

export type SlotFormat = keyof typeof SLOT_FORMATS;

/** Each head takes whole vectors of four numbers, filled up with 0. `slotBytes` are the bytes of a slot's keys or of its values. */
export function slotLayout({ kvHeads, headDim }: AttentionShape, format: SlotFormat) {
  const vectors = Math.ceil(headDim / 4);
  const headBytes = vectors * 4 * SLOT_FORMATS[format].bytes;
  return { vectors, headBytes, slotBytes: kvHeads * headBytes };
}

/** Returns the size of the keys of `slots` slots, in float32. The values have the same size. */
export function slotNumbers(shape: AttentionShape, format: SlotFormat, slots: number): number {
  return Math.ceil((slots * slotLayout(shape, format).slotBytes) / BYTES);
}

/** Copies keys and values of n rows of qkv, (H+2·kvH)·D numbers each: row i to slot tables[first[i] + counts[i] − 1]. */
const storeSlots = (shape: AttentionShape, format: SlotFormat) =>
  routine(
    ['keys', 'values', 'qkv', 'tables', 'first', 'counts', 'n'],
    `storeSlots${format}`,
    (f, { keys, values, qkv, tables, first, counts, n }) => {
      const { vectors, headBytes, slotBytes } = slotLayout(shape, format);
      const { heads, kvHeads, headDim } = shape;
      const { bytes, store } = SLOT_FORMATS[format];
      f.loop(0, n, 1, (i) => {
        const index = plus(loadInteger(plus(first, times(i, BYTES))), loadInteger(plus(counts, times(i, BYTES))));
        const slot = f.let(times(loadInteger(plus(tables, times(plus(index, -1), BYTES))), slotBytes));
        const row = f.let(plus(plus(qkv, times(i, BYTES * qkvWidth(shape))), heads * headDim * BYTES));
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

/** A mask for lanes j … j + 3: all bits 1 where the lane is below `count`, else 0. */
const lanesBelow = (j: Integer, count: Integer) =>
  lessIntegers(addIntegers(splatInteger(j), integerLanes(0, 1, 2, 3)), splatInteger(count));

/** One token, for all query heads that share a key head, and the slots that they see. Addresses are in bytes. */
interface Query {
  readonly heads: number; // query heads that share the key head
  readonly at: Integer; // address of the first head's query; the other heads follow
  readonly table: Integer; // address of the list of slots
  readonly count: Integer; // of slots
  readonly scores: readonly Local<'i32'>[]; // address of each head's scores
}

/**
 * `attendSlots`: attention of n queries over keys and values in slots. Query i, in row i of qkv, sees the slots
 * tables[first[i]] … tables[first[i] + counts[i] − 1]. With s_j = q·k_j/√D and e_j = exp(s_j − max s),
 * out (n, H·D) = Σ e_j·v_j / Σ e_j. A key or value is converted to float32 once for the H/kvH query heads that read it.
 * `scores` is scratch memory for those heads, `scoreStride` bytes for each. If n is 1, `kvHeads` may be fewer than the
 * model's: then `out`, `qkv`, `keys` and `values` point at the first of these heads.
 */
const attendSlots = (shape: AttentionShape, format: SlotFormat) =>
  routine(
    ['out', 'qkv', 'keys', 'values', 'tables', 'first', 'counts', 'scores', 'scoreStride', 'n', 'kvHeads'],
    `attendSlots${format}`,
    (f, { out, qkv, keys, values, tables, first, counts, scores, scoreStride, n, kvHeads }) => {
      const { headBytes } = slotLayout(shape, format);
      const heads = shape.heads / shape.kvHeads;
      const width = heads * shape.headDim * BYTES;
      f.loop(0, n, 1, (i) => {
        const count = f.let(loadInteger(plus(counts, times(i, BYTES))));
        const table = f.let(plus(tables, times(loadInteger(plus(first, times(i, BYTES))), BYTES)));
        const at = f.let(plus(qkv, times(i, BYTES * qkvWidth(shape))));
        const [key, value] = [f.let(plus(keys, 0)), f.let(plus(values, 0))];
        f.loop(0, kvHeads, 1, () => {
          const query = { heads, at, table, count, scores: pointers(f, scores, scoreStride, heads) };
          const inverse = exponentiate(f, query, writeScores(f, shape, format, query, key));
          writeWeightedMean(f, shape, format, query, value, inverse, out);
          f.set(key, plus(key, headBytes));
          f.set(value, plus(value, headBytes));
          f.set(at, plus(at, width));
          f.set(out, plus(out, width));
        });
      });
    },
  );

/** `key` is the address of the key in slot 0. Returns a vector for each head; the largest of its lanes is the head's largest score. */
function writeScores(f: Routine, shape: AttentionShape, format: SlotFormat, query: Query, key: Integer) {
  const { vectors, slotBytes } = slotLayout(shape, format);
  const { at, table, count, scores, heads } = query;
  const maxima = scores.map(() => f.let(constant(-Infinity)));
  f.loop(0, count, 4, (j) => {
    const keys = [0, 1, 2, 3].map((r) => {
      const index = r === 0 ? j : select(less(plus(j, r), count), plus(j, r), j);
      return f.let(plus(key, times(loadInteger(plus(table, times(index, BYTES))), slotBytes)));
    });
    const sums = dotProducts(f, format, at, shape.headDim * BYTES, keys, vectors, heads);
    for (const [h, [a, b, c, d]] of sums.entries()) {
      const s = f.let(mul(sumsOfFour(f, [a!, b!, c!, d!]), constant(1 / Math.sqrt(shape.headDim))));
      f.store(plus(scores[h]!, times(j, BYTES)), s);
      f.set(maxima[h]!, max(maxima[h]!, s));
    }
  });
  return maxima;
}

/** Scores become e^(score − the head's largest score). Returns for each head a vector with 1 / (their sum) in every lane. */
function exponentiate(f: Routine, { scores, count }: Query, maxima: readonly Local<'v128'>[]) {
  return scores.map((from, h) => {
    const highest = combineLanes(f, maxima[h]!, max);
    const lanes = f.let(constant(0));
    f.loop(0, count, 4, (j) => {
      const at = f.let(plus(from, times(j, BYTES)));
      const e = f.let(and(exponential(f, sub(load(at), highest)), lanesBelow(j, count)));
      f.store(at, e);
      f.set(lanes, add(lanes, e));
    });
    return f.let(div(constant(1), combineLanes(f, lanes, add)));
  });
}

/** The values weighted by `scores`. `value` is the address of the value in slot 0, `inverse` is 1 / (the sum of the weights). */
function writeWeightedMean(
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
  const { bytes, load: loadFour } = SLOT_FORMATS[format];
  const writeColumns = (offset: Integer, vectors: number, lanes: Lanes) => {
    const parts = Array.from({ length: vectors }, (_, part) => part);
    const sums = scores.map(() => parts.map(() => f.let(constant(0))));
    const column = f.let(plus(value, quotient(offset, BYTES / bytes)));
    f.loop(0, count, 1, (j) => {
      const at = f.let(plus(column, times(loadInteger(plus(table, times(j, BYTES))), slotBytes)));
      const v = parts.map((part) => f.let(loadFour(f, at, 4 * bytes * part)));
      for (const [h, headSums] of sums.entries()) {
        const e = f.let(loadSplat(plus(scores[h]!, times(j, BYTES))));
        for (const part of parts) f.set(headSums[part]!, add(headSums[part]!, mul(e, v[part]!)));
      }
    });
    for (const [h, headSums] of sums.entries()) {
      const to = f.let(plus(out, plus(offset, h * headDim * BYTES)));
      for (const part of parts) f.store(to, mul(headSums[part]!, inverse[h]!), lanes, 16 * part);
    }
  };
  const inWholeVectors = headDim - (headDim % 4);
  f.blocks(inWholeVectors, [16, 4], (offset, size) => writeColumns(offset, size / 4, 4));
  if (headDim > inWholeVectors) writeColumns(inWholeVectors * BYTES, 1, 2);
}

/** Queries are `width` bytes apart. The sum of a result's four lanes is the dot product. `at` ends up behind the four keys. */
function dotProducts(
  f: Routine,
  format: SlotFormat,
  query: Integer,
  width: number,
  at: readonly Local<'i32'>[],
  vectors: number,
  heads: number,
): Local<'v128'>[][] {
  const { bytes, load: loadFour } = SLOT_FORMATS[format];
  const sums = Array.from({ length: heads }, () => at.map(() => f.let(constant(0))));
  f.loop(0, 4 * BYTES * vectors, 4 * BYTES, (c) => {
    const keys = at.map((from) => f.let(loadFour(f, from, 0)));
    const from = f.let(plus(query, c));
    for (const [h, headSums] of sums.entries()) {
      const u = f.let(load(from, 4, h * width));
      for (const [r, k] of keys.entries()) f.set(headSums[r]!, add(headSums[r]!, mul(u, k)));
    }
    for (const from of at) f.set(from, plus(from, 4 * bytes));
  });
  return sums;
}

export const slotKernels = (shape: AttentionShape): readonly Routine[] =>
  (['F32', 'F16'] as const).flatMap((format) => [storeSlots(shape, format), attendSlots(shape, format)]);
