import type { AttentionShape } from '../attention.ts';
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
  loadInteger,
  loadSplat,
  max,
  minus,
  mul,
  multiplyAdd,
  plus,
  quotient,
  select,
  splatInteger,
  sub,
  times,
  type Integer,
  type Local,
  type Value,
  type Vector,
} from './instructions.ts';
import { loadRow, routine, vectorsOf, type Routine } from './routine.ts';
import { acrossLanes, exponential, sumsOfFour } from './sums.ts';

const BYTES = 4;

/** All ones in the lanes j, j + 1, … that are below count. */
const below = (j: Integer, count: Integer) =>
  lessIntegers(addIntegers(splatInteger(j), integerLanes(0, 1, 2, 3)), splatInteger(count));

/** The address of the j-th key that a query sees, in bytes from the very first key. */
type Place = (j: Integer) => Value<'i32'>;

/** The addresses of the keys of a query, whose first key has index `first`; see `attend`. */
function placesOf(f: Routine, lying: KeyLayout, table: Integer, first: Integer, stride: Integer): Place {
  if (lying === 'Rows') {
    const start = f.let(times(first, stride));
    return (j) => plus(start, times(j, stride));
  }
  const start = f.let(plus(table, times(first, BYTES)));
  return (j) => times(loadInteger(plus(start, times(j, BYTES))), stride);
}

/** Dot products of `row` with the rows j … j + 3 after `first`. For a row past the last, row j is used again. */
function fourProducts(
  f: Routine,
  row: readonly Vector[],
  first: Integer,
  place: Place,
  j: Integer,
  count: Integer,
  width: number,
  more: ReturnType<typeof multiplyAdd>,
): Local<'v128'> {
  const sum = (r: number) => {
    const key = r === 0 ? j : select(less(plus(j, r), count), plus(j, r), j);
    const at = f.let(plus(first, place(key)));
    const total = f.let(constant(0));
    for (const [i, { offset, lanes }] of vectorsOf(width).entries())
      f.set(total, more(total, row[i]!, load(at, lanes, offset)));
    return total;
  };
  return sumsOfFour(f, [sum(0), sum(1), sum(2), sum(3)]);
}

/** Number of vectors summed at once, and for a gradient, which needs two more of each. They fit into sixteen registers. */
const SUMS = 8;
const GRADIENTS = 4;

/** The vectors of a row in groups of at most `most`, so that each group fits into the registers. */
const inRegisters = <T>(parts: readonly T[], most: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(parts.length / most) }, (_, i) => parts.slice(i * most, (i + 1) * most));

/** How queries find their keys: as consecutive rows, or through a table of addresses. */
export type KeyLayout = 'Rows' | 'Table';

/**
 * Causal attention, one query of one head at a time. Query i, row i of q, sees `counts[i]` keys and values: the rows of k and v from
 * `first[i]` on, or those that `table` (int32) names from there on; head h reads kv head ⌊h·kvH/H⌋. With s_j = q·k_j/√D and e_j = exp(s_j − max s), out (n, H·D) = Σ e_j·v_j / Σ e_j.
 * If `kept` is not 0, the probabilities are written there: for each query and head in turn, as many as it sees keys. `scores` has room for
 * the largest count plus three. Strides are in bytes.
 */
export const attend = ({ heads, kvHeads, headDim }: AttentionShape, lying: KeyLayout, isFused: boolean) =>
  routine(
    ['out', 'kept', 'q', 'qStride', 'keys', 'values', 'stride', 'table', 'first', 'counts', 'scores', 'n'],
    `attend${lying}`,
    (f, { out, kept, q, qStride, keys, values, stride, table, first, counts, scores, n }) => {
      const width = headDim * BYTES;
      const more = multiplyAdd(isFused);
      f.loop(0, n, 1, (i) => {
        const count = f.let(loadInteger(plus(counts, times(i, BYTES))));
        const place = placesOf(f, lying, table, loadInteger(plus(first, times(i, BYTES))), stride);
        f.loop(0, heads, 1, (h) => {
          const head = f.let(times(quotient(h, heads / kvHeads), width));
          const query = loadRow(f, plus(plus(q, times(i, qStride)), times(h, width)), headDim);
          const most = f.let(constant(-Infinity));
          f.loop(0, count, 4, (j) => {
            const products = fourProducts(f, query, plus(keys, head), place, j, count, headDim, more);
            const s = f.let(mul(products, constant(1 / Math.sqrt(headDim))));
            f.store(plus(scores, times(j, BYTES)), s);
            f.set(most, max(most, s));
          });
          const highest = acrossLanes(f, most, max);
          const lanes = f.let(constant(0));
          f.loop(0, count, 4, (j) => {
            const at = f.let(plus(scores, times(j, BYTES)));
            const e = f.let(and(exponential(f, sub(load(at), highest)), below(j, count)));
            f.store(at, e);
            f.set(lanes, add(lanes, e));
          });
          const inverse = f.let(div(constant(1), acrossLanes(f, lanes, add)));
          for (const parts of inRegisters(vectorsOf(headDim), SUMS)) {
            const sums = parts.map(() => f.let(constant(0)));
            f.loop(0, count, 1, (j) => {
              const value = f.let(plus(plus(values, head), place(j)));
              const e = f.let(loadSplat(plus(scores, times(j, BYTES))));
              for (const [c, { offset, lanes }] of parts.entries())
                f.set(sums[c]!, more(sums[c]!, e, load(value, lanes, offset)));
            });
            for (const [c, { offset, lanes }] of parts.entries()) f.store(out, mul(sums[c]!, inverse), lanes, offset);
          }
          f.set(out, plus(out, width));
          f.when(kept, () => {
            f.blocks(count, [4, 1], (at, lanes) =>
              f.store(plus(kept, at), mul(load(plus(scores, at), lanes), inverse), lanes),
            );
            f.set(kept, plus(kept, times(count, BYTES)));
          });
        });
      });
    },
  );

