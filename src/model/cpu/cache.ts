import type { Arithmetic } from './arithmetic.ts';
import type { ForwardRoom, Activations } from './activations.ts';
import { attentionShape } from './attention.ts';
import type { Real } from './real.ts';
import { type Attend, type Packed, forward } from './transformer.ts';
import type { Batch } from './batchArrays.ts';
import type { RowReader } from './decoder.ts';
import { gatherRows } from './layers.ts';
import type { Tensors } from './network.ts';

/** Keys and values of every token the network has seen, per layer (B, T, kvH·D). */
interface Cache {
  readonly length: number; // T
  readonly keys: readonly Real[];
  readonly values: readonly Real[];
  readonly filled: Int32Array; // (B) number of tokens of each row in the cache
}

/** An empty cache for `rows` rows of up to `length` tokens. */
function createCache(arithmetic: Arithmetic, rows: number, length: number): Cache {
  const { model, reals } = arithmetic;
  const perLayer = () =>
    Array.from({ length: model.num_hidden_layers }, () =>
      reals(rows * length * model.num_key_value_heads * model.head_dim),
    );
  return { length, keys: perLayer(), values: perLayer(), filled: new Int32Array(rows) };
}

/** Attention that first stores the new keys and values in the cache, then reads all of a row's. */
function cachedAttention(
  { arithmetic, reach, scores }: ForwardRoom,
  cache: Cache,
  { count: n, positions, rows }: Packed & { readonly rows: Int32Array },
): Attend {
  const { heads, kvHeads, headDim } = attentionShape(arithmetic.model);
  const kv = kvHeads * headDim;
  const wide = (heads + 2 * kvHeads) * headDim;
  for (let i = 0; i < n; i++) {
    reach.first[i] = rows[i]! * cache.length;
    reach.counts[i] = positions[i]! + 1;
  }
  return (layer, a) => {
    const keys = cache.keys[layer]!;
    const values = cache.values[layer]!;
    for (let i = 0; i < n; i++) {
      const to = (reach.first[i]! + positions[i]!) * kv;
      const from = i * wide + heads * headDim;
      for (let c = 0; c < kv; c++) {
        keys[to + c] = a.qkv[from + c]!;
        values[to + c] = a.qkv[from + kv + c]!;
      }
    }
    arithmetic.attend(a.attended, null, a.qkv, keys, values, kv, reach, scores, n);
  };
}

/** Runs the network over rows with a cache of keys and values that has one place for each token of each row. */
export class CacheReader implements RowReader {
  readonly #batch: Batch;
  readonly #room: Activations;
  readonly #tensors: Tensors;
  readonly #rotary: Real;
  readonly #cache: Cache;
  readonly #hidden: Real; // (B, d)

  constructor(batch: Batch, room: Activations, tensors: Tensors, rotary: Real) {
    const { arithmetic } = room;
    this.#batch = batch;
    this.#room = room;
    this.#tensors = tensors;
    this.#rotary = rotary;
    this.#cache = createCache(arithmetic, batch.rows, batch.length);
    this.#hidden = arithmetic.reals(batch.rows * arithmetic.model.hidden_size);
  }

  forget(): void {
    this.#cache.filled.fill(0);
  }

  forgetRow(row: number): void {
    this.#cache.filled[row] = 0;
  }

  read(active: readonly number[], logits: Real): void {
    const { length, lengths } = this.#batch;
    const { filled } = this.#cache;
    const { model, matmulNT } = this.#room.arithmetic;
    const total = active.reduce((sum, b) => sum + lengths[b]! - filled[b]!, 0);
    const packed = {
      count: total,
      tokens: new Int32Array(total),
      positions: new Int32Array(total),
      rows: new Int32Array(total),
    };
    const last = new Int32Array(active.length);
    let at = 0;
    for (const [i, b] of active.entries()) {
      for (let t = filled[b]!; t < lengths[b]!; t++) {
        packed.tokens[at] = this.#batch.tokens[b * length + t]!;
        packed.positions[at] = t;
        packed.rows[at] = b;
        at++;
      }
      last[i] = at - 1;
      filled[b] = lengths[b]!;
    }
    const attend = cachedAttention(this.#room, this.#cache, packed);
    forward(this.#room, this.#tensors, packed, this.#rotary, attend, false);
    gatherRows(this.#hidden, this.#room.hidden, last, active.length, model.hidden_size);
    matmulNT(logits, this.#hidden, this.#tensors.head, active.length, model.vocab_size, model.hidden_size);
  }
}
