import * as kernels from '../../gpu/kernels/index.ts';
import { Plan, type Recorder } from '../../gpu/plan.ts';
import type { Scalar, Tensor } from '../../gpu/tensor.ts';
import type { ActivationGradients, Activations } from './activations.ts';
import { attention } from './attention.ts';
import type { DeviceBatch } from './batch.ts';
import { embed, embedBackward } from './embedding.ts';
import { projectionToVocabulary, recordFinalNorm, recordFinalNormBackward, type Heads } from './finalNorm.ts';
import { linearBackwardInput, linearBackwardWeight, sumOverTokens } from './layers.ts';
import { CLOSING_GROUPS, gradientOf, group, startOf, type Pools } from './pools.ts';
import { recordBlocks, recordBlocksBackward, type Trunk } from './transformer.ts';

/** What the forward and backward passes over one micro-batch of rows are recorded with. */
export interface MicroBatch {
  readonly recorder: Recorder;
  readonly batch: DeviceBatch;
  readonly acts: Activations;
  readonly grads: ActivationGradients;
  readonly positions: Tensor; // (N) t of each token row
  readonly places: Tensor; // where each token stands among them
  readonly rows: Tensor; // (R) batch rows of the micro-batch, 0xffffffff for none
  readonly minibatch: Tensor; // (M) those of the whole optimizer step
  readonly knobs: Tensor; // uniform
  readonly B: number;
  readonly T: number;
  readonly R: number;
}

/** What heads write: scores (2, B, T) and values (B,T), or for a learner the coefficients of the batch. */
type Outcome = { readonly scores: Tensor; readonly values: Tensor } | 'coefficients';

/** Records a forward pass; of a learner with the objective and its gradients with respect to logits and values. */
export function recordForward(
  plan: Plan,
  micro: MicroBatch,
  trunk: Trunk,
  weights: Tensor,
  heads: Heads,
  outcome: Outcome,
): void {
  const { batch, acts, rows, knobs, T, B } = micro;
  const { record, grammar, targets, masks } = batch;
  const { model: m, layout } = trunk;
  const learns = outcome === 'coefficients';
  const flags = { learns: learns ? 1 : 0, weights_at: batch.weightsAt };
  const [N, C, V] = [acts.N, m.hidden_size, m.vocab_size];
  const table = group(weights, layout, 'model.embed_tokens.weight', [V, C]);
  const { places, minibatch } = micro;
  const embedded = { record, rows, table, x: acts.x, places, minibatch, masks, weights: batch.weights, knobs };
  embed(plan, embedded, { N, T, C, V, B }, learns);
  recordBlocks(plan, trunk, weights, acts, micro.positions, (layer) => {
    const [qkv, out, lse] = [acts.qkv.at(layer), acts.attended.at(layer), acts.lse.at(layer)];
    attention(plan, trunk.choice.attention, m, { qkv, out, lse }, N, T);
  });
  recordFinalNorm(plan, trunk, weights, acts, heads);
  if (heads.language) {
    const { logits } = acts;
    // scores alone need stand-ins for what the objective reads: they may lie in the same buffer as what is written
    const [old_scores, ref_scores, out] = learns
      ? [batch.oldScores, batch.refScores, batch.coefficients]
      : [targets, targets, outcome.scores];
    const LANES = trunk.choice.reductions === 'workgroup' ? HEAD_LANES : 1;
    plan.dispatch(
      kernels.languageHead,
      { record, grammar, rows, old_scores, ref_scores, targets, logits, out, knobs },
      { N, V, T, B, ...flags, LANES },
      { LANES },
    );
  }
  if (heads.value) {
    const hidden = acts.y.at(2 * m.num_hidden_layers);
    const weight = group(weights, layout, 'value_head.weight', [C]);
    const bias = group(weights, layout, 'value_head.bias', [1]);
    const [old_values, out] = learns ? [batch.oldValues, batch.coefficients] : [targets, outcome.values];
    plan.dispatch(
      kernels.valueHead,
      { hidden, weight, bias, record, rows, old_values, targets, out, knobs },
      { N, C, T, B, ...flags, alone: heads.language ? 0 : 1 },
    );
  }
}

/** Threads that share a token's logits where barriers are cheap; with 64 most would stand still in small vocabularies. */
const HEAD_LANES = 16;

