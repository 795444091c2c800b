import { sequenceOf } from '../domain/tokenMasks.ts';
import type { LearningMath, ObjectiveBatch, ObjectiveParts } from '../model/learningMath.ts';
import type { Aggregation, ObjectiveSettings } from '../model/learningSettings.ts';

/** Bound on log-ratios before exp, in nats: e^20 is finite in f32. Beyond it the value is that at the bound, the gradient 0. */
const MAX_LOG_RATIO = 20;

/** Upper bound on the log-ratio of a sequence, in nats; the gradient is 0 beyond it (verl `compute_policy_loss_gspo`). */
const MAX_SEQUENCE_LOG_RATIO = 10;

/** Bound on the value of k3, in nats; the gradient is 0 beyond it (verl `kl_penalty_forward`). */
const MAX_K3 = 10;

/** −mean of advantage · log π over the tokens in the loss, and nothing else: with advantage 1, supervised learning. */
export const PLAIN_OBJECTIVE: ObjectiveSettings = {
  surrogate: 'plain',
  clipLow: 0,
  clipHigh: 0,
  dualClip: 0,
  klEstimator: 'k3',
  klTimesRatio: 'off',
  observationLoss: 0,
  teacherCoef: 0,
  klCoef: 0,
  entropyCoef: 0,
  valueCoef: 0,
  valueClip: 0,
  aggregation: 'token-mean',
};

const clamp = (x: number, low: number, high: number) => Math.min(high, Math.max(low, x));

/** The contribution of one token to the policy loss, and its derivative with respect to the token's log-probability. */
export interface TokenLoss {
  readonly loss: number;
  readonly gradient: number;
  readonly clipped: boolean; // clipLow or clipHigh changes the loss
  readonly lowerClipped: boolean; // dualClip changes the loss
}

/**
 * The surrogate loss of one token, with d = clamp(logprob − oldLogprob, ±20) and the ratio ρ = e^d. Gradients are those
 * of verl's functions of these names. `sg` marks what has no gradient.
 *
 * `clipped` (PPO, Schulman et al. 2017, eq. 7; separate upper bound as in DAPO; dual
 * clip of Ye et al. 2020): d = clamp(logprob − oldLogprob, ±20), ρ = e^d, L = max(−Aρ, −A·clip(ρ, 1−clipLow,
 * 1+clipHigh)), and if A < 0 and dualClip > 0, L = min(L, −A·dualClip). The gradient is −Aρ where no bound applies,
 * otherwise exactly 0.
 *
 * `gspo` (Zheng et al. 2025, arXiv 2507.18071): the same without a dual clip, with the ratio s of the sequence instead of
 * ρ, log s = `sequenceLogRatio` = mean of logprob − oldLogprob over the sequence's loss mask, at most 10. Its token form:
 * the gradient reaches a token as −A·s, so that all of a sequence's tokens are clipped together. A sequence is a row, or
 * a turn if each turn is a training row.
 *
 * `cispo` (MiniMax-M1, arXiv 2506.13585): −sg(clip(ρ, 1−clipLow, 1+clipHigh))·A·logprob. A clipped token keeps a
 * gradient.
 *
 * `dppo-tv` (arXiv 2602.04879): −sg(min(ρ, dualClip))·A·logprob where the token's probability π is near π_old: if A > 0,
 * π − π_old ≤ clipHigh, otherwise π − π_old ≥ −clipLow. Elsewhere 0. dualClip 0: ρ has no cap.
 *
 * `plain` (REINFORCE): −A·logprob.
 */
