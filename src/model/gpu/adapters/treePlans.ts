import * as kernels from '../../../gpu/kernels/index.ts';
import { Plan, type Recorder } from '../../../gpu/plan.ts';
import type { Tensor } from '../../../gpu/tensor.ts';
import type { AdapterConfig } from '../../loraAdapters.ts';
import type { ModelConfig } from '../../architecture.ts';
import { attention, attentionBackward } from '../attention.ts';
import { recordHeads, recordHeadsBackward, type HeadWeights } from '../heads.ts';
import type { KernelVariants } from '../kernelSets.ts';
import { rmsnorm, rmsnormBackward } from '../layers.ts';
import { recordProductBackward, recordTiledProduct } from '../text/products.ts';
import type { LayerWeights } from '../text/textTensors.ts';
import { recordAdapterGradients, type DeviceAdaptedLinear } from './adaptedLinears.ts';
import type { AdaptedTensors } from './adaptedTensors.ts';

export interface TreeNetworkParts {
  readonly model: ModelConfig;
  readonly adapters: AdapterConfig;
  readonly tensors: AdaptedTensors;
  readonly variants: KernelVariants;
  readonly keys: number; // average keys per query, for estimates of cost
}

export interface TreePlans {
  readonly embed: Plan;
  readonly forward: readonly Plan[]; // one per layer; keeps its input in `layerInputs`
  readonly finalNorm: Plan; // the final norm
  readonly finalNormBackward: Plan; // backward pass of the final norm
  readonly backward: readonly Plan[]; // one per layer; computes the layer again first
}

export function recordTree(recorder: Recorder, parts: TreeNetworkParts, N: number): TreePlans {
  const { model, tensors, variants } = parts;
  const { activations, nodes, text } = tensors;
  const C = model.hidden_size;
  const newPlan = (name: string) => new Plan(recorder, `tree ${N} ${name}`);
  const embed = newPlan('embed');
  for (const { firstRow: first, rows, weights } of text.embed.parts) {
    embed.dispatch(
      text.embed.format.embedKernel,
      { seats: nodes, b: weights, x: activations.x },
      { N, C, first, rows },
    );
  }
  const forward = text.layers.map((layer, i) => {
    const plan = newPlan(`layer ${i}`);
    plan.copy(activations.x, 0, tensors.layerInputs[i]!, 4 * N * C);
    recordUpToAct(plan, parts, layer, N);
    recordTiledProduct(plan, variants.products, activations.act, layer.down, activations.x, N, true);
    return plan;
  });
  const finalNorm = newPlan('final norm');
  const final = { weight: text.norm, xhat: activations.lastXhat, y: activations.hidden, inv: activations.lastInv };
  rmsnorm(finalNorm, variants.reductions, { x: activations.x, ...final }, N, C, model.rms_norm_eps);
  const finalNormBackward = newPlan('final norm backward');
  recordNormBackward(finalNormBackward, parts, { dy: activations.dhidden, ...final, dx: activations.dx }, N, false);
  const backward = text.layers.map((layer, i) => {
    const plan = newPlan(`layer ${i} backward`);
    plan.copy(tensors.layerInputs[i]!, 0, activations.x, 4 * N * C);
    recordUpToAct(plan, parts, layer, N);
    recordLayerBackward(plan, parts, layer, i, N);
    return plan;
  });
  return { embed, forward, finalNorm, finalNormBackward, backward };
}

/** Records a layer up to the input of its last product, `act`. `x` then holds the residual stream after attention. */
function recordUpToAct(plan: Plan, parts: TreeNetworkParts, layer: LayerWeights, N: number): void {
  const { model, tensors, variants, keys } = parts;
  const { activations, nodes, positions, text } = tensors;
  const { hidden_size: C, rms_norm_eps: eps } = model;
  const { x, qkv, attended, lse, gateUp, act, unnormed = lse } = activations;
  const first = { x, weight: layer.inputNorm, xhat: activations.xhat, y: activations.y, inv: activations.inv };
  rmsnorm(plan, variants.reductions, first, N, C, eps);
  recordTiledProduct(plan, variants.products, activations.y, layer.qkv, qkv, N);
  recordHeads(plan, model, { qkv, unnormed, positions, table: text.rotary }, headWeights(model, layer), N);
  attention(plan, variants.attention, model, { qkv, nodes, out: attended, lse }, N, keys);
  recordTiledProduct(plan, variants.products, attended, layer.output, x, N, true);
  const post = {
    x,
    weight: layer.postNorm,
    xhat: activations.postXhat,
    y: activations.postY,
    inv: activations.postInv,
  };
  rmsnorm(plan, variants.reductions, post, N, C, eps);
  recordTiledProduct(plan, variants.products, activations.postY, layer.gateUp, gateUp, N);
  plan.dispatch(kernels.swigluForward, { gate_up: gateUp, act }, { N, F: model.intermediate_size });
}

