import * as kernels from '../../gpu/kernels/index.ts';
import { Plan, type Recorder } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import type { ActivationGradients, Activations } from './activations.ts';
import { attention } from './attention.ts';
import type { DeviceBatch } from './deviceBatch.ts';
import { embed, embedBackward, placeTokens } from './embedding.ts';
import { projectionToVocabulary, recordFinalNorm, recordFinalNormBackward, type Heads } from './finalNorm.ts';
import { linearBackwardInput, linearBackwardWeight, sumOverTokens } from './layers.ts';
import { gradientOf, group, startOf, type Pools } from './pools.ts';
import { recordBlocks, recordBlocksBackward, type Trunk } from './transformer.ts';

/** Tensors and sizes for recording forward and backward passes over one micro-batch of rows. */
export interface MicroBatch {
  readonly recorder: Recorder;
  readonly batch: DeviceBatch;
  readonly acts: Activations;
  readonly grads: ActivationGradients;
  readonly positions: Tensor; // (N) t of each token row
  readonly places: Tensor; // positions of each token among the token rows, see token_places.wgsl
  readonly rows: Tensor; // (R) batch rows of the micro-batch; 0xffffffff: no row
  readonly knobs: Tensor; // uniform
  readonly B: number;
  readonly T: number;
}

/** Outputs of the heads: scores (3, B, T) and values (B,T). */
interface Outcome {
  readonly scores: Tensor;
  readonly values: Tensor;
}

/** Records a forward pass from tokens to scores and values. */
export function recordForward(
  plan: Plan,
  micro: MicroBatch,
  trunk: Trunk,
  weights: Tensor,
  heads: Heads,
  { scores, values }: Outcome,
): void {
  const { batch, acts, rows, knobs, T, B } = micro;
  const { record, grammar } = batch;
  const { model: m, layout } = trunk;
  const [N, C, V] = [acts.N, m.hidden_size, m.vocab_size];
  const table = group(weights, layout, 'model.embed_tokens.weight', [V, C]);
  embed(plan, { record, rows, table, x: acts.x }, { N, T, C });
  recordBlocks(plan, trunk, weights, acts, micro.positions, (layer) => {
    const [qkv, out, lse] = [acts.qkv.at(layer), acts.attended.at(layer), acts.lse.at(layer)];
    attention(plan, trunk.choice.attention, m, { qkv, out, lse }, N, T);
  });
  recordFinalNorm(plan, trunk, weights, acts, heads);
  if (heads.language) {
    const LANES = headLanes(trunk);
    const tensors = { record, grammar, rows, logits: acts.logits, scores, knobs };
    plan.dispatch(kernels.languageHead, tensors, { N, V, T, B, LANES }, { LANES });
  }
  if (heads.value) {
    const hidden = acts.y.at(2 * m.num_hidden_layers);
    const weight = group(weights, layout, 'value_head.weight', [C]);
    const bias = group(weights, layout, 'value_head.bias', [1]);
    plan.dispatch(kernels.valueHead, { hidden, weight, bias, record, rows, values }, { N, C, T });
  }
}

/** Threads that share one token's logits if barriers are cheap. With 64, most would idle in small vocabularies. */
const HEAD_LANES = 16;

function headLanes({ choice }: Trunk): number {
  return choice.reductions === 'tiles' ? HEAD_LANES : 1;
}

/** Records forward pass, objective and backward pass of one micro-batch. Adds to the gradient pool. */
export function recordLearning(micro: MicroBatch, trunk: Trunk, pools: Pools, heads: Heads, label: string): Plan {
  const { batch, acts, grads, rows, T, B } = micro;
  const { model: m, layout, choice } = trunk;
  const [N, C, V] = [acts.N, m.hidden_size, m.vocab_size];
  const last = 2 * m.num_hidden_layers;
  const plan = new Plan(micro.recorder, label);
  const { coefficients, record, grammar, scores, targets } = batch;
  recordForward(plan, micro, trunk, pools.shadow, heads, batch);
  placeTokens(plan, { record, rows, places: micro.places }, { N, T, V });
  const { oldScores: old_scores, refScores: ref_scores, values, oldValues: old_values } = batch;
  plan.dispatch(
    kernels.objective,
    { rows, scores, old_scores, ref_scores, values, old_values, targets, coefficients, knobs: micro.knobs },
    { N, T, B, weights_at: batch.weightsAt, policy: heads.language ? 1 : 0, value: heads.value ? 1 : 0 },
  );
  const sizes = { N, K: C, M: V };
  const projection = projectionToVocabulary(m);
  if (heads.language) {
    const LANES = headLanes(trunk);
    const tensors = { record, grammar, rows, scores, coefficients, logits: acts.logits, knobs: micro.knobs };
    plan.dispatch(kernels.languageHeadBackward, tensors, { N, V, T, B, LANES }, { LANES });
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
