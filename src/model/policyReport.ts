/** What one optimizer step measured; means are over the policy-loss mask unless said otherwise. */
export interface StepStats {
  readonly policyLoss: number;
  readonly entropy: number; // over the regularizer mask, aggregated like the policy loss
  readonly kl: number; // to the reference over the regularizer mask, aggregated like the policy loss
  readonly clipFraction: number;
  readonly clipFractionLower: number;
  readonly approxKl: number; // mean of old − new
  readonly observationLoss: number; // mean −log π over the observation mask; 0 if its weight is 0
  readonly teacherKl: number; // mean KL(π ‖ teacher) over the tokens of the policy-loss mask that have a teacher; 0 if none has
  readonly valueLoss: number; // over the value mask, aggregated like the policy loss
  readonly total: number;
  readonly gradNorm: number; // before clipping
  readonly criticGradNorm: number; // separate critic; else 0
  readonly tokens: number; // in the policy-loss mask
  /** Tokens that the step ran through the network: a beginning that several rows share counts once. Absent: not counted. */
  readonly computedTokens?: number;
  /** Tokens of its rows, each up to the last one that the step needs: what it would compute if rows shared nothing. */
  readonly trainedTokens?: number;
  readonly skipped: '' | 'empty' | 'non-finite'; // why the step changed nothing
  /** 'weight NAME' or 'gradient NAME', with f16 storage also the activation that overflowed; '' if none. Says so if it's the critic's. */
  readonly culprit: string;
}

/** Everything that `report` reads back; arrays are (B,T). */
export interface PolicyReport {
  readonly logprobs: Float32Array; // old ones, recomputed
  readonly refLogprobs: Float32Array; // the reference's; the old ones if the reference was not scored
  readonly entropies: Float32Array; // at scoring
  readonly values: Float32Array;
  readonly advantages: Float32Array;
  readonly returns: Float32Array;
  readonly rewards: Float32Array; // as the estimator saw them, minus the KL penalty
  readonly lossMask: Float32Array; // of the policy loss
  readonly regularizerMask: Float32Array; // of entropy and KL loss
  readonly valueMask: Float32Array; // of critic targets; 0 without a critic
  readonly advantageMask: Float32Array;
  readonly whitenMask: Float32Array;
  readonly observationMask: Float32Array; // of the observation loss, whatever its weight
  readonly gradWeights: Float32Array; // d(total)/d(logprob) at the last step that learned from the row
  readonly policyWeights: Float32Array; // the policy loss's part of gradWeights
  readonly earlierEpochs: readonly EpochWeights[]; // of each epoch but the last, as they were at `endEpoch`, oldest first
  readonly steps: readonly StepStats[]; // since the last report
}

/** Epochs whose gradient weights are kept, the last included. If there are more, the first KEPT_EPOCHS − 1 and the last are kept. */
export const KEPT_EPOCHS = 8;

/** Gradient weights that one epoch gave the tokens of a batch; (B,T) each. */
export interface EpochWeights {
  readonly gradWeights: Float32Array; // d(total)/d(logprob)
  readonly policyWeights: Float32Array; // the policy loss's part of gradWeights
}

export const NO_MEASUREMENTS: Omit<StepStats, 'tokens' | 'skipped' | 'culprit'> = {
  policyLoss: 0,
  entropy: 0,
  kl: 0,
  clipFraction: 0,
  clipFractionLower: 0,
  approxKl: 0,
  observationLoss: 0,
  teacherKl: 0,
  valueLoss: 0,
  total: 0,
  gradNorm: 0,
  criticGradNorm: 0,
};

export const NAN_MEASUREMENTS = { policyLoss: NaN, entropy: NaN, kl: NaN, valueLoss: NaN, total: NaN, gradNorm: NaN };
