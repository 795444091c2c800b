import type { Grammar } from '../../domain/tokens.ts';
import type { PolicySpec } from '../policy.ts';
import type { StepStats } from '../policyReport.ts';
import type { LearningMath } from '../learningMath.ts';
import type { ObjectiveSettings, OptimizerSettings } from '../learningSettings.ts';
import type { Activations } from './activations.ts';
import type { Batch } from './batchArrays.ts';
import type { LanguageHead } from './head.ts';
import { firstNonFinite, type Network, type Tensors } from './network.ts';
import { adamW, norm } from './optimizer.ts';
import { packRows, type Pass } from './packing.ts';
import type { Real } from './real.ts';
import { backward, forward, packedAttention } from './transformer.ts';
import { scoreValues, valuesBackward } from './valueHead.ts';

/** A network with the room its passes run in. */
export interface Trunk {
  readonly network: Network;
  readonly room: Activations;
}

/** All that scoring and learning read and write. */
export interface Learner {
  readonly critic: PolicySpec['critic'];
  readonly policy: Trunk;
  readonly separate: Trunk | null; // the separate critic
  readonly head: LanguageHead;
  readonly rotary: Real;
  readonly batch: Batch;
  readonly math: LearningMath;
}

/** Scoring runs rows in groups of about this many tokens, so that a layer's activations stay in the processor's cache. */
const SCORE_TOKENS = 2048;

function run(trunk: Trunk, tensors: Tensors, pass: Pass, rotary: Real, keep: boolean): void {
  const attend = packedAttention(trunk.room, pass.packed, keep);
  forward(trunk.room, tensors, pass.packed, rotary, attend, keep);
}

function readValues(trunk: Trunk, pass: Pass, values: Real): void {
  const { valueWeight, valueBias } = trunk.network.tensors;
  if (!valueWeight || !valueBias) return;
  scoreValues(values, trunk.room.hidden, valueWeight, valueBias, pass.value, trunk.network.model.hidden_size);
}

/**
 * Old log-probabilities and entropies of every token; with `reference` its log-probabilities, else the old ones in their
 * place; with `values` the critic's too.
 */
export function scoreBatch(
  learner: Learner,
  grammar: Grammar,
  temperature: number,
  { reference, values }: { readonly reference: Tensors | null; readonly values: boolean },
): void {
  const { batch, policy, head, rotary } = learner;
  const separate = values ? learner.separate : null;
  for (const rows of groupsOfRows(batch)) {
    const pass = packRows(batch, rows, { head: null, value: null });
    const { head: targets } = pass;
    const weights = policy.network.tensors;
    run(policy, weights, pass, rotary, false);
    const hidden = policy.room.hidden;
    head.score(hidden, weights.head, targets, grammar, temperature, batch.oldLogprobs, batch.oldEntropies);
    readValues(policy, pass, batch.oldValues);
    if (separate) {
      run(separate, separate.network.tensors, pass, rotary, false);
      readValues(separate, pass, batch.oldValues);
    }
    if (reference) {
      run(policy, reference, pass, rotary, false);
      // The reference's entropies are not wanted; learn() overwrites `entropies` before it reads them.
      head.score(policy.room.hidden, reference.head, targets, grammar, temperature, batch.refLogprobs, batch.entropies);
    }
  }
  if (!reference) batch.refLogprobs.set(batch.oldLogprobs);
}

function groupsOfRows(batch: Batch): Int32Array[] {
  const groups: Int32Array[] = [];
  let rows: number[] = [];
  let tokens = 0;
  for (let b = 0; b < batch.rows; b++) {
    rows.push(b);
    tokens += batch.lengths[b]!;
    if (tokens >= SCORE_TOKENS || b === batch.rows - 1) {
      groups.push(Int32Array.from(rows));
      rows = [];
      tokens = 0;
    }
  }
  return groups;
}

/** What a step measures that has nothing to measure. */
export const NOTHING: Omit<StepStats, 'tokens' | 'skipped' | 'culprit'> = {
  policyLoss: 0,
  entropy: 0,
  kl: 0,
  clipFraction: 0,
  clipFractionLower: 0,
  approxKl: 0,
  valueLoss: 0,
  total: 0,
  gradNorm: 0,
  criticGradNorm: 0,
};

/**
 * Gradients of the objective over the given rows, in the networks' gradient pools, and what was measured on the way; changes
 * no weight. Weights are checked before anything else: a network that holds a NaN is not run, its numbers are NaN.
 * A separate critic's loss is the value loss itself, with coefficient 1, and not in `total`; its tensors are named
 * `critic.NAME`.
 */
