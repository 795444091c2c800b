import type { Arithmetic } from './arithmetic.ts';
import { type Activations, viewOf } from './activations.ts';
import { CachedContexts, lastContext } from '../contexts.ts';
import { attentionShape } from '../attentionShape.ts';
import type { Real } from '../learning/real.ts';
import { type Attend, forward, type PackedTokens, unpackedProducts } from './transformer.ts';
import type { Batch } from '../learning/batchArrays.ts';
import type { RowReader } from './logitsDrawer.ts';
import type { NetworkTensors } from './network.ts';
import { PASS_PARTS } from './team/team.ts';

/** The keys and values of the tokens of each row's last context that the network has read, one array (B, T, kvH·D) per layer. */
interface Cache {
  readonly length: number; // T
  readonly keys: readonly Real[];
  readonly values: readonly Real[];
  readonly cachedCounts: Int32Array; // (B) number of tokens of each row's context in the cache
  readonly places: Int32Array; // (B, T) place i is row i of the keys and values
}

function createCache(arithmetic: Arithmetic, rows: number, length: number): Cache {
  const { model, reals } = arithmetic;
  const perLayer = () =>
    Array.from({ length: model.num_hidden_layers }, () =>
      reals(rows * length * model.num_key_value_heads * model.head_dim),
    );
  const places = arithmetic.integers(rows * length);
  for (const place of places.keys()) places[place] = place;
  return { length, keys: perLayer(), values: perLayer(), cachedCounts: new Int32Array(rows), places };
}

/** Stores the new keys and values in the cache, then attends over all cached tokens of the row's context. */
function cachedAttention(
  { arithmetic, visibleKeys, scores }: Activations,
  cache: Cache,
  { count: n, positions, rows }: PackedTokens & { readonly rows: Int32Array },
): Attend {
  const { kvHeads, headDim } = attentionShape(arithmetic.model);
  for (let i = 0; i < n; i++) {
    visibleKeys.first[i] = rows[i]! * cache.length;
    visibleKeys.counts[i] = positions[i]! + 1;
  }
  return (layer, { attended, qkv }) => {
    const [keys, values] = [cache.keys[layer]!, cache.values[layer]!];
    arithmetic.storeKeys(keys, values, qkv, visibleKeys, n);
    const visible = { ...visibleKeys, table: cache.places };
    arithmetic.attend(attended, null, qkv, keys, values, kvHeads * headDim, visible, scores, n);
  };
}

/** Tokens of a part times the scalars of a layer, at least: less work takes little longer than handing it out. */
const MIN_PART_WORK = 2 ** 20;

/** Reads rows with the network. Its cache of keys and values has one place for each token of each row. */
export class CacheReader implements RowReader {
  readonly #batch: Batch;
  readonly #buffers: Activations;
  readonly #tensors: NetworkTensors;
  readonly #rotary: Real;
  readonly #cache: Cache;
  readonly #contexts: CachedContexts;
  readonly #hidden: Real; // (B, d)
  readonly #lastIndices: Int32Array; // (B) of each row's last token among the new tokens of its part

  constructor(batch: Batch, buffers: Activations, tensors: NetworkTensors, rotary: Real) {
    const { arithmetic } = buffers;
    this.#batch = batch;
    this.#buffers = buffers;
    this.#tensors = tensors;
    this.#rotary = rotary;
    this.#cache = createCache(arithmetic, batch.rows, batch.length);
    this.#contexts = new CachedContexts(batch);
    this.#hidden = arithmetic.reals(batch.rows * arithmetic.model.hidden_size);
    this.#lastIndices = arithmetic.integers(batch.rows);
  }

  clearCache(): void {
    this.#cache.cachedCounts.fill(0);
  }

  clearRowCache(row: number): void {
    this.#cache.cachedCounts[row] = 0;
  }

  read(active: readonly number[], logits: Real): void {
    const { cachedCounts } = this.#cache;
    const { model, runPass, team } = this.#buffers.arithmetic;
    const { hidden_size: d, vocab_size: v, num_hidden_layers: layers } = model;
    for (const row of active) cachedCounts[row] = this.#contexts.moveOn(row, cachedCounts[row]!);
    const newTokens = active.map((row) => lastContext(this.#batch, row).length - cachedCounts[row]!);
    const total = newTokens.reduce((sum, count) => sum + count, 0);
    const work = total * layers * d * (4 * d + 3 * model.intermediate_size);
    // a row's bits don't depend on its part, so that the number of parts can
    const parts = Math.max(1, Math.min(team?.count ?? 1, PASS_PARTS, active.length, Math.floor(work / MIN_PART_WORK)));
    const firstRow = (part: number) => Math.floor((part * active.length) / parts);
    let from = 0;
    runPass(
      Array.from({ length: parts }, (_, index) => {
        const [first, end] = [firstRow(index), firstRow(index + 1)];
        const count = newTokens.slice(first, end).reduce((sum, tokens) => sum + tokens, 0);
        const view = viewOf(this.#buffers, { index, from, count, pairsBefore: 0 });
        const [hidden, last] = [this.#hidden.subarray(first * d), this.#lastIndices.subarray(first)];
        from += count;
        return () => this.#readPart(active.slice(first, end), view, count, hidden, last, logits.subarray(first * v));
      }),
    );
  }

  #readPart(
    rows: readonly number[],
    view: Activations,
    count: number,
    hidden: Real,
    lastIndices: Int32Array,
    logits: Real,
  ): void {
    const { cachedCounts } = this.#cache;
    const { model, gatherRows, matmulNT } = view.arithmetic;
    const { hidden_size: d, vocab_size: v } = model;
    const packed = {
      count,
      tokens: new Int32Array(count),
      positions: new Int32Array(count),
      rows: new Int32Array(count),
    };
    let index = 0;
    for (const [i, b] of rows.entries()) {
      const text = lastContext(this.#batch, b);
      for (let t = cachedCounts[b]!; t < text.length; t++) {
        packed.tokens[index] = text[t]!;
        packed.positions[index] = t;
        packed.rows[index] = b;
        index++;
      }
      lastIndices[i] = index - 1;
      cachedCounts[b] = text.length;
    }
    const attend = cachedAttention(view, this.#cache, packed);
    forward(unpackedProducts(view.arithmetic), view, this.#tensors, packed, this.#rotary, attend);
    gatherRows(hidden, view.hidden, lastIndices, rows.length, d);
    matmulNT(logits, hidden, this.#tensors.head, rows.length, v, d);
  }
}
