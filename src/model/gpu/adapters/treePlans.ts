import * as kernels from '../../../gpu/kernels/index.ts';
import { Plan, type Recorder } from '../../../gpu/plan.ts';
import type { AdapterConfig } from '../../loraAdapters.ts';
import { recordProductBackward, recordTiledProduct } from '../products.ts';
import { pathAttention, recordFinalNorm, recordLayer, recordLayerBackward, recordNormBackward, recordUpToAct, type Network } from '../transformer.ts'; // prettier-ignore
import { adaptedLayers } from './adaptedLinears.ts';
import type { AdaptedTensors } from './adaptedTensors.ts';

export interface TreeNetworkParts {
  readonly network: Network;
  readonly adapters: AdapterConfig;
  readonly tensors: AdaptedTensors;
  readonly keys: number; // average keys per query, for estimates of cost
}

export interface TreePlans {
  readonly embed: Plan;
  readonly forward: readonly Plan[]; // one per layer; keeps its input in `layerInputs`
  readonly finalNorm: Plan;
  readonly finalNormBackward: Plan;
  readonly backward: readonly Plan[]; // one per layer; computes the layer again first
}

export function recordTree(recorder: Recorder, parts: TreeNetworkParts, N: number): TreePlans {
  const { network, adapters, tensors, keys } = parts;
  const { nodes, positions, text, grads, layerInputs, adaptedLinears, adapterTensors } = tensors;
  const C = network.model.hidden_size;
  const acts = { ...tensors.acts, N };
  const tree = { nodes, positions, keys };
  const attention = pathAttention(network, acts, tree);
  const trained = adaptedLayers(text.layers, adaptedLinears, adapters, adapterTensors);
  const newPlan = (name: string) => new Plan(recorder, `tree ${N} ${name}`);
  const embed = newPlan('embed');
  for (const { firstRow: first, rows, weights } of text.embed.parts) {
    embed.dispatch(text.embed.format.embedKernel, { seats: nodes, b: weights, x: acts.x }, { N, C, first, rows });
  }
  const forward = text.layers.map((_, i) => {
    const plan = newPlan(`layer ${i}`);
    plan.copy(acts.x, 0, layerInputs[i]!, 4 * N * C);
    recordLayer(plan, network, acts, attention, i);
    return plan;
  });
  const finalNorm = newPlan('final norm');
  recordFinalNorm(finalNorm, network, acts);
  const finalNormBackward = newPlan('final norm backward');
  recordNormBackward(finalNormBackward, network, acts, grads, 2 * text.layers.length, network.norm);
  const backward = text.layers.map((_, i) => {
    const plan = newPlan(`layer ${i} backward`);
    plan.copy(layerInputs[i]!, 0, acts.x, 4 * N * C);
    recordUpToAct(plan, network, acts, attention, i);
    recordLayerBackward(plan, network, acts, grads, tree, i, trained);
    return plan;
  });
  return { embed, forward, finalNorm, finalNormBackward, backward };
}

/** The plans of the language head over S targets, from target `start` on. */
export interface TargetPlans {
  readonly score: Plan; // log-probabilities and entropies
  readonly backward: Plan; // adds to `dhidden`
}

export function recordTargets(recorder: Recorder, parts: TreeNetworkParts, start: number): TargetPlans {
  const { network, tensors } = parts;
  const { model, variants } = network;
  const { vocab_size: V, hidden_size: C } = model;
  const last = 2 * model.num_hidden_layers;
  const {
    targetsPerBlock: N,
    acts,
    grads,
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
    plan.dispatch(kernels.targetStates, { targets, x: acts.y.at(last), states }, { N, C, start });
    recordTiledProduct(plan, variants.products, states, text.languageHead, logits, N);
    return plan;
  };
  const score = withLogits('score');
  score.dispatch(kernels.targetScores, { logits, targets, legal, scores, knobs }, { N, V, start });
  const backward = withLogits('backward');
  const operands = { targets, legal, scores, coefficients, logits, knobs };
  backward.dispatch(kernels.targetGradients, operands, { N, V, start });
  recordProductBackward(backward, variants.products, logits, text.languageHead, dstates, N);
  backward.dispatch(kernels.targetStatesBackward, { targets, dstates, dx: grads.dy.at(last) }, { N, C, start });
  return { score, backward };
}