export function surrogate(
  logprob: number,
  oldLogprob: number,
  advantage: number,
  settings: Pick<ObjectiveSettings, 'surrogate' | 'clipLow' | 'clipHigh' | 'dualClip'>,
  sequenceLogRatio = logprob - oldLogprob,
): TokenLoss {
  const { clipLow, clipHigh, dualClip } = settings;
  const difference = logprob - oldLogprob;
  const ratio = Math.exp(clamp(difference, -MAX_LOG_RATIO, MAX_LOG_RATIO));
  /** −A·sg(weight)·logprob */
  const weighted = (weight: number, clipped = false, lowerClipped = false): TokenLoss => {
    const gradient = -advantage * weight;
    return { loss: gradient * logprob, gradient, clipped, lowerClipped };
  };
  /** PPO's loss of a ratio r that moves with logprob; `moves`: r is not at its own bound. */
  const clippedLoss = (r: number, moves: boolean, cap: number): TokenLoss => {
    const unclipped = -advantage * r;
    const bounded = -advantage * clamp(r, 1 - clipLow, 1 + clipHigh);
    const clipped = bounded > unclipped;
    const worst = clipped ? bounded : unclipped;
    const ceiling = -advantage * cap;
    const lowerClipped = advantage < 0 && cap > 0 && worst > ceiling;
    const hasGradient = !clipped && !lowerClipped && moves;
    return { loss: lowerClipped ? ceiling : worst, gradient: hasGradient ? unclipped : 0, clipped, lowerClipped };
  };
  switch (settings.surrogate) {
    case 'plain':
      return weighted(1);
    case 'clipped':
      return clippedLoss(ratio, Math.abs(difference) <= MAX_LOG_RATIO, dualClip);
    case 'gspo': {
      const logRatio = Math.min(sequenceLogRatio, MAX_SEQUENCE_LOG_RATIO);
      return clippedLoss(Math.exp(logRatio), sequenceLogRatio <= MAX_SEQUENCE_LOG_RATIO, 0);
    }
    case 'cispo': {
      const weight = clamp(ratio, 1 - clipLow, 1 + clipHigh);
      return weighted(weight, weight !== ratio);
    }
    case 'dppo-tv': {
      const moved = Math.exp(logprob) - Math.exp(oldLogprob);
      const isNear = advantage > 0 ? moved <= clipHigh : moved >= -clipLow;
      if (!isNear) return weighted(0, true);
      const isCapped = dualClip > 0 && ratio > dualClip;
      return weighted(isCapped ? dualClip : ratio, false, isCapped);
    }
  }
}

/**
 * An estimate of KL(policy ‖ reference) at a sampled token (Schulman, "Approximating KL divergence") and its derivative
 * with respect to the policy's log-probability, with δ = logprob − refLogprob and the bounds of verl's
 * `kl_penalty_forward`: k1 = δ and k2 = ½δ² without a bound, k3 = min(e^−δ − 1 + δ, 10) with gradient 0 beyond 10, that
 * is for δ below about −2.61 and above about 11.
 */
export function klEstimate(
  logprob: number,
  refLogprob: number,
  estimator: ObjectiveSettings['klEstimator'],
): { readonly kl: number; readonly gradient: number } {
  const delta = logprob - refLogprob;
  switch (estimator) {
    case 'k1':
      return { kl: delta, gradient: 1 };
    case 'k2':
      return { kl: 0.5 * delta * delta, gradient: delta };
    case 'k3': {
      const kl = Math.exp(-delta) - 1 + delta;
      return kl > MAX_K3 ? { kl: MAX_K3, gradient: 0 } : { kl, gradient: 1 - Math.exp(-delta) };
    }
  }
}

/**
 * The KL estimate of token `at` of a batch as the loss has it. With `klTimesRatio` it's ρ·k, ρ = e^clamp(logprob −
 * oldLogprob, ±20), and the gradient goes through ρ too (TRL `use_bias_correction_kl`; DeepSeek-V3.2, arXiv 2512.02556):
 * at ρ = 1 the gradient of k3 becomes δ, the score-function gradient of the KL itself.
 */
function klTerm(
  { logprobs, oldLogprobs, refLogprobs }: Pick<ObjectiveBatch, 'logprobs' | 'oldLogprobs' | 'refLogprobs'>,
  at: number,
  { klEstimator, klTimesRatio }: Pick<ObjectiveSettings, 'klEstimator' | 'klTimesRatio'>,
): { readonly kl: number; readonly gradient: number } {
  const { kl, gradient } = klEstimate(logprobs[at]!, refLogprobs[at]!, klEstimator);
  if (klTimesRatio === 'off') return { kl, gradient };
  const difference = logprobs[at]! - oldLogprobs[at]!;
  const ratio = Math.exp(clamp(difference, -MAX_LOG_RATIO, MAX_LOG_RATIO));
  const moved = Math.abs(difference) <= MAX_LOG_RATIO ? kl : 0;
  return { kl: ratio * kl, gradient: ratio * (gradient + moved) };
}

/**
 * Squared error of a value to its return, clipped to ±`clip` around the old value (PPO2; verl `compute_value_loss`):
 * ½·max((v−R)², (v_clip−R)²). The gradient is v − R where the unclipped error is at least as large, otherwise 0.
 */
export function clippedValueLoss(
  value: number,
  oldValue: number,
  target: number,
  clip: number,
): { readonly loss: number; readonly gradient: number } {
  const error = value - target;
  const bounded = clamp(value, oldValue - clip, oldValue + clip) - target;
  return error * error >= bounded * bounded
    ? { loss: 0.5 * error * error, gradient: error }
    : { loss: 0.5 * bounded * bounded, gradient: 0 };
}

