import * as kernels from '../../../gpu/kernels/index.ts';
import { Plan, type Recorder } from '../../../gpu/plan.ts';
import type { Tensor } from '../../../gpu/tensor.ts';
import type { AdapterConfig } from '../../loraAdapters.ts';
import type { ModelConfig } from '../../architecture.ts';
import type { SetParts } from '../kernelSets.ts';
import { rmsnorm, rmsnormBackward } from '../layers.ts';
import { recordProductBackward, recordTiledProduct } from '../text/products.ts';
import type { LayerWeights } from '../text/textTensors.ts';
import { recordSiteGradients, type Site } from './sites.ts';
import type { AdaptedTensors } from './adaptedTensors.ts';

/** The model, tensors and kernels for recording passes over trees of tokens. */
export interface TreeNetworkParts {
  readonly model: ModelConfig;
  readonly adapters: AdapterConfig;
  readonly tensors: AdaptedTensors;
  readonly choice: SetParts;
  readonly keys: number; // average keys per query, for estimates of cost
}

/** The plans of a forward and a backward pass over a tree of tokens. */
export interface TreePlans {
  readonly embed: Plan;
  readonly forward: readonly Plan[]; // one per layer; keeps its input in `inputs`
  readonly close: Plan; // the final norm
  readonly open: Plan; // backward pass of the final norm
  readonly backward: readonly Plan[]; // one per layer; computes the layer again first
}

/** Records the passes over trees of up to N tokens. */
export function recordTree(recorder: Recorder, parts: TreeNetworkParts, N: number): TreePlans {
  const { model, tensors, choice } = parts;
  const { node, nodes, text } = tensors;
  const C = model.hidden_size;
  const named = (name: string) => new Plan(recorder, `tree ${N} ${name}`);
  const embed = named('embed');
  for (const { first, rows, weights } of text.embed.parts) {
    embed.dispatch(text.embed.format.embed, { seats: nodes, b: weights, x: node.x }, { N, C, first, rows });
  }
  const forward = text.layers.map((layer, i) => {
    const plan = named(`layer ${i}`);
    plan.copy(node.x, 0, tensors.inputs[i]!, 4 * N * C);
    recordUpToAct(plan, parts, layer, N);
    recordTiledProduct(plan, choice.products, node.act, layer.down, node.x, N, true);
    return plan;
  });
  const close = named('final norm');
  const final = { weight: text.norm, xhat: node.lastXhat, y: node.hidden, inv: node.lastInv };
  rmsnorm(close, choice.reductions, { x: node.x, ...final }, N, C, model.rms_norm_eps);
  const open = named('final norm backward');
  recordNormBackward(open, parts, { dy: node.dhidden, ...final, dx: node.dx }, N, false);
  const backward = text.layers.map((layer, i) => {
    const plan = named(`layer ${i} backward`);
    plan.copy(tensors.inputs[i]!, 0, node.x, 4 * N * C);
    recordUpToAct(plan, parts, layer, N);
    recordLayerBackward(plan, parts, layer, i, N);
    return plan;
  });
  return { embed, forward, close, open, backward };
}

/** Records a layer up to the input of its last product, `act`. `x` then holds the residual stream after attention. */
function recordUpToAct(plan: Plan, parts: TreeNetworkParts, layer: LayerWeights, N: number): void {
  const { model, tensors, choice, keys } = parts;
  const { node, nodes, paths, text } = tensors;
  const { hidden_size: C, num_attention_heads: H, num_key_value_heads: G, head_dim: D, rms_norm_eps: eps } = model;
  const { x, qkv, heads, attended, lse, gateUp, act } = node;
  const first = { x, weight: layer.inputNorm, xhat: node.xhat, y: node.y, inv: node.inv };
  rmsnorm(plan, choice.reductions, first, N, C, eps);
  recordTiledProduct(plan, choice.products, node.y, layer.qkv, qkv, N);
  plan.dispatch(kernels.treeHeads, { qkv, nodes, heads, ...headOperands(text.rotary, layer) }, { N, H, G, D }, headConstants(model, layer)); // prettier-ignore
  plan.dispatch(kernels.treeAttention, { heads, nodes, paths, out: attended, lse }, { N, H, G, D, keys }, { HEAD: D });
  recordTiledProduct(plan, choice.products, attended, layer.output, x, N, true);
  const post = { x, weight: layer.postNorm, xhat: node.postXhat, y: node.postY, inv: node.postInv };
  rmsnorm(plan, choice.reductions, post, N, C, eps);
  recordTiledProduct(plan, choice.products, node.postY, layer.gateUp, gateUp, N);
  plan.dispatch(kernels.swigluForward, { gate_up: gateUp, act }, { N, F: model.intermediate_size });
}

/**
 * Records the backward pass of a layer, after `recordUpToAct`. It turns `dx` from the gradient of the layer's output
 * into that of its input, and adds to the gradients of its adapters. In the first layer it ends at the adapters,
 * because nothing before them is trained.
 */
