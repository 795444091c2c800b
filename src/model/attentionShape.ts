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

/** The keys that each query sees: query i those at the places first[i] … first[i] + counts[i] − 1 of a table. */
export interface VisibleKeys {
  readonly first: Int32Array; // (n)
  readonly counts: Int32Array; // (n)
}

/** With the table: rows of keys by place. So a beginning that several rows share is stored once. */
export interface TableOfKeys extends VisibleKeys {
  readonly table: Int32Array;
}
