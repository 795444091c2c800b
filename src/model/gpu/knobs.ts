import { baselineOf, comparesTurns, ESTIMATORS, sharesTurnAdvantage, usesRewards } from '../../config/estimators.ts';
import { uniformOf } from '../../gpu/kernel.ts';
import * as kernels from '../../gpu/kernels/index.ts';
import { choiceCode, fieldOffset, uniformWords } from '../../gpu/uniform.ts';
import type { CreditSettings, KlEstimator, ObjectiveSettings, OptimizerSettings } from '../learningSettings.ts';

/** All kernels of a step include the same WGSL piece, so AdamW's layout is that of every kernel. */
const STEP_LAYOUT = uniformOf(kernels.adamw, 'knobs');
/** Layout of the knobs of the credit stage, where advantages are computed. */
const CREDIT_LAYOUT = uniformOf(kernels.creditMasks, 'settings');

/** Space for the knobs of a step, in 4-byte numbers. A multiple of 64, so that the data after them is aligned. */
export const STEP_KNOBS_SCALARS = Math.ceil(STEP_LAYOUT.fields.length / 64) * 64;
/** Space for the knobs of the credit stage, in 4-byte numbers. */
export const CREDIT_KNOBS_SCALARS = CREDIT_LAYOUT.fields.length;
/** Byte offset of the temperature in the knobs of a step. Scoring needs no other knob, so it writes only this one. */
export const TEMPERATURE_OFFSET = fieldOffset(STEP_LAYOUT, 'temperature');

function klCode(estimator: KlEstimator): number {
  return choiceCode(kernels.objective.wgsl, 'KL', estimator);
}

/** Packed, two bits each: the lowest two for policy loss and KL, then entropy, then value loss. */
function aggregations(o: ObjectiveSettings): number {
  const { aggregation, entropyAggregation = aggregation, valueAggregation = aggregation } = o;
  return [aggregation, entropyAggregation, valueAggregation]
    .map((how) => choiceCode(kernels.lossWeights.wgsl, 'AGGREGATION', how))
    .reduce((sum, code, at) => sum + code * 4 ** at, 0);
}

function stepKnobs(
  temperature: number,
  o: ObjectiveSettings,
  opt: OptimizerSettings,
  learningRate: number,
  valueCoef: number,
  slot: number,
): Uint32Array {
  return uniformWords(STEP_LAYOUT, {
    temperature,
    aggregation: aggregations(o),
    surrogate: choiceCode(kernels.objective.wgsl, 'SURROGATE', o.surrogate),
    clip_low: o.clipLow,
    clip_high: o.clipHigh,
    dual_clip: o.dualClip,
    kl_estimator: klCode(o.klEstimator),
    kl_times_ratio: flag(o.klTimesRatio === 'on'),
    kl_coef: o.klCoef,
    entropy_coef: o.entropyCoef,
    observation_loss: o.observationLoss,
    teacher_coef: o.teacherCoef,
    value_coef: valueCoef,
    value_clip: o.valueClip,
    learning_rate: learningRate,
    beta1: opt.beta1,
    rest1: 1 - opt.beta1,
    beta2: opt.beta2,
    rest2: 1 - opt.beta2,
    adam_eps: opt.eps,
    weight_decay: opt.weightDecay,
    max_grad_norm: opt.maxGradNorm,
    slot,
  });
}

function flag(on: boolean): number {
  return on ? 1 : 0;
}

export function creditKnobs(s: CreditSettings): Uint32Array {
  const { advantageKind, critic, canWhiten, sharesProgress = false } = ESTIMATORS[s.estimator];
  const baseline = baselineOf(s.estimator, s.divideByStd);
  const like = comparesTurns(s.estimator);
  return uniformWords(CREDIT_LAYOUT, {
    gamma: s.gamma,
    lambda: critic ? s.lambda : 1, // without a critic: reward to go, which is GAE with λ = 1 and all values 0
    turn_gamma: s.turnGamma,
    state_weight: like && !like.besideScore ? 1 : s.stateWeight,
    sums_turns: flag(like?.in === 'reward'),
    shares_progress: flag(sharesProgress),
    scores: flag(like?.besideScore !== false && usesRewards(s.estimator)),
    solved: flag(advantageKind === 'success'),
    turns: flag(advantageKind === 'turns'),
    whole_turns: flag(sharesTurnAdvantage(s.estimator)),
    critic: flag(critic),
    baseline: choiceCode(kernels.groupAdvantages.wgsl, 'BASELINE', baseline),
    whiten: flag(s.whiten && canWhiten),
    remask: flag(s.remask),
    scale: s.scale,
    kl_coef: s.klCoef,
    kl_estimator: klCode(s.klEstimator),
    policy_mask: flag(s.masks.policy),
    regularizer_mask: flag(s.masks.regularizer),
    value_mask: flag(s.masks.value),
    advantage_mask: flag(s.masks.advantage),
    whiten_mask: flag(s.masks.whiten),
    kl_mask: flag(s.masks.klReward),
    correction: choiceCode(kernels.corrections.wgsl, 'CORRECTION', s.correction?.correction ?? 'none'),
    correction_of_row: flag(s.correction?.correctionLevel === 'sequence'),
    correction_low: s.correction?.correctionLow ?? 0,
    correction_high: s.correction?.correctionHigh ?? 0,
  });
}

/** Policy's knobs, critic's knobs, then the minibatch's rows, filled up to `size` with 0xffffffff (no row). Kernels call `line` `slot`. */
export function stepInputWords(
  size: number,
  rows: Int32Array,
  temperature: number,
  objective: ObjectiveSettings,
  optimizer: OptimizerSettings,
  line: number,
): Uint32Array {
  const words = new Uint32Array(size).fill(0xffffffff);
  const { learningRate, criticLearningRate } = optimizer;
  words.set(stepKnobs(temperature, objective, optimizer, learningRate, objective.valueCoef, line));
  words.set(stepKnobs(temperature, objective, optimizer, criticLearningRate, 1, line), STEP_KNOBS_SCALARS);
  words.set(rows, 2 * STEP_KNOBS_SCALARS);
  return words;
}
