import type { LearningMath, ObjectiveParts } from '../model/learningMath.ts';
import type { Aggregation, ObjectiveSettings } from '../model/learningSettings.ts';

/** Bound on log-ratios before exp, in nats: e^20 is finite in f32. Beyond it the value is that at the bound, the gradient 0. */
const MAX_LOG_RATIO = 20;

/** Bound on the value of k3, in nats; the gradient is 0 beyond it (verl `kl_penalty_forward`). */
const MAX_K3 = 10;

const clamp = (x: number, low: number, high: number) => Math.min(high, Math.max(low, x));

/** The contribution of one token to the policy loss, and its derivative with respect to the token's log-probability. */
export interface TokenLoss {
  readonly loss: number;
  readonly gradient: number;
  readonly clipped: boolean; // the clip is active: clipped surrogate > unclipped
  readonly lowerClipped: boolean; // the dual clip is active
}

/**
 * The surrogate loss of one token. `clipped` (PPO, Schulman et al. 2017, eq. 7; separate upper bound as in DAPO; dual
 * clip of Ye et al. 2020): d = clamp(logprob − oldLogprob, ±20), ρ = e^d, L = max(−Aρ, −A·clip(ρ, 1−clipLow,
 * 1+clipHigh)), and if A < 0 and dualClip > 0, L = min(L, −A·dualClip). The gradient is −Aρ where no bound applies,
 * otherwise exactly 0. `plain` (REINFORCE): −A·logprob.
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
  const hasGradient = !clipped && !lowerClipped && Math.abs(difference) <= MAX_LOG_RATIO;
  return { loss: lowerClipped ? ceiling : worst, gradient: hasGradient ? unclipped : 0, clipped, lowerClipped };
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

/** Number of tokens in a mask, over the rows of an optimizer step. */
interface MaskCounts {
  readonly tokens: number;
  readonly rows: number; // number of rows with at least one masked token: the B of the seq-mean aggregations
  readonly perRow: ReadonlyMap<number, number>; // row → number of its masked tokens
  readonly length: number; // T
}

function countTokens(mask: ArrayLike<number>, rows: Int32Array, length: number): MaskCounts {
  const perRow = new Map<number, number>();
  let tokens = 0;
  for (const row of rows) {
    let rowTokens = 0;
    for (let at = row * length; at < (row + 1) * length; at++) if (mask[at]! !== 0) rowTokens++;
    if (rowTokens > 0) perRow.set(row, rowTokens);
    tokens += rowTokens;
  }
  return { tokens, rows: perRow.size, perRow, length };
}

/** Returns the divisor of each masked token of a row. For `seq-mean-token-sum-norm` it is B·T (Dr. GRPO, verl). */
function divisor(aggregation: Aggregation, counts: MaskCounts, row: number): number {
  switch (aggregation) {
    case 'token-mean':
      return counts.tokens;
    case 'seq-mean-token-sum':
      return counts.rows;
    case 'seq-mean-token-mean':
      return counts.rows * (counts.perRow.get(row) ?? 1);
    case 'seq-mean-token-sum-norm':
      return counts.rows * counts.length;
  }
}

/**
 * Computes total = policyLoss − entropyCoef·entropy + klCoef·kl + valueCoef·valueLoss over the given rows, with its
 * gradients; see `LearningMath.objective`.
 *
 * policyLoss is aggregated over the loss mask, kl and entropy over the regularizer mask and valueLoss over the value
 * mask. All use `settings.aggregation` (verl `agg_loss`, which its entropy and `compute_value_loss` use too), unless
 * `entropyAggregation` or `valueAggregation` is set. Each has its own token counts over all the given rows. Rows
 * without a token in a mask are not counted. Numbers outside a mask are never read, so a NaN there cannot leak. The
 * given rows of `out` are overwritten, with 0 outside the masks; other rows stay as they are. Float64 throughout.
 */
export const objective: LearningMath['objective'] = (batch, rows, settings, out) => {
  const lossCounts = countTokens(batch.lossMask, rows, batch.length);
  const regularizerCounts = countTokens(batch.regularizerMask, rows, batch.length);
  const valueCounts = countTokens(batch.valueMask, rows, batch.length);
  const sums = { policyLoss: 0, kl: 0, entropy: 0, clips: 0, lowerClips: 0, oldMinusNew: 0, valueLoss: 0 };
  for (const row of rows) {
    const weight = 1 / divisor(settings.aggregation, lossCounts, row);
    const klWeight = 1 / divisor(settings.aggregation, regularizerCounts, row);
    const entropyDivisor = divisor(settings.entropyAggregation ?? settings.aggregation, regularizerCounts, row);
    const valueDivisor = divisor(settings.valueAggregation ?? settings.aggregation, valueCounts, row);
    for (let at = row * batch.length; at < (row + 1) * batch.length; at++) {
      out.policyWeights[at] = 0;
      out.dlogprobs[at] = 0;
      out.dentropies[at] = 0;
      out.dvalues[at] = 0;
      if (batch.lossMask[at]! !== 0) {
        const oldLogprob = batch.oldLogprobs[at]!;
        const token = surrogate(batch.logprobs[at]!, oldLogprob, batch.advantages[at]!, settings);
        sums.policyLoss += weight * token.loss;
        if (token.clipped) sums.clips++;
        if (token.lowerClipped) sums.lowerClips++;
        sums.oldMinusNew += clamp(oldLogprob - batch.logprobs[at]!, -MAX_LOG_RATIO, MAX_LOG_RATIO);
        out.policyWeights[at] = weight * token.gradient;
        out.dlogprobs[at] = out.policyWeights[at]!;
      }
      if (batch.regularizerMask[at]! !== 0) {
        const { kl, gradient } = klEstimate(batch.logprobs[at]!, batch.refLogprobs[at]!, settings.klEstimator);
        sums.kl += klWeight * kl;
        sums.entropy += batch.entropies[at]! / entropyDivisor;
        // a zero coefficient must not turn a non-finite estimate into a NaN gradient
        if (settings.klCoef !== 0) out.dlogprobs[at] = out.dlogprobs[at]! + klWeight * settings.klCoef * gradient;
        out.dentropies[at] = -settings.entropyCoef / entropyDivisor;
      }
      if (batch.valueMask[at]! !== 0) {
        const { loss, gradient } = clippedValueLoss(
          batch.values[at]!,
          batch.oldValues[at]!,
          batch.returns[at]!,
          settings.valueClip,
        );
        sums.valueLoss += loss / valueDivisor;
        out.dvalues[at] = (settings.valueCoef * gradient) / valueDivisor;
      }
    }
  }
  const mean = 1 / Math.max(1, lossCounts.tokens);
  const { policyLoss, entropy, kl, valueLoss } = sums;
  return {
    policyLoss,
    entropy,
    kl,
    clipFraction: sums.clips * mean,
    clipFractionLower: sums.lowerClips * mean,
    approxKl: sums.oldMinusNew * mean,
    valueLoss,
    total:
      policyLoss -
      settings.entropyCoef * entropy +
      (settings.klCoef === 0 ? 0 : settings.klCoef * kl) +
      settings.valueCoef * valueLoss,
    tokens: lossCounts.tokens,
  } satisfies ObjectiveParts;
};
