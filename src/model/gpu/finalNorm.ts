import type { Plan } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import type { ModelConfig } from '../architecture.ts';
import type { ActivationGradients, Activations } from './activations.ts';
import { linear, rmsnorm, rmsnormBackward } from './layers.ts';
import { groupTensor } from './networkTensors.ts';
import type { NetworkSpec } from './transformer.ts';

export interface OutputHeads {
  readonly language: boolean;
  readonly value: boolean;
}

const NORM = 'model.norm.weight';

export function projectionToVocabulary(m: ModelConfig): string {
  return m.tie_word_embeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';
}

/** Records the final norm from `acts.x` to `acts.y.at(2L)` and, with a language head, the projection to `acts.logits`. */
export function recordFinalNorm(
  plan: Plan,
  { model: m, layout, variants }: NetworkSpec,
  weights: Tensor,
  acts: Activations,
  outputHeads: OutputHeads,
): void {
  const { N, x, logits } = acts;
  const [L, C, V] = [m.num_hidden_layers, m.hidden_size, m.vocab_size];
  const [xhat, y, inv] = [acts.xhat.at(2 * L), acts.y.at(2 * L), acts.inv.at(2 * L)];
  const weight = groupTensor(weights, layout, NORM, [C]);
  rmsnorm(plan, variants.reductions, { x, weight, xhat, y, inv }, N, C, m.rms_norm_eps);
  if (!outputHeads.language) return;
  const projection = groupTensor(weights, layout, projectionToVocabulary(m), [V, C]);
  linear(plan, variants.products, y, projection, logits, { N, K: C, M: V });
}

/** Records the backward pass of the final norm: from `grads.dy.at(2L)`, the gradient of its output, to `grads.dx`. */
export function recordFinalNormBackward(
  plan: Plan,
  { model: m, layout, variants }: NetworkSpec,
  weights: Tensor,
  acts: Activations,
  grads: ActivationGradients,
): void {
  const last = 2 * m.num_hidden_layers;
  const C = m.hidden_size;
  const tensors = {
    dy: grads.dy.at(last),
    xhat: acts.xhat.at(last),
    weight: groupTensor(weights, layout, NORM, [C]),
    inv: acts.inv.at(last),
    dx: grads.dx,
    y: acts.y.at(last),
  };
  rmsnormBackward(plan, variants.reductions, tensors, acts.N, C, { add: false, output: false });
}
