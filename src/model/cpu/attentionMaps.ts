import type { AttentionView } from '../../domain/readings.ts';
import type { Learner } from './learner.ts';
import { forward, packedAttention } from './transformer.ts';

/** What every head looked at when row `row` of the batch had its first `count` tokens and the next was to be chosen. */
export function attentionMaps({ batch, policy, rotary }: Learner, row: number, count: number): AttentionView {
  const held = batch.lengths[row] ?? 0;
  if (count < 1 || count > held) {
    throw new RangeError(`attention: got ${count} tokens; want 1 to the ${held} of row ${row}.`);
  }
  const { room, network } = policy;
  const { num_hidden_layers: layers, num_attention_heads: heads } = network.model;
  const start = row * batch.length;
  const packed = {
    count,
    tokens: batch.tokens.slice(start, start + count),
    positions: Int32Array.from({ length: count }, (_, t) => t),
  };
  forward(room, network.tensors, packed, rotary, packedAttention(room, packed, true), true);
  const weights = new Float32Array(layers * heads * count);
  // the last token's probabilities lie behind those of all before it, of 1, 2, … tokens each
  const at = (heads * count * (count - 1)) / 2;
  room.layers.forEach(({ probabilities }, layer) => {
    weights.set(probabilities.subarray(at, at + heads * count), layer * heads * count);
  });
  return { layers, heads, count, weights };
}