function recordLayerBackward(plan: Plan, parts: TreeNetworkParts, layer: LayerWeights, index: number, N: number): void {
  const { model, tensors, adapters, choice, keys } = parts;
  const { node, nodes, paths, text, sites, site } = tensors;
  const { num_attention_heads: H, num_key_value_heads: G, head_dim: D, intermediate_size: F } = model;
  const { dx, dact, dgateUp, dnormed, dattended, heads, dheads, dqkv, lse, delta } = node;
  const backThrough = (dy: Tensor, matrix: Site['merged'], to: Tensor) =>
    recordProductBackward(plan, choice.products, dy, matrix, to, N);
  const learn = (matrix: Site['merged'], dy: Tensor, x: Tensor) => {
    const matrixSites = sites.filter(({ merged }) => merged === matrix);
    recordSiteGradients(plan, matrixSites, adapters, { dy, x, N }, site);
  };
  learn(layer.down, dx, node.act);
  backThrough(dx, layer.down, dact);
  plan.dispatch(kernels.swigluBackward, { gate_up: node.gateUp, dact, dgate_up: dgateUp }, { N, F });
  learn(layer.gateUp, dgateUp, node.postY);
  backThrough(dgateUp, layer.gateUp, dnormed);
  const post = { dy: dnormed, xhat: node.postXhat, weight: layer.postNorm, inv: node.postInv, dx, y: node.postY };
  recordNormBackward(plan, parts, post, N, true);
  learn(layer.output, dx, node.attended);
  backThrough(dx, layer.output, dattended);
  const attention = { heads, nodes, dout: dattended, lse, delta, dheads };
  const sizes = { N, H, G, D, keys };
  plan.dispatch(kernels.treeAttentionBackwardQuery, { ...attention, paths, out: node.attended }, sizes, { HEAD: D });
  plan.dispatch(kernels.treeAttentionBackwardKeyValue, attention, sizes, { HEAD: D });
  const headsBackward = { dheads, qkv: node.qkv, nodes, dqkv, ...headOperands(text.rotary, layer) };
  plan.dispatch(kernels.treeHeadsBackward, headsBackward, { N, H, G, D }, headConstants(model, layer));
  learn(layer.qkv, dqkv, node.y);
  if (index === 0) return;
  backThrough(dqkv, layer.qkv, dnormed);
  const input = { dy: dnormed, xhat: node.xhat, weight: layer.inputNorm, inv: node.inv, dx, y: node.y };
  recordNormBackward(plan, parts, input, N, true);
}

function recordNormBackward(
  plan: Plan,
  { model, choice }: TreeNetworkParts,
  tensors: Parameters<typeof rmsnormBackward>[2],
  N: number,
  add: boolean,
): void {
  rmsnormBackward(plan, choice.reductions, tensors, N, model.hidden_size, { add, output: false });
}

/** Rotary table, biases and norms for q, k and v. The table stands in for missing biases or norms. */
const headOperands = (table: Tensor, { qkvBias, headNorms }: LayerWeights) => ({
  table,
  bias: qkvBias ?? table,
  norms: headNorms ?? table,
});

const headConstants = (model: ModelConfig, { qkvBias, headNorms }: LayerWeights) => ({
  EPS: model.rms_norm_eps,
  BIAS: qkvBias ? 1 : 0,
  NORM: headNorms ? 1 : 0,
});

/** The plans of the language head over S targets, from target `start` on. */
export interface TargetPlans {
  readonly score: Plan; // log-probabilities and entropies
  readonly backward: Plan; // adds to `dhidden`
}

/** Records the language head over one block of targets. */
export function recordTargets(recorder: Recorder, parts: TreeNetworkParts, start: number): TargetPlans {
  const { model, tensors, choice } = parts;
  const { vocab_size: V, hidden_size: C } = model;
  const {
    block: N,
    node,
    target: targets,
    legal,
    scores,
    coefficients,
    states,
    dstates,
    logits,
    knobs,
    text,
  } = tensors;
  const withLogits = (name: string) => {
    const plan = new Plan(recorder, `targets ${start} ${name}`);
    plan.dispatch(kernels.targetStates, { targets, x: node.hidden, states }, { N, C, start });
    recordTiledProduct(plan, choice.products, states, text.head, logits, N);
    return plan;
  };
  const score = withLogits('score');
  score.dispatch(kernels.targetScores, { logits, targets, legal, scores, knobs }, { N, V, start });
  const backward = withLogits('backward');
  const operands = { targets, legal, scores, coefficients, logits, knobs };
  backward.dispatch(kernels.targetGradients, operands, { N, V, start });
  recordProductBackward(backward, choice.products, logits, text.head, dstates, N);
  backward.dispatch(kernels.targetStatesBackward, { targets, dstates, dx: node.dhidden }, { N, C, start });
  return { score, backward };
}