/** Mean of logprob − oldLogprob over the loss mask of each sequence of a row that has a token in it. */
function meanLogRatios(batch: ObjectiveBatch, row: number): ReadonlyMap<number, number> {
  const { length, lossMask, logprobs, oldLogprobs } = batch;
  const sums = new Map<number, { sum: number; tokens: number }>();
  for (let at = row * length; at < (row + 1) * length; at++) {
    if (lossMask[at] === 0) continue;
    const { sum, tokens } = sums.get(sequenceOf(batch, at)) ?? { sum: 0, tokens: 0 };
    sums.set(sequenceOf(batch, at), { sum: sum + logprobs[at]! - oldLogprobs[at]!, tokens: tokens + 1 });
  }
  return new Map(Array.from(sums, ([sequence, { sum, tokens }]) => [sequence, sum / tokens]));
}

/** Number of tokens in a mask, over the rows of an optimizer step. */
interface MaskCounts {
  readonly tokens: number;
  readonly perSequence: ReadonlyMap<number, number>; // the sequences with a masked token → number of these tokens
  readonly length: number; // T
}

function countTokens(
  batch: Pick<ObjectiveBatch, 'length' | 'contextStarts'>,
  mask: ArrayLike<number>,
  rows: Int32Array,
): MaskCounts {
  const { length } = batch;
  const perSequence = new Map<number, number>();
  let tokens = 0;
  for (const row of rows) {
    for (let at = row * length; at < (row + 1) * length; at++) {
      if (mask[at] === 0) continue;
      const sequence = sequenceOf(batch, at);
      perSequence.set(sequence, (perSequence.get(sequence) ?? 0) + 1);
      tokens++;
    }
  }
  return { tokens, perSequence, length };
}

/**
 * Returns the divisor of each masked token of a sequence, with N sequences that have one. For `seq-mean-token-sum-norm`
 * it is N·T (Dr. GRPO, verl).
 */
function divisor(aggregation: Aggregation, counts: MaskCounts, sequence: number): number {
  switch (aggregation) {
    case 'token-mean':
      return counts.tokens;
    case 'seq-mean-token-sum':
      return counts.perSequence.size;
    case 'seq-mean-token-mean':
      return counts.perSequence.size * (counts.perSequence.get(sequence) ?? 1);
    case 'seq-mean-token-sum-norm':
      return counts.perSequence.size * counts.length;
  }
}

/**
 * The observation loss's part of d(total)/d(logprob), (B,T): −observationLoss / n at each of the n tokens of the
 * observation mask in these rows.
 */
export function observationWeights(
  { observationMask, length }: Pick<ObjectiveBatch, 'observationMask' | 'length'>,
  rows: Int32Array,
  { observationLoss }: Pick<ObjectiveSettings, 'observationLoss'>,
): Float64Array {
  const weights = new Float64Array(observationMask.length);
  if (observationLoss === 0) return weights;
  const { tokens } = countTokens({ length }, observationMask, rows);
  for (const row of rows)
    for (let at = row * length; at < (row + 1) * length; at++)
      if (observationMask[at]! !== 0) weights[at] = -observationLoss / tokens;
  return weights;
}

/** 1 at the tokens of the policy-loss mask that have a teacher, (B,T). */
function taughtTokens({ lossMask, teacherMask }: ObjectiveBatch): Uint8Array {
  return Uint8Array.from(lossMask, (m, at) => (m !== 0 && teacherMask?.[at] ? 1 : 0));
}

/**
 * Computes total = policyLoss − entropyCoef·entropy + klCoef·kl + observationLoss·(mean −log π) + teacherCoef·teacherKl
 * + valueCoef·valueLoss over the given rows, with its gradients; see `LearningMath.objective`.
 *
 * The policy loss of each token is multiplied by its entry in `corrections`. policyLoss is aggregated over the loss mask, kl and entropy over the regularizer mask and valueLoss over the value
 * mask. All use `settings.aggregation` (verl `agg_loss`, which its entropy and `compute_value_loss` use too), unless
 * `entropyAggregation` or `valueAggregation` is set. The cross-entropy of observations (ECHO, arXiv 2605.24517) is the
 * plain mean over the observation mask, whatever the aggregation, and so is the KL to the teacher, −H − Σ_v π(v)·log q(v),
 * over the tokens of the loss mask that have one. Each has its own token counts over all the given rows. A
 * sequence is a row, or with `contextStarts` a context: the turn. Sequences without a token in a mask are not counted.
 * Numbers outside a mask are never read, so a NaN there cannot leak. The given rows of `out` are overwritten, with 0 outside
 * the masks; other rows stay as they are. Float64 throughout.
 */
