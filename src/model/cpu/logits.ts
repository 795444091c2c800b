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
