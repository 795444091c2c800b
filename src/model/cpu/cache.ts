import type { Arithmetic } from './arithmetic.ts';
import type { ForwardRoom } from './activations.ts';
import { attentionShape } from './attention.ts';
import type { Real } from './real.ts';
import type { Attend, Packed } from './transformer.ts';

/** Keys and values of every token the network has seen, per layer (B, T, kvH·D). */
export interface Cache {
  readonly length: number; // T
  readonly keys: readonly Real[];
  readonly values: readonly Real[];
  readonly filled: Int32Array; // (B) tokens of each row that are in it
}

/** An empty cache for `rows` rows of up to `length` tokens. */
export function createCache(arithmetic: Arithmetic, rows: number, length: number): Cache {
  const { model, reals } = arithmetic;
  const perLayer = () =>
    Array.from({ length: model.num_hidden_layers }, () =>
      reals(rows * length * model.num_key_value_heads * model.head_dim),
    );
  return { length, keys: perLayer(), values: perLayer(), filled: new Int32Array(rows) };
}

/** Attention that first files the new keys and values, then reads all of a row's from the cache. */
export function cachedAttention(
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
