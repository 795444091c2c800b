import type { LearningMath, ObjectiveBatch, ObjectiveParts, ObjectiveSettings } from '../model/policy.ts';

/**
 * Bound on log-ratios before exp, in nats: e^20 is finite in f32, and no sane update gets there. Outside it the value is
 * that of the bound and the gradient is 0.
 */
const MAX_LOG_RATIO = 20;

const clamp = (x: number, low: number, high: number) => Math.min(high, Math.max(low, x));

/** What one token adds to the policy loss, and its derivative with respect to the token's log-probability. */
export interface TokenLoss {
  readonly loss: number;
  readonly gradient: number;
  readonly clipped: boolean; // the clip is active: clipped surrogate > unclipped
  readonly lowerClipped: boolean; // the dual clip is active
}

/**
 * The surrogate of one token. `clipped` (PPO, Schulman et al. 2017, eq. 7; upper bound apart as in DAPO; dual clip of Ye et
 * al. 2020): d = clamp(logprob − oldLogprob, ±20), ρ = e^d, L = max(−Aρ, −A·clip(ρ, 1−clipLow, 1+clipHigh)), and where
 * A < 0 and dualClip > 0, min(L, −A·dualClip). The gradient is −Aρ on the live branch, else exactly 0. `plain`
 * (REINFORCE): −A·logprob.
 */
export function surrogate(
  logprob: number,
  oldLogprob: number,
  advantage: number,
  settings: Pick<ObjectiveSettings, 'surrogate' | 'clipLow' | 'clipHigh' | 'dualClip'>,
): TokenLoss {
  if (settings.surrogate === 'plain') {
    return { loss: -advantage * logprob, gradient: -advantage, clipped: false, lowerClipped: false };
  }
  const difference = logprob - oldLogprob;
  const ratio = Math.exp(clamp(difference, -MAX_LOG_RATIO, MAX_LOG_RATIO));
  const unclipped = -advantage * ratio;
  const bounded = -advantage * clamp(ratio, 1 - settings.clipLow, 1 + settings.clipHigh);
  const clipped = bounded > unclipped;
  const worst = clipped ? bounded : unclipped;
  const ceiling = -advantage * settings.dualClip;
  const lowerClipped = advantage < 0 && settings.dualClip > 0 && worst > ceiling;
  const live = !clipped && !lowerClipped && Math.abs(difference) <= MAX_LOG_RATIO;
  return { loss: lowerClipped ? ceiling : worst, gradient: live ? unclipped : 0, clipped, lowerClipped };
}

/**
 * An estimate of KL(policy ‖ reference) at a sampled token (Schulman, "Approximating KL divergence") and its derivative
 * with respect to the policy's log-probability, with δ = clamp(logprob − refLogprob, ±20): k1 = δ, k2 = ½δ²,
 * k3 = e^−δ − 1 + δ.
 */
export function klEstimate(
  logprob: number,
  refLogprob: number,
  estimator: ObjectiveSettings['klEstimator'],
): { readonly kl: number; readonly gradient: number } {
  const delta = clamp(logprob - refLogprob, -MAX_LOG_RATIO, MAX_LOG_RATIO);
  const inside = Math.abs(logprob - refLogprob) <= MAX_LOG_RATIO ? 1 : 0;
  switch (estimator) {
    case 'k1':
      return { kl: delta, gradient: inside };
    case 'k2':
      return { kl: 0.5 * delta * delta, gradient: inside * delta };
    case 'k3':
      return { kl: Math.exp(-delta) - 1 + delta, gradient: inside * (1 - Math.exp(-delta)) };
  }
}

/**
 * Squared error of a value to its return, clipped to ±`clip` around the old value (PPO2; verl `compute_value_loss`):
 * ½·max((v−R)², (v_clip−R)²). The gradient is v − R where the unclipped error is the larger or both are equal, else 0.
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

/** What the weights of an optimizer step are made of, over its rows. */
interface Counts {
  readonly tokens: number; // in the loss mask
  readonly rows: number; // with at least one of them: the B of the seq-mean aggregations
  readonly values: number; // in the value mask
  readonly perRow: readonly number[]; // loss tokens of each given row
}

