import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import { alignUp, slice, type Tensor } from '../../gpu/tensor.ts';
import type { ModelConfig } from '../architecture.ts';
import { qkvWidth, type ActivationGradients, type Activations, type TensorStack } from './activations.ts';
import { unnormedKeysAt } from './heads.ts';
import { linearBackwardWeight, sumOverTokens } from './layers.ts';
import { floatMatrix, type Matrix } from './matrices.ts';
import { canFuse } from './normProject.ts';
import { gradientOf, groupTensor, layerStride, startOfGroup, type ParameterLayout } from './networkTensors.ts';
import { gradientRange, type PartialGradients } from './partialGradients.ts';
import { type LayerWeights, type Network, recordFinalNorm, type TrainedLayers } from './transformer.ts';
import { recordTiledProduct } from './products.ts';

/** A network whose weights are in one tensor and are all trained: a small agent, or its critic. */
export interface AgentNetwork extends Network {
  readonly weights: Tensor;
  readonly layout: ParameterLayout; // of `weights`
  readonly table: Tensor; // (V,C) embeddings
  readonly languageHead: Matrix; // (V,C)
}

export interface OutputHeads {
  readonly language: boolean;
  readonly value: boolean;
}

export function agentNetwork(
  common: Pick<Network, 'variants' | 'rotaryTable'>,
  model: ModelConfig,
  layout: ParameterLayout,
  weights: Tensor,
): AgentNetwork {
  const { hidden_size: C, intermediate_size: F, head_dim: D, vocab_size: V, num_hidden_layers: L } = model;
  const vector = (name: string, size: number) => groupTensor(weights, layout, name, [size]);
  const matrix = (name: string, rows: number, K: number) => floatMatrix(name, rows, K, vector(name, rows * K));
  const layers = Array.from({ length: L }, (_, i): LayerWeights => {
    const prefix = `model.layers.${i}`;
    const [q, k] = [`${prefix}.self_attn.q_norm.weight`, `${prefix}.self_attn.k_norm.weight`];
    const kNorm = model.qk_norm ? startOfGroup(layout, k) - startOfGroup(layout, q) : 0;
    return {
      inputNorm: vector(`${prefix}.input_layernorm.weight`, C),
      qkv: matrix(`${prefix}.qkv.weight`, qkvWidth(model), C),
      qkvBias: model.attention_bias ? vector(`${prefix}.qkv.bias`, qkvWidth(model)) : null,
      headNorms: model.qk_norm ? vector(q, kNorm + D) : null,
      kNorm,
      output: matrix(`${prefix}.self_attn.o_proj.weight`, C, model.num_attention_heads * D),
      postNorm: vector(`${prefix}.post_attention_layernorm.weight`, C),
      gateUp: matrix(`${prefix}.gate_up.weight`, 2 * F, C),
      down: matrix(`${prefix}.mlp.down_proj.weight`, C, F),
    };
  });
  const embedding = matrix('model.embed_tokens.weight', V, C);
  const languageHead = model.tie_word_embeddings ? embedding : matrix('lm_head.weight', V, C);
  const norm = vector('model.norm.weight', C);
  const fused = canFuse(model) ? weights : null;
  const table = embedding.parts[0]!.weights;
  return { ...common, model, weights, layout, table, languageHead, layers, norm, fused };
}

/** Adds to the gradient of a whole matrix, from the gradient dy of its product and from the product's input x. */
export function recordMatrixGradient(
  plan: Plan,
  { variants, layout }: AgentNetwork,
  partials: PartialGradients,
  { names, rows: M, K }: Matrix,
  dy: Tensor,
  x: Tensor,
  N: number,
): void {
  linearBackwardWeight(plan, variants.products, dy, x, gradientOf(partials, layout, names[0]!, M * K), { N, K, M });
}

/** All weights of all layers, together with `recordStackedGradients`. */
export function allLayers(network: AgentNetwork, partials: PartialGradients): TrainedLayers {
  return {
    addGradient: (plan, name, layer, dy, x, N) => {
      if (name === 'output' || name === 'down')
        recordMatrixGradient(plan, network, partials, network.layers[layer]![name], dy, x, N);
    },
    trainsInput: true,
  };
}

/**
 * Records the final norm from `acts.x` to `acts.y.at(2L)` and, with a language head, the projection to `logits`.
 */
export function recordOutput(
  plan: Plan,
  network: AgentNetwork,
  acts: Activations,
  logits: Tensor,
  { language }: OutputHeads,
): void {
  recordFinalNorm(plan, network, acts);
  const hidden = acts.y.at(2 * network.layers.length);
  if (language) recordTiledProduct(plan, network.variants.products, hidden, network.languageHead, logits, acts.N);
}

/**
 * Records, once all layers went backward, the gradients that one dispatch adds for all of them: of the weights of qkv, of
 * gate_up, of all norms and, if there are any, of the biases and the norms of q and of k.
 */
export function recordStackedGradients(
  plan: Plan,
  { model: m, layout, variants }: AgentNetwork,
  partials: PartialGradients,
  acts: Activations,
  grads: ActivationGradients,
): void {
  const { N } = acts;
  const { hidden_size: C, num_hidden_layers: L, num_attention_heads: H, num_key_value_heads: G, head_dim: D } = m;
  const ofAllLayers = (name: string) =>
    gradientRange(partials, `${name} of all layers`, startOfGroup(layout, `model.layers.0.${name}`));
  const addMatrices = (name: string, dy: TensorStack, x: Tensor, M: number) => {
    const strides = { layers: L, dy: dy.stride, x: 2 * acts.y.stride, dweight: layerStride(layout, name) };
    linearBackwardWeight(plan, variants.products, dy.whole, x, ofAllLayers(name), { N, K: C, M }, strides);
  };
  const addSums = (
    name: string,
    x: Tensor,
    sizes: { readonly N: number; readonly C: number; readonly slot: number },
  ) => {
    const dims = { I: L, ...sizes, pitch: layerStride(layout, name) };
    sumOverTokens(plan, kernels.columnSum, { x, out: ofAllLayers(name).tensor }, dims, partials);
  };
  addMatrices('qkv.weight', grads.dqkv, acts.y.whole, qkvWidth(m));
  const secondNorms = slice(acts.y.whole, 'y of the second norms', acts.y.stride, [2 * L * acts.y.stride]);
  addMatrices('gate_up.weight', grads.dgateUp, secondNorms, 2 * m.intermediate_size);
  sumOverTokens(
    plan,
    kernels.rmsnormWeightBackward,
    { dy: grads.dy.whole, xhat: acts.xhat.whole, dweight: ofAllLayers('input_layernorm.weight').tensor },
    { I: 2 * L + 1, N, C, slot: grads.dy.stride, pitch: alignUp(C) },
    partials,
  );
  if (acts.unnormed) {
    const { whole, stride: slot } = acts.unnormed;
    const ofKeys = slice(whole, 'summands of k_norm', unnormedKeysAt(m, N), [whole.shape[0]! - unnormedKeysAt(m, N)]);
    addSums('self_attn.q_norm.weight', whole, { N: N * H, C: D, slot });
    addSums('self_attn.k_norm.weight', ofKeys, { N: N * G, C: D, slot });
  }
  if (m.attention_bias) addSums('qkv.bias', grads.dqkv.whole, { N, C: qkvWidth(m), slot: grads.dqkv.stride });
}
