import type { CreditBatch } from '../model/learningMath.ts';
import type { CorrectionSettings } from '../model/learningSettings.ts';
import { Role } from '../domain/tokens.ts';

/** Bound on log-ratios before exp, in nats (verl's SAFETY_BOUND). */
const MAX_LOG_RATIO = 20;

const clampLogRatio = (x: number) => Math.min(MAX_LOG_RATIO, Math.max(-MAX_LOG_RATIO, x));

/** What a correction does with the tokens of a batch, (B,T) each. */
export interface Corrections {
  readonly weights: Float64Array; // factor of each token's policy loss, without a gradient; 1 where nothing is corrected
  readonly rejected: Uint8Array; // 1: the token leaves the losses
}

type CorrectedBatch = Pick<CreditBatch, 'rows' | 'length' | 'roles' | 'oldLogprobs'>;

/**
 * Corrects for a sampler that isn't the learner. `behaviour` are the log-probabilities with which the tokens were
 * drawn, `oldLogprobs` those of the learner before the update. The ratio r of a token is exp(old − behaviour), that of
 * a row the exp of the sum over its agent tokens in `mask`; log-ratios are clamped to ±20.
 *
 * `truncated`: min(r, correctionHigh) (TIS, Yao et al. 2025). `masked`: r within correctionLow … correctionHigh, 0
 * elsewhere (IcePop, MIS). `rejected`: weight 1; where r is outside the limits, the token or the whole row leaves the
 * losses, and a row is judged by the exp of the mean, not of the sum. The same as verl's
 * `compute_rollout_correction_weights`, and as its `compute_rollout_rejection_mask` with token_k1 and seq_mean_k1, whose
 * limits are those of 1/r. Observations in `mask` weren't drawn: only the ratio of their row touches them.
 */
export function corrections(
  { rows, length, roles, oldLogprobs }: CorrectedBatch,
  behaviour: ArrayLike<number>,
  mask: ArrayLike<number>,
  { correction, correctionLevel, correctionLow, correctionHigh }: CorrectionSettings,
): Corrections {
  const weights = new Float64Array(rows * length).fill(1);
  const rejected = new Uint8Array(rows * length);
  const apply = (at: number, ratio: number) => {
    const isOutside = ratio < correctionLow || ratio > correctionHigh;
    if (correction === 'truncated') weights[at] = Math.min(ratio, correctionHigh);
    if (correction === 'masked') weights[at] = isOutside ? 0 : ratio;
    if (correction === 'rejected') rejected[at] = isOutside ? 1 : 0;
  };
  for (const [row, logRatios] of logRatiosOf({ rows, length, roles, oldLogprobs }, behaviour, mask).entries()) {
    if (correctionLevel === 'token') {
      for (const [at, logRatio] of logRatios) apply(at, Math.exp(clampLogRatio(logRatio)));
      continue;
    }
    const all = [...logRatios.values()];
    const logRatio = correction === 'rejected' ? mean(all.map(clampLogRatio)) : clampLogRatio(sum(all));
    for (let at = row * length; at < (row + 1) * length; at++) if (mask[at] !== 0) apply(at, Math.exp(logRatio));
  }
  return { weights, rejected };
}

/** How far the learner is from what drew a batch, named and computed as in verl's `compute_offpolicy_metrics`. */
export interface Mismatch {
  readonly kl: number; // mean of behaviour − old, in nats
  readonly k3_kl: number; // mean of r − 1 − log r, in nats
  readonly ppl_ratio: number; // mean over rows of exp(mean of behaviour − old)
  readonly chi2_token: number; // mean of r² − 1
  readonly chi2_seq: number; // the same with the ratios of rows
  /** (mean w)² / mean w² over tokens, of the weights given; 1: every token counts the same. */
  readonly rollout_is_eff_sample_size: number;
  readonly rollout_is_mean: number; // mean of the weights given
}

/** `weights` are those of the tokens in the loss; absent: the ratios themselves. Null without an agent token in `mask`. */
export function mismatch(
  batch: CorrectedBatch,
  behaviour: ArrayLike<number>,
  mask: ArrayLike<number>,
  weights?: ArrayLike<number>,
): Mismatch | null {
  const rows = logRatiosOf(batch, behaviour, mask).filter(({ size }) => size > 0);
  const logRatios = rows.flatMap((row) => [...row.values()]);
  if (logRatios.length === 0) return null;
  const ratios = logRatios.map((x) => Math.exp(clampLogRatio(x)));
  const counted = weights ? rows.flatMap((row) => Array.from(row.keys(), (at) => weights[at]!)) : ratios;
  const meanWeight = mean(counted);
  return {
    kl: mean(logRatios.map((x) => -x)),
    k3_kl: mean(logRatios.map((x) => Math.exp(x) - x - 1)),
    ppl_ratio: mean(rows.map((row) => Math.exp(-mean([...row.values()])))),
    chi2_token: mean(ratios.map((r) => r * r)) - 1,
    chi2_seq: mean(rows.map((row) => Math.exp(2 * clampLogRatio(sum([...row.values()]))))) - 1,
    rollout_is_eff_sample_size: meanWeight === 0 ? 0 : meanWeight ** 2 / mean(counted.map((w) => w * w)),
    rollout_is_mean: meanWeight,
  };
}

/** old − behaviour of each row's agent tokens in `mask`, by index. */
function logRatiosOf(
  { rows, length, roles, oldLogprobs }: CorrectedBatch,
  behaviour: ArrayLike<number>,
  mask: ArrayLike<number>,
): ReadonlyMap<number, number>[] {
  return Array.from({ length: rows }, (_, row) => {
    const ofRow = new Map<number, number>();
    for (let at = row * length; at < (row + 1) * length; at++) {
      if (mask[at] !== 0 && roles[at] === Role.action) ofRow.set(at, oldLogprobs[at]! - behaviour[at]!);
    }
    return ofRow;
  });
}

const sum = (list: readonly number[]) => list.reduce((total, x) => total + x, 0);
const mean = (list: readonly number[]) => sum(list) / Math.max(1, list.length);
