import * as kernels from '../../gpu/kernels/index.ts';
import { Plan, type Recorder } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import type { ActivationGradients, Activations } from './activations.ts';
import { attention } from './attention.ts';
import type { DeviceBatch } from './deviceBatch.ts';
import { embed, embedBackward, recordNodesByToken } from './embedding.ts';
import { projectionToVocabulary, recordFinalNorm, recordFinalNormBackward, type OutputHeads } from './finalNorm.ts';
import { linearBackwardInput, linearBackwardWeight, sumOverTokens } from './layers.ts';
import type { MicroBatchTokens } from './microBatchTokens.ts';
import { gradientOf, groupTensor, startOfParameter, type GpuNetworkTensors } from './networkTensors.ts';
import { recordBlocks, recordBlocksBackward, type NetworkSpec } from './transformer.ts';

/** Tensors and sizes for recording forward and backward passes over one micro-batch of rows. */
export interface MicroBatch {
  readonly recorder: Recorder;
  readonly batch: DeviceBatch;
  readonly acts: Activations;
  readonly grads: ActivationGradients;
  readonly tokens: MicroBatchTokens; // those that the passes compute
  readonly nodesByToken: Tensor; // the nodes, sorted by token within spans; see token_places.wgsl
  readonly rows: Tensor; // (R) batch rows of the micro-batch; 0xffffffff: no row
  readonly knobs: Tensor; // uniform
  readonly B: number;
  readonly T: number;
}

/** Outputs of the heads: scores (3, B, T) and values (B,T). */
interface HeadOutputs {
  readonly scores: Tensor;
  readonly values: Tensor;
}

/** Records a forward pass from tokens to scores and values. */
export function recordForward(
  plan: Plan,
  micro: MicroBatch,
  network: NetworkSpec,
  weights: Tensor,
  outputHeads: OutputHeads,
  { scores, values }: HeadOutputs,
): void {
  const { batch, acts, tokens, knobs, T, B } = micro;
  const { record, grammar } = batch;
  const { nodes, targets } = tokens;
  const M = targets.shape[0]!;
  const { model: m, layout } = network;
  const [N, C, V] = [acts.N, m.hidden_size, m.vocab_size];
  const table = groupTensor(weights, layout, 'model.embed_tokens.weight', [V, C]);
  embed(plan, { nodes, table, x: acts.x }, { N, C });
  recordBlocks(plan, network, weights, acts, tokens.positions, (layer) => {
    const [qkv, out, lse] = [acts.qkv.at(layer), acts.attended.at(layer), acts.lse.at(layer)];
    attention(plan, network.variants.attention, m, { qkv, nodes, out, lse }, N, keysOf(T));
  });
  recordFinalNorm(plan, network, weights, acts, outputHeads);
  if (outputHeads.language) {
    const LANES = headLanes(network);
    const tensors = { record, grammar, targets, logits: acts.logits, teacher: batch.teacher, scores, knobs };
    plan.dispatch(kernels.languageHead, tensors, { M, V, T, B, LANES }, { LANES, TEACHER: hasTeacher(batch) });
  }
  if (outputHeads.value) {
    const hidden = acts.y.at(2 * m.num_hidden_layers);
    const weight = groupTensor(weights, layout, 'value_head.weight', [C]);
    const bias = groupTensor(weights, layout, 'value_head.bias', [1]);
    plan.dispatch(kernels.valueHead, { hidden, weight, bias, targets, values }, { M, C });
  }
}

/** The value of the kernels' constant TEACHER. */
export const hasTeacher = ({ teacher }: DeviceBatch): number => (teacher.shape.length > 1 ? 1 : 0);

/** Records that the distributions of the last forward pass become the teacher's. */
export function recordTeacherRows(plan: Plan, { batch, acts, tokens, knobs, T, B }: MicroBatch, V: number): void {
  const { record, grammar, refScores: scores, teacher } = batch;
  const tensors = { record, grammar, targets: tokens.targets, logits: acts.logits, scores, teacher, knobs };
  plan.dispatch(kernels.teacherRows, tensors, { M: tokens.targets.shape[0]!, V, T, B });
}