/**
 * Adds to dqkv, laid out as the packed qkv (n, (H + 2·kvH)·D) of stride bytes a row, what dout (n, H·D) means for it: with
 * dp_j = dout·v_j and ds_j = p_j·(dp_j − Σ p·dp)/√D, dq += Σ ds_j·k_j, dk_j += ds_j·q, dv_j += p_j·dout. The other parameters as
 * in `attend`. Handles only the heads from `from` to before `to`. Heads that share keys add to the same numbers, so one call must handle
 * all of them.
 */
export const attendBackward = ({ heads, kvHeads, headDim }: AttentionShape, lying: KeyLayout, isFused: boolean) =>
  routine(
    ['dqkv', 'dout', 'kept', 'qkv', 'stride', 'table', 'first', 'counts', 'scores', 'n', 'from', 'to'],
    `attendBackward${lying}`,
    (f, { dqkv, dout, kept, qkv, stride, table, first, counts, scores, n, from, to }) => {
      const width = headDim * BYTES;
      const more = multiplyAdd(isFused);
      f.loop(0, n, 1, (i) => {
        const count = f.let(loadInteger(plus(counts, times(i, BYTES))));
        const place = placesOf(f, lying, table, loadInteger(plus(first, times(i, BYTES))), stride);
        f.set(dout, plus(dout, times(from, width)));
        f.set(kept, plus(kept, times(from, times(count, BYTES))));
        f.loop(from, to, 1, (h) => {
          const keys = f.let(times(plus(quotient(h, heads / kvHeads), heads), width));
          const values = f.let(plus(keys, kvHeads * width));
          const own = f.let(plus(times(i, stride), times(h, width)));
          const given = loadRow(f, dout, headDim);
          const lanes = f.let(constant(0));
          f.loop(0, count, 4, (j) => {
            const dp = fourProducts(f, given, plus(qkv, values), place, j, count, headDim, more);
            const at = f.let(times(j, BYTES));
            f.store(plus(scores, at), dp);
            f.set(lanes, add(lanes, and(mul(load(plus(kept, at)), dp), below(j, count))));
          });
          const expected = acrossLanes(f, lanes, add);
          f.loop(0, count, 4, (j) => {
            const at = f.let(times(j, BYTES));
            const centred = sub(load(plus(scores, at)), expected);
            const ds = mul(mul(load(plus(kept, at)), centred), constant(1 / Math.sqrt(headDim)));
            f.store(plus(scores, at), ds);
          });
          for (const parts of inRegisters(vectorsOf(headDim), GRADIENTS)) {
            const row = (at: Integer) => parts.map(({ offset, lanes: some }) => f.let(load(at, some, offset)));
            const query = row(plus(qkv, own));
            const given = row(dout);
            const dquery = parts.map(() => f.let(constant(0)));
            f.loop(0, count, 1, (j) => {
              const at = f.let(times(j, BYTES));
              const p = f.let(loadSplat(plus(kept, at)));
              const ds = f.let(loadSplat(plus(scores, at)));
              const lies = f.let(place(j));
              const k = f.let(plus(plus(qkv, keys), lies));
              const dk = f.let(plus(plus(dqkv, keys), lies));
              const dv = f.let(plus(plus(dqkv, values), lies));
              for (const [c, { offset, lanes: some }] of parts.entries()) {
                f.set(dquery[c]!, more(dquery[c]!, ds, load(k, some, offset)));
                f.store(dk, more(load(dk, some, offset), ds, query[c]!), some, offset);
                f.store(dv, more(load(dv, some, offset), p, given[c]!), some, offset);
              }
            });
            const dq = f.let(plus(dqkv, own));
            for (const [c, { offset, lanes: some }] of parts.entries())
              f.store(dq, add(load(dq, some, offset), dquery[c]!), some, offset);
          }
          f.set(dout, plus(dout, width));
          f.set(kept, plus(kept, times(count, BYTES)));
        });
        f.set(dout, plus(dout, times(minus(heads, to), width)));
        f.set(kept, plus(kept, times(minus(heads, to), times(count, BYTES))));
      });
    },
  );
