import { matmulNT } from './matmul.ts';
import type { Learner } from './learner.ts';
import { reals, type Real } from './real.ts';
import { forward, packedAttention, reserveFor } from './transformer.ts';

/** (B,T,V) logits of the whole batch; see `CpuPolicy.logits`. One row at a time: speed does not matter here. */
export function fullLogits(learner: Learner): Real {
  const { batch, policy, rotary } = learner;
  const { model, tensors } = policy.network;
  const v = model.vocab_size;
  const out = reals(policy.room.precision, batch.tokens.length * v);
  for (let b = 0; b < batch.rows; b++) {
    const count = batch.lengths[b]!;
    const start = b * batch.length;
    const packed = {
      count,
      tokens: batch.tokens.slice(start, start + count),
      positions: Int32Array.from({ length: count }, (_, t) => t),
    };
    reserveFor(policy.room, packed, false);
    forward(policy.room, tensors, packed, rotary, packedAttention(model), false);
    matmulNT(out.subarray(start * v), policy.room.hidden, tensors.head, count, v, model.hidden_size);
  }
  return out;
}
