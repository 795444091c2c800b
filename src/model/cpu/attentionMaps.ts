import type { AttentionView } from '../../domain/readings.ts';
import { rowPrefix } from './rowPrefix.ts';
import type { Learner } from './learner.ts';
import type { Real } from '../learning/real.ts';
import { forward, packedAttention } from './transformer.ts';

/** Returns (layers, heads, count): the attention at token `count` − 1 of the row, from which the policy chooses the next token. */
export function attentionMaps({ batch, policy, rotary }: Learner, row: number, count: number): AttentionView {
  const { buffers, network } = policy;
  const { num_hidden_layers: layers, num_attention_heads: heads } = network.model;
  const packed = rowPrefix(batch, row, count);
  forward(buffers, network.tensors, packed, rotary, packedAttention(buffers, packed, true), true);
  const weights = new Float32Array(layers * heads * count);
  buffers.layers.forEach(({ probabilities }, layer) => {
    weights.set(lastTokenAttention(probabilities, heads, count), layer * heads * count);
  });
  return { layers, heads, count, weights };
}

/** (heads, count), a view of a layer's `probabilities`, which have (heads, t) numbers for token t of the row, counted from 1. */
export function lastTokenAttention(probabilities: Real, heads: number, count: number): Real {
  const start = (heads * count * (count - 1)) / 2;
  return probabilities.subarray(start, start + heads * count);
}
