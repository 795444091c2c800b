import { qkvWidth, type AttentionShape } from '../../attentionShape.ts';
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
import { combineLanes, exponential, sumsOfFour } from './sums.ts';

const BYTES = 4;

/** A mask for lanes j … j + 3: all bits 1 where the lane is below `count`, else 0. */
const lanesBelow = (j: Integer, count: Integer) =>
  lessIntegers(addIntegers(splatInteger(j), integerLanes(0, 1, 2, 3)), splatInteger(count));

/** Returns the address of the j-th key that a query sees, in bytes relative to key 0. */
type KeyAddress = (j: Integer) => Value<'i32'>;

/** Returns the addresses of a query's keys. `first` is the query's entry in `first`; see `attend`. */
function keyAddresses(f: Routine, table: Integer, first: Integer, stride: Integer): KeyAddress {
  const start = f.let(plus(table, times(first, BYTES)));
  return (j) => times(loadInteger(plus(start, times(j, BYTES))), stride);
}

/** With keys j … j + 3, at the addresses `first` + keyAddress(…). For a key past the last, key j is used again. */
function fourProducts(
  f: Routine,
  row: readonly Vector[],
  first: Integer,
  keyAddress: KeyAddress,
  j: Integer,
  count: Integer,
  width: number,
  addProduct: ReturnType<typeof multiplyAdd>,
): Local<'v128'> {
  const sum = (r: number) => {
    const key = r === 0 ? j : select(less(plus(j, r), count), plus(j, r), j);
    const at = f.let(plus(first, keyAddress(key)));
    const total = f.let(constant(0));
    for (const [i, { offset, lanes }] of vectorsOf(width).entries())
      f.set(total, addProduct(total, row[i]!, load(at, lanes, offset)));
    return total;
  };
  return sumsOfFour(f, [sum(0), sum(1), sum(2), sum(3)]);
}

/** Number of vectors that are summed at once; they fit into sixteen registers. */
const MAX_SUMS = 8;
/** Number of vectors in the backward pass, which needs three registers for each. */
const MAX_GRADIENT_SUMS = 4;

/** Splits the vectors of a row into groups of at most `size`, so that each group fits into the registers. */
const groupsOf = <T>(parts: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(parts.length / size) }, (_, i) => parts.slice(i * size, (i + 1) * size));

/**
 * Causal attention, one query of one head at a time. Query i, the first H·D numbers of row i of qkv, sees `counts[i]`
 * keys and values: the rows of k and v, `stride` numbers apart, whose indices `table` (int32) lists from index `first[i]` on. Head h reads kv head ⌊h·kvH/H⌋. With s_j = q·k_j/√D and e_j = exp(s_j − max s),
 * out (n, H·D) = Σ e_j·v_j / Σ e_j. If `keptProbabilities` is not 0, the counts[i] probabilities of each query and head
 * are written there one after the other. `scores` is scratch memory for the largest count plus three.
 */
export const attend = (shape: AttentionShape, isFused: boolean) =>
  routine(
    ['out', 'keptProbabilities', 'qkv', 'keys', 'values', 'stride', 'table', 'first', 'counts', 'scores', 'n'],
    'attend',
    (f, { out, keptProbabilities, qkv, keys, values, stride, table, first, counts, scores, n }) => {
      const { heads, kvHeads, headDim } = shape;
      const rowBytes = f.let(times(stride, BYTES));
      const width = headDim * BYTES;
      const addProduct = multiplyAdd(isFused);
      f.loop(0, n, 1, (i) => {
        const count = f.let(loadInteger(plus(counts, times(i, BYTES))));
        const keyAddress = keyAddresses(f, table, loadInteger(plus(first, times(i, BYTES))), rowBytes);
        f.loop(0, heads, 1, (h) => {
          const headOffset = f.let(times(quotient(h, heads / kvHeads), width));
          const query = loadRow(f, plus(plus(qkv, times(i, BYTES * qkvWidth(shape))), times(h, width)), headDim);
          const maxima = f.let(constant(-Infinity));
          f.loop(0, count, 4, (j) => {
            const products = fourProducts(f, query, plus(keys, headOffset), keyAddress, j, count, headDim, addProduct);
            const s = f.let(mul(products, constant(1 / Math.sqrt(headDim))));
            f.store(plus(scores, times(j, BYTES)), s);
            f.set(maxima, max(maxima, s));
          });
          const highest = combineLanes(f, maxima, max);
          const lanes = f.let(constant(0));
          f.loop(0, count, 4, (j) => {
            const at = f.let(plus(scores, times(j, BYTES)));
            const e = f.let(and(exponential(f, sub(load(at), highest)), lanesBelow(j, count)));
            f.store(at, e);
            f.set(lanes, add(lanes, e));
          });
          const inverse = f.let(div(constant(1), combineLanes(f, lanes, add)));
          for (const parts of groupsOf(vectorsOf(headDim), MAX_SUMS)) {
            const sums = parts.map(() => f.let(constant(0)));
            f.loop(0, count, 1, (j) => {
              const value = f.let(plus(plus(values, headOffset), keyAddress(j)));
              const e = f.let(loadSplat(plus(scores, times(j, BYTES))));
              for (const [c, { offset, lanes }] of parts.entries())
                f.set(sums[c]!, addProduct(sums[c]!, e, load(value, lanes, offset)));
            });
            for (const [c, { offset, lanes }] of parts.entries()) f.store(out, mul(sums[c]!, inverse), lanes, offset);
          }
          f.set(out, plus(out, width));
          f.when(keptProbabilities, () => {
            f.blocks(count, [4, 1], (at, lanes) =>
              f.store(plus(keptProbabilities, at), mul(load(plus(scores, at), lanes), inverse), lanes),
            );
            f.set(keptProbabilities, plus(keptProbabilities, times(count, BYTES)));
          });
        });
      });
    },
  );

