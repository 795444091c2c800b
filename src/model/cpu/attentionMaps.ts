import type { AttentionView } from '../../domain/readings.ts';
import { rowPrefix } from './rowPrefix.ts';
import type { Learner } from './learner.ts';
import type { Real } from './real.ts';
import { forward, packedAttention } from './transformer.ts';

/** The attention of every head at token `count` − 1 of row `row`, from which the policy chooses the next token. `weights` is (layers, heads, count). */
export function attentionMaps({ batch, policy, rotary }: Learner, row: number, count: number): AttentionView {
  const { room, network } = policy;
  const { num_hidden_layers: layers, num_attention_heads: heads } = network.model;
  const packed = rowPrefix(batch, row, count);
  forward(room, network.tensors, packed, rotary, packedAttention(room, packed, true), true);
  const weights = new Float32Array(layers * heads * count);
  room.layers.forEach(({ probabilities }, layer) => {
    weights.set(ofLast(probabilities, heads, count), layer * heads * count);
  });
  return { layers, heads, count, weights };
}

/**
 * The last token's attention, (heads, count), cut out of a layer's `probabilities`. They hold (heads, t) numbers for each token in turn, where
 * t counts the tokens up to and including it.
 */
export function ofLast(probabilities: Real, heads: number, count: number): Real {
  const at = (heads * count * (count - 1)) / 2;
  return probabilities.subarray(at, at + heads * count);
}