export function accumulateGradients(
  learner: Learner,
  grammar: Grammar,
  rows: Int32Array,
  settings: ObjectiveSettings,
  temperature: number,
): StepStats {
  const { batch, policy, head, rotary, math } = learner;
  const { network, room } = policy;
  const d = network.model.hidden_size;
  network.gradients.fill(0);
  learner.separate?.network.gradients.fill(0);
  const broken = culprit('weight', learner, (n) => n.weights);
  if (broken !== '') return { ...NOTHING, ...NOT_A_NUMBER, tokens: 0, skipped: 'non-finite', culprit: broken };
  const valueMask = learner.critic === 'none' ? new Float32Array(batch.valueMask.length) : batch.valueMask;
  const pass = packRows(batch, rows, { head: [batch.lossMask, batch.regularizerMask], value: [valueMask] });
  // an estimator without a critic leaves nothing for one to do
  const separate = pass.value.count > 0 ? learner.separate : null;
  if (!rows.some((row) => hasToken(batch.lossMask, row, batch.length)))
    return { ...NOTHING, tokens: 0, skipped: 'empty', culprit: '' };

  run(policy, network.tensors, pass, rotary, true);
  head.score(room.hidden, network.tensors.head, pass.head, grammar, temperature, batch.logprobs, batch.entropies);
  readValues(policy, pass, batch.values);
  if (separate) {
    run(separate, separate.network.tensors, pass, rotary, true);
    readValues(separate, pass, batch.values);
  }
  const coefficients = learner.separate ? { ...settings, valueCoef: 1 } : settings;
  const parts = math.objective({ ...batch, valueMask }, rows, coefficients, batch);

  room.dhidden.fill(0, 0, pass.packed.count * d);
  const { dlogprobs, dentropies } = batch;
  const { tensors, gradientTensors: gradients } = network;
  head.backward(
    room.dhidden,
    gradients.head,
    room.hidden,
    tensors.head,
    pass.head,
    grammar,
    temperature,
    dlogprobs,
    dentropies,
  );
  valuesBack(policy, pass, batch.dvalues);
  backward(room, tensors, gradients, pass.packed, rotary);
  if (separate) {
    const critic = separate.network;
    separate.room.dhidden.fill(0, 0, pass.packed.count * d);
    valuesBack(separate, pass, batch.dvalues);
    backward(separate.room, critic.tensors, critic.gradientTensors, pass.packed, rotary);
  }
  const bad = culprit('gradient', learner, (n) => n.gradients);
  return {
    ...parts,
    total: learner.separate
      ? parts.policyLoss - settings.entropyCoef * parts.entropy + klTerm(settings, parts.kl)
      : parts.total,
    gradNorm: norm(network.gradients),
    criticGradNorm: separate ? norm(separate.network.gradients) : 0,
    skipped: bad === '' ? '' : 'non-finite',
    culprit: bad,
  };
}

/** Whether the mask (B,T) has a token of this row. */
export function hasToken(mask: Float32Array, row: number, length: number): boolean {
  return mask.subarray(row * length, (row + 1) * length).includes(1);
}

/** The measurements of a step whose network holds a NaN or infinity. */
export const NOT_A_NUMBER = { policyLoss: NaN, entropy: NaN, kl: NaN, valueLoss: NaN, total: NaN, gradNorm: NaN };

const klTerm = (settings: ObjectiveSettings, kl: number) => (settings.klCoef === 0 ? 0 : settings.klCoef * kl);

function valuesBack(trunk: Trunk, pass: Pass, dvalues: Float64Array): void {
  const { tensors, gradientTensors: gradients, model } = trunk.network;
  if (!tensors.valueWeight || !gradients.valueWeight || !gradients.valueBias) return;
  valuesBackward(
    trunk.room.dhidden,
    gradients.valueWeight,
    gradients.valueBias,
    dvalues,
    trunk.room.hidden,
    tensors.valueWeight,
    pass.value,
    model.hidden_size,
  );
}

/** 'KIND NAME' of the first tensor that is not finite, policy before critic, or ''. */
function culprit(kind: 'weight' | 'gradient', learner: Learner, pool: (network: Network) => Real): string {
  const own = firstNonFinite(learner.policy.network.placed, pool(learner.policy.network));
  if (own !== '') return `${kind} ${own}`;
  if (!learner.separate) return '';
  const critics = firstNonFinite(learner.separate.network.placed, pool(learner.separate.network));
  return critics === '' ? '' : `${kind} critic.${critics}`;
}

/**
 * One AdamW step of the policy, and one of a separate critic that had targets, on the gradients in their pools; nothing when
 * `stats` was skipped, none of the policy with `criticOnly`.
 */
export function stepNetworks(learner: Learner, stats: StepStats, settings: OptimizerSettings): void {
  if (stats.skipped !== '') return;
  if (!settings.criticOnly) adamW(learner.policy.network, stats.gradNorm, settings.learningRate, settings);
  if (learner.separate && learner.batch.valueMask.includes(1)) {
    adamW(learner.separate.network, stats.criticGradNorm, settings.criticLearningRate, settings);
  }
}
