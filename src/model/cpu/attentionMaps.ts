import type { AttentionView } from '../../domain/readings.ts';
import { beginningOf } from './beginning.ts';
import type { Learner } from './learner.ts';
import type { Real } from './real.ts';
import { forward, packedAttention } from './transformer.ts';

/** What every head looked at when row `row` of the batch had its first `count` tokens and the next was to be chosen. */
export function attentionMaps({ batch, policy, rotary }: Learner, row: number, count: number): AttentionView {
  const { room, network } = policy;
  const { num_hidden_layers: layers, num_attention_heads: heads } = network.model;
  const packed = beginningOf(batch, row, count);
  forward(room, network.tensors, packed, rotary, packedAttention(room, packed, true), true);
  const weights = new Float32Array(layers * heads * count);
  room.layers.forEach(({ probabilities }, layer) => {
    weights.set(ofLast(probabilities, heads, count), layer * heads * count);
  });
  return { layers, heads, count, weights };
}

/** The last token's part (heads, count) of a layer's probabilities: it lies behind those of all before it, of 1, 2, … tokens each. */
export function ofLast(probabilities: Real, heads: number, count: number): Real {
  const at = (heads * count * (count - 1)) / 2;
  return probabilities.subarray(at, at + heads * count);
}
