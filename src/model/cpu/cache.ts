import type { Arithmetic } from './arithmetic.ts';
import type { ForwardBuffers, Activations } from './activations.ts';
import { attentionShape } from './attention.ts';
import type { Real } from '../learning/real.ts';
import { type Attend, type PackedTokens, forward } from './transformer.ts';
import type { Batch } from '../learning/batchArrays.ts';
import type { RowReader } from './logitsDrawer.ts';
import { gatherRows } from './layers.ts';
import type { NetworkTensors } from './network.ts';

/** The keys and values of every token that the network has read, one array (B, T, kvH·D) per layer. */
interface Cache {
  readonly length: number; // T
  readonly keys: readonly Real[];
  readonly values: readonly Real[];
  readonly cachedCounts: Int32Array; // (B) number of tokens of each row in the cache
}

function createCache(arithmetic: Arithmetic, rows: number, length: number): Cache {
  const { model, reals } = arithmetic;
  const perLayer = () =>
    Array.from({ length: model.num_hidden_layers }, () =>
      reals(rows * length * model.num_key_value_heads * model.head_dim),
    );
  return { length, keys: perLayer(), values: perLayer(), cachedCounts: new Int32Array(rows) };
}

/** Stores the new keys and values in the cache, then attends over all cached tokens of the row. */
function cachedAttention(
  { arithmetic, visibleKeys, scores }: ForwardBuffers,
  cache: Cache,
  { count: n, positions, rows }: PackedTokens & { readonly rows: Int32Array },
): Attend {
  const { heads, kvHeads, headDim } = attentionShape(arithmetic.model);
  const kvWidth = kvHeads * headDim;
  const qkvRow = (heads + 2 * kvHeads) * headDim;
  for (let i = 0; i < n; i++) {
    visibleKeys.first[i] = rows[i]! * cache.length;
    visibleKeys.counts[i] = positions[i]! + 1;
  }
  return (layer, a) => {
    const keys = cache.keys[layer]!;
    const values = cache.values[layer]!;
    for (let i = 0; i < n; i++) {
      const cacheStart = (visibleKeys.first[i]! + positions[i]!) * kvWidth;
      const qkvStart = i * qkvRow + heads * headDim;
      for (let c = 0; c < kvWidth; c++) {
        keys[cacheStart + c] = a.qkv[qkvStart + c]!;
        values[cacheStart + c] = a.qkv[qkvStart + kvWidth + c]!;
      }
    }
    arithmetic.attend(a.attended, null, a.qkv, keys, values, kvWidth, visibleKeys, scores, n);
  };
}

/** Reads rows with the network. Its cache of keys and values has one place for each token of each row. */
export class CacheReader implements RowReader {
  readonly #batch: Batch;
  readonly #buffers: Activations;
  readonly #tensors: NetworkTensors;
  readonly #rotary: Real;
  readonly #cache: Cache;
  readonly #hidden: Real; // (B, d)

  constructor(batch: Batch, buffers: Activations, tensors: NetworkTensors, rotary: Real) {
    const { arithmetic } = buffers;
    this.#batch = batch;
    this.#buffers = buffers;
    this.#tensors = tensors;
    this.#rotary = rotary;
    this.#cache = createCache(arithmetic, batch.rows, batch.length);
    this.#hidden = arithmetic.reals(batch.rows * arithmetic.model.hidden_size);
  }

  clearCache(): void {
    this.#cache.cachedCounts.fill(0);
  }

  clearRowCache(row: number): void {
    this.#cache.cachedCounts[row] = 0;
  }

  read(active: readonly number[], logits: Real): void {
    const { length, lengths } = this.#batch;
    const { cachedCounts } = this.#cache;
    const { model, matmulNT } = this.#buffers.arithmetic;
    const total = active.reduce((sum, row) => sum + lengths[row]! - cachedCounts[row]!, 0);
    const packed = {
      count: total,
      tokens: new Int32Array(total),
      positions: new Int32Array(total),
      rows: new Int32Array(total),
    };
    const lastIndices = new Int32Array(active.length);
    let index = 0;
    for (const [i, b] of active.entries()) {
      for (let t = cachedCounts[b]!; t < lengths[b]!; t++) {
        packed.tokens[index] = this.#batch.tokens[b * length + t]!;
        packed.positions[index] = t;
        packed.rows[index] = b;
        index++;
      }
      lastIndices[i] = index - 1;
      cachedCounts[b] = lengths[b]!;
    }
    const attend = cachedAttention(this.#buffers, this.#cache, packed);
    forward(this.#buffers, this.#tensors, packed, this.#rotary, attend, false);
    gatherRows(this.#hidden, this.#buffers.hidden, lastIndices, active.length, model.hidden_size);
    matmulNT(logits, this.#hidden, this.#tensors.head, active.length, model.vocab_size, model.hidden_size);
  }
}