function countMasks(batch: ObjectiveBatch, rows: Int32Array): Counts {
  const perRow: number[] = [];
  let values = 0;
  for (const row of rows) {
    let own = 0;
    for (let at = row * batch.length; at < (row + 1) * batch.length; at++) {
      if (batch.lossMask[at]! !== 0) own++;
      if (batch.valueMask[at]! !== 0) values++;
    }
    perRow.push(own);
  }
  const tokens = perRow.reduce((a, n) => a + n, 0);
  return { tokens, rows: perRow.filter((n) => n > 0).length, values, perRow };
}

/** The factor of one loss token in a row that holds `own` of them. */
function aggregationWeight(aggregation: ObjectiveSettings['aggregation'], counts: Counts, own: number): number {
  switch (aggregation) {
    case 'token-mean':
      return 1 / counts.tokens;
    case 'seq-mean-token-sum':
      return 1 / counts.rows;
    case 'seq-mean-token-mean':
      return 1 / (counts.rows * own);
  }
}

/**
 * total = policyLoss − entropyCoef·entropy + klCoef·kl + valueCoef·valueLoss over the given rows, with its gradients; see
 * `LearningMath.objective`. policyLoss and kl are aggregated by `settings.aggregation`, with counts over all the given
 * rows, never a part of them; rows without a loss token count for nothing. entropy is the token mean over the loss mask,
 * valueLoss the token mean over the value mask. Numbers outside a mask are never read, so a NaN there cannot leak. The
 * given rows of `out` are overwritten, 0 outside the masks; other rows are left alone. Float64 throughout.
 */
export const objective: LearningMath['objective'] = (batch, rows, settings, out) => {
  const counts = countMasks(batch, rows);
  let policyLoss = 0;
  let kl = 0;
  let entropy = 0;
  let clips = 0;
  let lowerClips = 0;
  let oldMinusNew = 0;
  let valueLoss = 0;
  for (const [index, row] of rows.entries()) {
    const weight = aggregationWeight(settings.aggregation, counts, counts.perRow[index]!);
    for (let at = row * batch.length; at < (row + 1) * batch.length; at++) {
      out.dlogprobs[at] = 0;
      out.dentropies[at] = 0;
      out.dvalues[at] = 0;
      if (batch.lossMask[at]! !== 0) {
        const logprob = batch.logprobs[at]!;
        const oldLogprob = batch.oldLogprobs[at]!;
        const token = surrogate(logprob, oldLogprob, batch.advantages[at]!, settings);
        const toReference = klEstimate(logprob, batch.refLogprobs[at]!, settings.klEstimator);
        policyLoss += weight * token.loss;
        kl += weight * toReference.kl;
        entropy += batch.entropies[at]!;
        if (token.clipped) clips++;
        if (token.lowerClipped) lowerClips++;
        oldMinusNew += clamp(oldLogprob - logprob, -MAX_LOG_RATIO, MAX_LOG_RATIO);
        // A zero coefficient must not turn a non-finite estimate into a NaN gradient.
        const pull = settings.klCoef === 0 ? 0 : settings.klCoef * toReference.gradient;
        out.dlogprobs[at] = weight * (token.gradient + pull);
        out.dentropies[at] = -settings.entropyCoef / counts.tokens;
      }
      if (batch.valueMask[at]! !== 0) {
        const { loss, gradient } = clippedValueLoss(
          batch.values[at]!,
          batch.oldValues[at]!,
          batch.returns[at]!,
          settings.valueClip,
        );
        valueLoss += loss / counts.values;
        out.dvalues[at] = (settings.valueCoef * gradient) / counts.values;
      }
    }
  }
  const mean = 1 / Math.max(1, counts.tokens);
  const parts: ObjectiveParts = {
    policyLoss,
    entropy: entropy * mean,
    kl,
    clipFraction: clips * mean,
    clipFractionLower: lowerClips * mean,
    approxKl: oldMinusNew * mean,
    valueLoss,
    total:
      policyLoss -
      settings.entropyCoef * entropy * mean +
      (settings.klCoef === 0 ? 0 : settings.klCoef * kl) +
      settings.valueCoef * valueLoss,
    tokens: counts.tokens,
  };
  return parts;
};
