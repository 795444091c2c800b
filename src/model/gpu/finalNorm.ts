import type { Plan } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import type { ModelConfig } from '../architecture.ts';
import type { ActivationGradients, Activations } from './activations.ts';
import { linear, rmsnorm, rmsnormBackward } from './layers.ts';
import { fuses, normProject } from './normProject.ts';
import { group } from './pools.ts';
import type { Trunk } from './transformer.ts';

/** Which heads of a network take part. */
export interface Heads {
  readonly language: boolean;
  readonly value: boolean;
}

const NORM = 'model.norm.weight';

/** The parameter group that projects to the vocabulary. */
export function projectionToVocabulary(m: ModelConfig): string {
  return m.tie_word_embeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';
}

/**
 * Whether logits take in the final norm. A value head reads the norm's output, the projection works on two halves of the
 * vocabulary in vectors of four, and logits are f32 even where what the norm keeps is not.
 */
function onLoad(m: ModelConfig, { xhat, logits }: Activations, heads: Heads): boolean {
  const alike = xhat.whole.scalar === logits.scalar;
  return heads.language && !heads.value && fuses(m) && m.vocab_size % 8 === 0 && alike;
}

/**
 * Records the final norm over `acts.x` and, where there is a language head, the projection to `acts.logits`: one dispatch or
 * two. The norm's output is in `acts.y.at(2L)` after the forward pass where a value head reads it, after the backward pass always.
 */
export function recordFinalNorm(
  plan: Plan,
  { model: m, layout, choice, rotaryTable }: Trunk,
  weights: Tensor,
  acts: Activations,
  positions: Tensor,
  heads: Heads,
): void {
  const { N, x, logits } = acts;
  const [L, C, V] = [m.num_hidden_layers, m.hidden_size, m.vocab_size];
  const [xhat, y, inv] = [acts.xhat.at(2 * L), acts.y.at(2 * L), acts.inv.at(2 * L)];
  const projection = projectionToVocabulary(m);
  if (onLoad(m, acts, heads)) {
    // what turns heads and what SwiGLU would write are bound and left alone
    const tensors = { weights, x, positions, table: rotaryTable, p: logits, act: acts.act.at(L - 1), xhat, inv };
    const which = { norm: NORM, projection, columns: V, then: 'nothing', save: acts.keeps } as const;
    normProject(plan, choice.products, m, layout, which, tensors, N);
    return;
  }
  const weight = group(weights, layout, NORM, [C]);
  rmsnorm(plan, choice.reductions, { x, weight, xhat, y, inv }, N, C, m.rms_norm_eps);
  if (!heads.language) return;
  linear(plan, choice.products, y, group(weights, layout, projection, [V, C]), logits, { N, K: C, M: V });
}

/** Records the backward pass of the final norm: from `grads.dy.at(2L)`, the gradient of its output, to `grads.dx`. */
export function recordFinalNormBackward(
  plan: Plan,
  { model: m, layout, choice }: Trunk,
  weights: Tensor,
  acts: Activations,
  grads: ActivationGradients,
  heads: Heads,
): void {
  const last = 2 * m.num_hidden_layers;
  const C = m.hidden_size;
  const tensors = {
    dy: grads.dy.at(last),
    xhat: acts.xhat.at(last),
    weight: group(weights, layout, NORM, [C]),
    inv: acts.inv.at(last),
    dx: grads.dx,
    y: acts.y.at(last),
  };
  rmsnormBackward(plan, choice.reductions, tensors, acts.N, C, { add: false, output: onLoad(m, acts, heads) });
}
