import type { ModelConfig } from './architecture.ts';

/** Numbers and size of the heads. A row of qkv holds all heads of q, then those of k, then those of v. */
export interface AttentionShape {
  readonly heads: number; // H
  readonly kvHeads: number;
  readonly headDim: number; // D
}

export function attentionShape(model: ModelConfig): AttentionShape {
  return { heads: model.num_attention_heads, kvHeads: model.num_key_value_heads, headDim: model.head_dim };
}

export function qkvWidth(shape: AttentionShape): number {
  return (shape.heads + 2 * shape.kvHeads) * shape.headDim;
}

/**
 * The keys that each query sees. Without `table`, query i sees the rows first[i] … first[i] + counts[i] − 1. With
 * `table`, it sees the rows table[first[i]] … table[first[i] + counts[i] − 1].
 */
export interface VisibleKeys {
  readonly first: Int32Array; // (n)
  readonly counts: Int32Array; // (n)
  readonly table?: Int32Array; // row indices of keys; with it, a beginning shared by several rows is stored once
}