/** Records forward, objective and backward of one micro-batch; adds to the gradient pool. */
export function recordLearning(micro: MicroBatch, trunk: Trunk, pools: Pools, heads: Heads, label: string): Plan {
  const { batch, acts, grads, rows, T, B } = micro;
  const { model: m, layout, choice } = trunk;
  const [N, C, V] = [acts.N, m.hidden_size, m.vocab_size];
  const last = 2 * m.num_hidden_layers;
  const plan = new Plan(micro.recorder, label);
  recordForward(plan, micro, trunk, pools.shadow, heads, 'coefficients');
  const { coefficients } = batch;
  const sizes = { N, K: C, M: V };
  const projection = projectionToVocabulary(m);
  if (heads.language) {
    const head = group(pools.shadow, layout, projection, [V, C]);
    linearBackwardInput(plan, choice.products, acts.logits, head, grads.dy.at(last), sizes);
  }
  if (heads.value) {
    sumOverTokens(
      plan,
      kernels.valueBackward,
      {
        hidden: acts.y.at(last),
        weight: group(pools.shadow, layout, 'value_head.weight', [C]),
        rows,
        coefficients,
        dhidden: grads.dy.at(last),
        grads: pools.grads.pool,
      },
      {
        N,
        C,
        T,
        dvalue_at: 10 * B * T,
        weight_at: startOf(layout, 'value_head.weight'),
        bias_at: startOf(layout, 'value_head.bias'),
      },
      pools.grads,
      { ACCUMULATE: heads.language ? 1 : 0 },
    );
  }
  recordFinalNormBackward(plan, trunk, pools.shadow, acts, grads);
  if (heads.language) {
    const dhead = gradientOf(pools.grads, layout, projection, V * C);
    linearBackwardWeight(plan, choice.products, acts.logits, acts.y.at(last), dhead, sizes);
  }
  recordBlocksBackward(plan, trunk, pools.shadow, pools.grads, acts, grads, T);
  const dtable = gradientOf(pools.grads, layout, 'model.embed_tokens.weight', V * C);
  embedBackward(plan, micro.places, grads.dx, dtable, { N, T, C, V });
  return plan;
}

/** Records what opens an optimizer step: empty gradients. */
export function recordOpening(recorder: Recorder, pools: Pools, label: string): Plan {
  const plan = new Plan(recorder, label);
  plan.clear(pools.grads.pool);
  return plan;
}

/**
 * Records what closes one: norm, clip, health, log and AdamW. A frozen network is measured only, Adam's
 * step count included.
 */
export function recordClosing(
  { recorder, batch, minibatch, knobs, B, T }: MicroBatch,
  pools: Pools,
  heads: Heads,
  label: string,
  frozen = false,
): Plan {
  const plan = new Plan(recorder, label);
  const { weights, shadow, grads, first, second, sums, ledger, logAt, layout } = pools;
  const { coefficients } = batch;
  const halves = shadow.scalar === 'f16';
  const P = layout.size;
  const groups = CLOSING_GROUPS[recorder.gpu.software ? 'software' : 'hardware'];
  const stretches = { groups, chunk: Math.ceil(P / 64 / groups) };
  plan.dispatch(
    kernels.gradientNorm,
    { grads: grads.pool, weights, minibatch, coefficients, sums, ledger, knobs },
    { P, ...stretches, slabs: grads.count, M: minibatch.shape[0] ?? 0, T, B, first_stat: heads.language ? 0 : 6 },
    { LARGEST: largest(shadow.scalar) },
  );
  plan.dispatch(
    kernels.adamw,
    { weights, grads: grads.pool, first, second, shadow: halves ? shadow : coefficients, sums, ledger, knobs }, // else a stand-in
    { P: frozen ? 0 : P, decayed: layout.decayed, ...stretches, log_at: logAt },
    { SHADOW: halves ? 1 : 0 },
  );
  return plan;
}

/** Bits of the largest finite number of a type, as an f32. */
function largest(scalar: Scalar): number {
  return scalar === 'f16' ? 0x477fe000 : 0x7f7fffff; // 65,504 and 3.4e38
}

/** Records the rounding of weights that were written to what forward passes read; nothing where they read the weights themselves. */
export function recordRounding(recorder: Recorder, networks: readonly Pools[]): Plan {
  const plan = new Plan(recorder, 'rounding');
  for (const { weights, shadow, layout } of networks) {
    if (shadow !== weights) plan.dispatch(kernels.roundWeights, { weights, shadow }, { P: layout.size });
  }
  return plan;
}
