/** What one optimizer step measured; means are over the policy-loss mask unless said. */
export interface StepStats {
  readonly policyLoss: number;
  readonly entropy: number; // over the regularizer mask, aggregated like the policy loss
  readonly kl: number; // to the reference over the regularizer mask, aggregated like the policy loss
  readonly clipFraction: number;
  readonly clipFractionLower: number;
  readonly approxKl: number; // mean of old − new
  readonly valueLoss: number; // over the value mask, aggregated like the policy loss
  readonly total: number;
  readonly gradNorm: number; // before clipping
  readonly criticGradNorm: number; // separate critic; else 0
  readonly tokens: number; // in the policy-loss mask
  readonly skipped: '' | 'empty' | 'non-finite'; // why the step changed nothing
  readonly culprit: string; // 'weight NAME' or 'gradient NAME' that was not finite; else ''
}

/** Everything `report` brings back; arrays are (B,T). */
export interface PolicyReport {
  readonly logprobs: Float32Array; // old ones, recomputed
  readonly refLogprobs: Float32Array; // the reference's; the old ones where it was not scored
  readonly entropies: Float32Array; // at scoring
  readonly values: Float32Array;
  readonly advantages: Float32Array;
  readonly returns: Float32Array;
  readonly rewards: Float32Array; // as the estimator saw them, KL taken off
  readonly lossMask: Float32Array; // of the policy loss
  readonly regularizerMask: Float32Array; // of entropy and KL loss
  readonly valueMask: Float32Array; // of critic targets; 0 without a critic
  readonly advantageMask: Float32Array;
  readonly whitenMask: Float32Array;
  readonly gradWeights: Float32Array; // d(total)/d(logprob) at the last step that learned from the row
  readonly policyWeights: Float32Array; // the policy loss's part of gradWeights
  readonly earlierPasses: readonly PassWeights[]; // as they were where `endPass` was called, oldest first; without the last pass
  readonly steps: readonly StepStats[]; // since the last report
}

/** Passes over a batch of which weights are kept, the last one among them: of more, the first ones and the last. */
export const KEPT_PASSES = 8;

/** What the objective made of a batch in one pass over it; (B,T) each. */
export interface PassWeights {
  readonly gradWeights: Float32Array; // d(total)/d(logprob)
  readonly policyWeights: Float32Array; // the policy loss's part
}
