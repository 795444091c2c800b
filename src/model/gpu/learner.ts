import * as kernels from '../../gpu/kernels/index.ts';
import { Plan, type Recorder } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import type { ActivationGradients, Activations } from './activations.ts';
import { allLayers, recordMatrixGradient, recordOutput, recordStackedGradients, type AgentNetwork, type OutputHeads } from './agentNetwork.ts'; // prettier-ignore
import type { DeviceBatch } from './deviceBatch.ts';
import { embed, embedBackward, recordNodesByToken } from './embedding.ts';
import { sumOverTokens } from './layers.ts';
import type { MicroBatchTokens } from './microBatchTokens.ts';
import { gradientOf, groupTensor, startOfParameter, type GpuNetworkTensors } from './networkTensors.ts';
import { recordProductBackward } from './products.ts';
import { pathAttention, recordLayer, recordLayerBackward, recordNormBackward, type AttendedNodes } from './transformer.ts'; // prettier-ignore

/** Tensors and sizes for recording forward and backward passes over one micro-batch of rows. */
export interface MicroBatch {
  readonly recorder: Recorder;
  readonly batch: DeviceBatch;
  readonly acts: Activations;
  readonly grads: ActivationGradients;
  readonly logits: Tensor; // (N,V)
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
  network: AgentNetwork,
  outputHeads: OutputHeads,
  { scores, values }: HeadOutputs,
): void {
  const { batch, acts, logits, tokens, knobs, T, B } = micro;
  const { record, grammar } = batch;
  const { nodes, targets } = tokens;
  const M = targets.shape[0]!;
  const { model: m, weights, layout } = network;
  const [C, V] = [m.hidden_size, m.vocab_size];
  embed(plan, { nodes, table: network.table, x: acts.x }, { N: acts.N, C });
  const attention = pathAttention(network, acts, treeOf(micro));
  for (const layer of network.layers.keys()) recordLayer(plan, network, acts, attention, layer);
  recordOutput(plan, network, acts, logits, outputHeads);
  if (outputHeads.language) {
    const LANES = headLanes(network);
    const tensors = { record, grammar, targets, logits, teacher: batch.teacher, scores, knobs };
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
export function recordTeacherRows(plan: Plan, { batch, logits, tokens, knobs, T, B }: MicroBatch, V: number): void {
  const { record, grammar, refScores: scores, teacher } = batch;
  const tensors = { record, grammar, targets: tokens.targets, logits, scores, teacher, knobs };
  plan.dispatch(kernels.teacherRows, tensors, { M: tokens.targets.shape[0]!, V, T, B });
}

const treeOf = ({ tokens, T }: MicroBatch): AttendedNodes => ({ ...tokens, keys: (T + 1) / 2 });

/** Threads that share one token's logits if barriers are cheap. With 64, most would idle in small vocabularies. */
const HEAD_LANES = 16;

function headLanes({ variants }: AgentNetwork): number {
  return variants.reductions === 'tiles' ? HEAD_LANES : 1;
}

/** Records forward pass, objective and backward pass of one micro-batch. Adds to the partial gradients. */
export function recordLearning(
  micro: MicroBatch,
  network: AgentNetwork,
  { grads: partials }: GpuNetworkTensors,
  outputHeads: OutputHeads,
  label: string,
): Plan {
  const { batch, acts, grads, logits, rows, tokens, T, B } = micro;
  const { nodes, starts, targets } = tokens;
  const { model: m, layout, weights, variants } = network;
  const [N, C, V] = [acts.N, m.hidden_size, m.vocab_size];
  const lastNorm = 2 * m.num_hidden_layers;
  const plan = new Plan(micro.recorder, label);
  const { coefficients, record, grammar, scores, objectiveInputs } = batch;
  recordForward(plan, micro, network, outputHeads, batch);
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
      logits,
      knobs: micro.knobs,
    };
    plan.dispatch(kernels.languageHeadBackward, tensors, { N, V, T, B, LANES }, { LANES, TEACHER: hasTeacher(batch) });
    recordProductBackward(plan, variants.products, logits, network.languageHead, grads.dy.at(lastNorm), N);
  }
  if (outputHeads.value) {
    sumOverTokens(
      plan,
      kernels.valueBackward,
      {
        hidden: acts.y.at(lastNorm),
        weight: groupTensor(weights, layout, 'value_head.weight', [C]),
        targets,
        starts,
        coefficients,
        dhidden: grads.dy.at(lastNorm),
        grads: partials.tensor,
      },
      {
        N,
        C,
        dvalue_at: 12 * B * T,
        weight_at: startOfParameter(layout, 'value_head.weight'),
        bias_at: startOfParameter(layout, 'value_head.bias'),
      },
      partials,
      { ACCUMULATE: outputHeads.language ? 1 : 0 },
    );
  }
  recordNormBackward(plan, network, acts, grads, lastNorm, network.norm);
  if (outputHeads.language)
    recordMatrixGradient(plan, network, partials, network.languageHead, logits, acts.y.at(lastNorm), N);
  const trained = allLayers(network, partials);
  for (let layer = m.num_hidden_layers - 1; layer >= 0; layer--)
    recordLayerBackward(plan, network, acts, grads, treeOf(micro), layer, trained);
  recordStackedGradients(plan, network, partials, acts, grads);
  const dtable = gradientOf(partials, layout, 'model.embed_tokens.weight', V * C);
  embedBackward(plan, micro.nodesByToken, grads.dx, dtable, { N, C, V });
  return plan;
}