export const objective: LearningMath['objective'] = (batch, rows, settings, out) => {
  const lossCounts = countTokens(batch, batch.lossMask, rows);
  const regularizerCounts = countTokens(batch, batch.regularizerMask, rows);
  const valueCounts = countTokens(batch, batch.valueMask, rows);
  const predicted = observationWeights(batch, rows, settings);
  const taught = taughtTokens(batch);
  const { tokens: taughtCount } = countTokens({ length: batch.length }, taught, rows);
  const sums = {
    ...{ policyLoss: 0, kl: 0, entropy: 0, clips: 0, lowerClips: 0, oldMinusNew: 0, valueLoss: 0, observationLoss: 0 },
    teacherKl: 0,
  };
  for (const row of rows) {
    const logRatios = settings.surrogate === 'gspo' ? meanLogRatios(batch, row) : undefined;
    for (let at = row * batch.length; at < (row + 1) * batch.length; at++) {
      const sequence = sequenceOf(batch, at);
      out.policyWeights[at] = 0;
      out.dlogprobs[at] = 0;
      out.dentropies[at] = 0;
      out.dvalues[at] = 0;
      if (out.dteachers) out.dteachers[at] = 0;
      if (batch.lossMask[at]! !== 0) {
        const oldLogprob = batch.oldLogprobs[at]!;
        const logRatio = logRatios?.get(sequence);
        const token = surrogate(batch.logprobs[at]!, oldLogprob, batch.advantages[at]!, settings, logRatio);
        const weight = 1 / divisor(settings.aggregation, lossCounts, sequence);
        const corrected = weight * (batch.corrections?.[at] ?? 1);
        sums.policyLoss += corrected * token.loss;
        if (token.clipped) sums.clips++;
        if (token.lowerClipped) sums.lowerClips++;
        sums.oldMinusNew += clamp(oldLogprob - batch.logprobs[at]!, -MAX_LOG_RATIO, MAX_LOG_RATIO);
        out.policyWeights[at] = corrected * token.gradient;
        out.dlogprobs[at] = out.policyWeights[at]!;
      }
      if (batch.regularizerMask[at]! !== 0) {
        const { kl, gradient } = klTerm(batch, at, settings);
        const klWeight = 1 / divisor(settings.aggregation, regularizerCounts, sequence);
        const entropyDivisor = divisor(
          settings.entropyAggregation ?? settings.aggregation,
          regularizerCounts,
          sequence,
        );
        sums.kl += klWeight * kl;
        sums.entropy += batch.entropies[at]! / entropyDivisor;
        // a zero coefficient must not turn a non-finite estimate into a NaN gradient
        if (settings.klCoef !== 0) out.dlogprobs[at] = out.dlogprobs[at]! + klWeight * settings.klCoef * gradient;
        out.dentropies[at] = -settings.entropyCoef / entropyDivisor;
      }
      if (predicted[at]! !== 0) {
        sums.observationLoss += (predicted[at]! / settings.observationLoss) * batch.logprobs[at]!;
        out.dlogprobs[at] = out.dlogprobs[at]! + predicted[at]!;
      }
      if (taught[at] !== 0) {
        sums.teacherKl -= (batch.entropies[at]! + batch.teacherLogprobs![at]!) / taughtCount;
        const pull = -settings.teacherCoef / taughtCount;
        out.dentropies[at] = out.dentropies[at]! + pull;
        if (out.dteachers) out.dteachers[at] = pull;
      }
      if (batch.valueMask[at]! !== 0) {
        const { loss, gradient } = clippedValueLoss(
          batch.values[at]!,
          batch.oldValues[at]!,
          batch.returns[at]!,
          settings.valueClip,
        );
        const valueDivisor = divisor(settings.valueAggregation ?? settings.aggregation, valueCounts, sequence);
        sums.valueLoss += loss / valueDivisor;
        out.dvalues[at] = (settings.valueCoef * gradient) / valueDivisor;
      }
    }
  }
  const mean = 1 / Math.max(1, lossCounts.tokens);
  const { policyLoss, entropy, kl, observationLoss, teacherKl, valueLoss } = sums;
  return {
    policyLoss,
    entropy,
    kl,
    clipFraction: sums.clips * mean,
    clipFractionLower: sums.lowerClips * mean,
    approxKl: sums.oldMinusNew * mean,
    observationLoss,
    teacherKl,
    valueLoss,
    total:
      policyLoss -
      settings.entropyCoef * entropy +
      (settings.klCoef === 0 ? 0 : settings.klCoef * kl) +
      settings.observationLoss * observationLoss +
      settings.teacherCoef * teacherKl +
      settings.valueCoef * valueLoss,
    tokens: lossCounts.tokens,
  } satisfies ObjectiveParts;
};