/**
 * Records the backward pass of a layer, after `recordUpToAct`. It turns `dx` from the gradient of the layer's output
 * into that of its input, and adds to the gradients of its adapters. In the first layer it ends at the adapters,
 * because nothing before them is trained.
 */
function recordLayerBackward(plan: Plan, parts: TreeNetworkParts, layer: LayerWeights, index: number, N: number): void {
  const { model, tensors, adapters, variants, keys } = parts;
  const { activations, nodes, text, adaptedLinears, adapterTensors } = tensors;
  const F = model.intermediate_size;
  const { dx, dact, dgateUp, dnormed, dattended, qkv, dqkv, lse, delta, attended: out, unnormed = lse } = activations;
  const backThrough = (dy: Tensor, matrix: DeviceAdaptedLinear['mergedMatrix'], to: Tensor) =>
    recordProductBackward(plan, variants.products, dy, matrix, to, N);
  const addGradients = (matrix: DeviceAdaptedLinear['mergedMatrix'], dy: Tensor, x: Tensor) => {
    const matrixLinears = adaptedLinears.filter(({ mergedMatrix }) => mergedMatrix === matrix);
    recordAdapterGradients(plan, matrixLinears, adapters, { dy, x, N }, adapterTensors);
  };
  addGradients(layer.down, dx, activations.act);
  backThrough(dx, layer.down, dact);
  plan.dispatch(kernels.swigluBackward, { gate_up: activations.gateUp, dact, dgate_up: dgateUp }, { N, F });
  addGradients(layer.gateUp, dgateUp, activations.postY);
  backThrough(dgateUp, layer.gateUp, dnormed);
  const post = {
    dy: dnormed,
    xhat: activations.postXhat,
    weight: layer.postNorm,
    inv: activations.postInv,
    dx,
    y: activations.postY,
  };
  recordNormBackward(plan, parts, post, N, true);
  addGradients(layer.output, dx, activations.attended);
  backThrough(dx, layer.output, dattended);
  const attended = { qkv, nodes, out, dout: dattended, lse, table: text.rotary, delta, dqkv };
  attentionBackward(plan, variants.attention, model, attended, N, keys);
  recordHeadsBackward(plan, model, { dqkv, unnormed }, headWeights(model, layer), N);
  addGradients(layer.qkv, dqkv, activations.y);
  if (index === 0) return;
  backThrough(dqkv, layer.qkv, dnormed);
  const input = {
    dy: dnormed,
    xhat: activations.xhat,
    weight: layer.inputNorm,
    inv: activations.inv,
    dx,
    y: activations.y,
  };
  recordNormBackward(plan, parts, input, N, true);
}

function recordNormBackward(
  plan: Plan,
  { model, variants }: TreeNetworkParts,
  tensors: Parameters<typeof rmsnormBackward>[2],
  N: number,
  add: boolean,
): void {
  rmsnormBackward(plan, variants.reductions, tensors, N, model.hidden_size, { add, output: false });
}

function headWeights({ head_dim: kNorm }: ModelConfig, { qkvBias: bias, headNorms: norms }: LayerWeights): HeadWeights {
  return { bias, norms, kNorm };
}

/** The plans of the language head over S targets, from target `start` on. */
export interface TargetPlans {
  readonly score: Plan; // log-probabilities and entropies
  readonly backward: Plan; // adds to `dhidden`
}

export function recordTargets(recorder: Recorder, parts: TreeNetworkParts, start: number): TargetPlans {
  const { model, tensors, variants } = parts;
  const { vocab_size: V, hidden_size: C } = model;
  const {
    targetsPerBlock: N,
    activations,
    targets,
    scores,
    coefficients,
    hiddenStates: states,
    dhiddenStates: dstates,
    logits,
    knobs,
    text,
  } = tensors;
  const { legal } = text;
  const withLogits = (name: string) => {
    const plan = new Plan(recorder, `targets ${start} ${name}`);
    plan.dispatch(kernels.targetStates, { targets, x: activations.hidden, states }, { N, C, start });
    recordTiledProduct(plan, variants.products, states, text.languageHead, logits, N);
    return plan;
  };
  const score = withLogits('score');
  score.dispatch(kernels.targetScores, { logits, targets, legal, scores, knobs }, { N, V, start });
  const backward = withLogits('backward');
  const operands = { targets, legal, scores, coefficients, logits, knobs };
  backward.dispatch(kernels.targetGradients, operands, { N, V, start });
  recordProductBackward(backward, variants.products, logits, text.languageHead, dstates, N);
  backward.dispatch(kernels.targetStatesBackward, { targets, dstates, dx: activations.dhidden }, { N, C, start });
  return { score, backward };
}