/** Average keys per query of a row of T tokens, to estimate costs. */
const keysOf = (T: number) => (T + 1) / 2;

/** Threads that share one token's logits if barriers are cheap. With 64, most would idle in small vocabularies. */
const HEAD_LANES = 16;

function headLanes({ variants }: NetworkSpec): number {
  return variants.reductions === 'tiles' ? HEAD_LANES : 1;
}

/** Records forward pass, objective and backward pass of one micro-batch. Adds to the partial gradients. */
export function recordLearning(
  micro: MicroBatch,
  network: NetworkSpec,
  networkTensors: GpuNetworkTensors,
  outputHeads: OutputHeads,
  label: string,
): Plan {
  const { batch, acts, grads, rows, tokens, T, B } = micro;
  const { nodes, starts, targets } = tokens;
  const { model: m, layout, variants } = network;
  const [N, C, V] = [acts.N, m.hidden_size, m.vocab_size];
  const lastNorm = 2 * m.num_hidden_layers;
  const plan = new Plan(micro.recorder, label);
  const { coefficients, record, grammar, scores, objectiveInputs } = batch;
  recordForward(plan, micro, network, networkTensors.passWeights, outputHeads, batch);
  recordNodesByToken(plan, { nodes, places: micro.nodesByToken }, { N, V });
  const { oldScores: old_scores, refScores: ref_scores, values, oldValues: old_values } = batch;
  plan.dispatch(
    kernels.objective,
    {
      rows,
      scores,
      old_scores,
      ref_scores,
      values,
      old_values,
      targets: objectiveInputs,
      coefficients,
      knobs: micro.knobs,
    },
    {
      N: rows.shape[0]! * T,
      T,
      B,
      weights_at: batch.lossWeightsStart,
      policy: outputHeads.language ? 1 : 0,
      value: outputHeads.value ? 1 : 0,
    },
  );
  const sizes = { N, K: C, M: V };
  const projection = projectionToVocabulary(m);
  if (outputHeads.language) {
    const LANES = headLanes(network);
    const { teacher } = batch;
    const tensors = {
      record,
      grammar,
      targets,
      starts,
      scores,
      coefficients,
      teacher,
      logits: acts.logits,
      knobs: micro.knobs,
    };
    plan.dispatch(kernels.languageHeadBackward, tensors, { N, V, T, B, LANES }, { LANES, TEACHER: hasTeacher(batch) });
    const head = groupTensor(networkTensors.passWeights, layout, projection, [V, C]);
    linearBackwardInput(plan, variants.products, acts.logits, head, grads.dy.at(lastNorm), sizes);
  }
  if (outputHeads.value) {
    sumOverTokens(
      plan,
      kernels.valueBackward,
      {
        hidden: acts.y.at(lastNorm),
        weight: groupTensor(networkTensors.passWeights, layout, 'value_head.weight', [C]),
        targets,
        starts,
        coefficients,
        dhidden: grads.dy.at(lastNorm),
        grads: networkTensors.grads.tensor,
      },
      {
        N,
        C,
        dvalue_at: 12 * B * T,
        weight_at: startOfParameter(layout, 'value_head.weight'),
        bias_at: startOfParameter(layout, 'value_head.bias'),
      },
      networkTensors.grads,
      { ACCUMULATE: outputHeads.language ? 1 : 0 },
    );
  }
  recordFinalNormBackward(plan, network, networkTensors.passWeights, acts, grads);
  if (outputHeads.language) {
    const dhead = gradientOf(networkTensors.grads, layout, projection, V * C);
    linearBackwardWeight(plan, variants.products, acts.logits, acts.y.at(lastNorm), dhead, sizes);
  }
  recordBlocksBackward(plan, network, networkTensors.passWeights, networkTensors.grads, acts, grads, {
    nodes,
    keys: keysOf(T),
  });
  const dtable = gradientOf(networkTensors.grads, layout, 'model.embed_tokens.weight', V * C);
  embedBackward(plan, micro.nodesByToken, grads.dx, dtable, { N, C, V });
  return plan;
}