/**
 * The backward pass of `attend`: adds to dqkv the gradient that follows from dout (n, H·D). dqkv has the layout of the
 * packed qkv (n, (H + 2·kvH)·D). With dp_j = dout·v_j and ds_j = p_j·(dp_j − Σ p·dp)/√D,
 * dq += Σ ds_j·k_j, dk_j += ds_j·q and dv_j += p_j·dout. The other parameters are those of `attend`. Handles only the
 * heads `from` … `to` − 1. Heads that share keys add to the same numbers, so a single call must handle all of them.
 */
export const attendBackward = (shape: AttentionShape, isFused: boolean) =>
  routine(
    ['dqkv', 'dout', 'keptProbabilities', 'qkv', 'table', 'first', 'counts', 'scores', 'n', 'from', 'to'],
    'attendBackward',
    (f, { dqkv, dout, keptProbabilities, qkv, table, first, counts, scores, n, from, to }) => {
      const { heads, kvHeads, headDim } = shape;
      const stride = BYTES * qkvWidth(shape);
      const width = headDim * BYTES;
      const addProduct = multiplyAdd(isFused);
      f.loop(0, n, 1, (i) => {
        const count = f.let(loadInteger(plus(counts, times(i, BYTES))));
        const keyAddress = keyAddresses(f, table, loadInteger(plus(first, times(i, BYTES))), stride);
        f.set(dout, plus(dout, times(from, width)));
        f.set(keptProbabilities, plus(keptProbabilities, times(from, times(count, BYTES))));
        f.loop(from, to, 1, (h) => {
          const keys = f.let(times(plus(quotient(h, heads / kvHeads), heads), width));
          const values = f.let(plus(keys, kvHeads * width));
          const queryOffset = f.let(plus(times(i, stride), times(h, width)));
          const doutRow = loadRow(f, dout, headDim);
          const lanes = f.let(constant(0));
          f.loop(0, count, 4, (j) => {
            const dp = fourProducts(f, doutRow, plus(qkv, values), keyAddress, j, count, headDim, addProduct);
            const at = f.let(times(j, BYTES));
            f.store(plus(scores, at), dp);
            f.set(lanes, add(lanes, and(mul(load(plus(keptProbabilities, at)), dp), lanesBelow(j, count))));
          });
          const expected = combineLanes(f, lanes, add);
          f.loop(0, count, 4, (j) => {
            const at = f.let(times(j, BYTES));
            const centred = sub(load(plus(scores, at)), expected);
            const ds = mul(mul(load(plus(keptProbabilities, at)), centred), constant(1 / Math.sqrt(headDim)));
            f.store(plus(scores, at), ds);
          });
          for (const parts of groupsOf(vectorsOf(headDim), MAX_GRADIENT_SUMS)) {
            const row = (at: Integer) =>
              parts.map(({ offset, lanes: partLanes }) => f.let(load(at, partLanes, offset)));
            const query = row(plus(qkv, queryOffset));
            const doutRow = row(dout);
            const dquery = parts.map(() => f.let(constant(0)));
            f.loop(0, count, 1, (j) => {
              const at = f.let(times(j, BYTES));
              const p = f.let(loadSplat(plus(keptProbabilities, at)));
              const ds = f.let(loadSplat(plus(scores, at)));
              const address = f.let(keyAddress(j));
              const k = f.let(plus(plus(qkv, keys), address));
              const dk = f.let(plus(plus(dqkv, keys), address));
              const dv = f.let(plus(plus(dqkv, values), address));
              for (const [c, { offset, lanes: partLanes }] of parts.entries()) {
                f.set(dquery[c]!, addProduct(dquery[c]!, ds, load(k, partLanes, offset)));
                f.store(dk, addProduct(load(dk, partLanes, offset), ds, query[c]!), partLanes, offset);
                f.store(dv, addProduct(load(dv, partLanes, offset), p, doutRow[c]!), partLanes, offset);
              }
            });
            const dq = f.let(plus(dqkv, queryOffset));
            for (const [c, { offset, lanes: partLanes }] of parts.entries())
              f.store(dq, add(load(dq, partLanes, offset), dquery[c]!), partLanes, offset);
          }
          f.set(dout, plus(dout, width));
          f.set(keptProbabilities, plus(keptProbabilities, times(count, BYTES)));
        });
        f.set(dout, plus(dout, times(minus(heads, to), width)));
        f.set(keptProbabilities, plus(keptProbabilities, times(minus(heads, to), times(count, BYTES))));
      });
    },
  );
