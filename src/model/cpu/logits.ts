import { rowPrefix } from './rowPrefix.ts';
import type { Learner } from './learner.ts';
import { reals, type Real } from './real.ts';
import { forward, packedAttention } from './transformer.ts';

/** (B,T,V) logits of the whole batch; see `CpuPolicy.logits`. One row at a time: speed does not matter here. */
export function fullLogits(learner: Learner): Real {
  const { batch, policy, head, rotary } = learner;
  const { room } = policy;
  const { tensors } = policy.network;
  const v = head.vocabulary;
  const out = reals(room.arithmetic.precision, batch.tokens.length * v);
  for (let b = 0; b < batch.rows; b++) {
    const count = batch.lengths[b]!;
    const start = b * batch.length;
    const packed = {
      count,
      tokens: batch.tokens.slice(start, start + count),
      positions: Int32Array.from({ length: count }, (_, t) => t),
    };
    forward(room, tensors, packed, rotary, packedAttention(room, packed, false), false);
    head.logits(out.subarray(start * v), room.hidden, tensors.head, count);
  }
  return out;
}

/** (V) logits after the first `count` tokens of a row, untempered and unmasked. Throws RangeError where the row does not have as many. */
export function nextLogits({ batch, policy, head, rotary }: Learner, row: number, count: number): Real {
  const { room, network } = policy;
  const packed = rowPrefix(batch, row, count);
  forward(room, network.tensors, packed, rotary, packedAttention(room, packed, false), false);
  const out = reals(room.arithmetic.precision, head.vocabulary);
  head.logits(out, room.hidden.subarray((count - 1) * head.width), network.tensors.head, 1);
  return out;
}
