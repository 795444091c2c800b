import type { CreditInput } from './policy.ts';
import type { StepStats } from './policyReport.ts';
import type { CreditSettings, ObjectiveSettings } from './learningSettings.ts';

/**
 * The plain-TypeScript RL math the CPU backend runs (`src/rl/advantages.ts`, `src/rl/objective.ts`), handed in by the
 * composition root so that `model` need not import `rl`. The WGSL kernels compute the same.
 */
export interface LearningMath {
  /** Masks, rewards after KL, advantages and returns, all (B,T). `values` are ignored by estimators without a critic. */
  credit(batch: CreditBatch, input: CreditInput, settings: CreditSettings): Credit;
  /**
   * The objective over the given rows: sums and, per token, d(total)/d(logprob), d(total)/d(entropy), d(total)/d(value),
   * written at the token's (B,T) index. Returns the measured parts; `tokens` 0 means there is nothing to learn.
   */
  objective(batch: ObjectiveBatch, rows: Int32Array, settings: ObjectiveSettings, out: TokenGradients): ObjectiveParts;
}
/** What credit reads of a batch, all (B,T). */
export interface CreditBatch {
  readonly rows: number;
  readonly length: number;
  readonly roles: Uint8Array;
  readonly values: ArrayLike<number>;
  readonly oldLogprobs: ArrayLike<number>;
  readonly refLogprobs: ArrayLike<number>;
}
/** What credit makes of it, all (B,T); 0 in rows that are out of the batch. */
export interface Credit {
  readonly masks: CreditMasks;
  readonly rewards: Float64Array; // KL taken off; as paid in rows that are out
  readonly advantages: Float64Array;
  readonly returns: Float64Array;
}
/** 1 where a token counts, (B,T) each. */
export interface CreditMasks {
  readonly policy: Float32Array;
  readonly regularizer: Float32Array;
  readonly value: Float32Array; // 0 for estimators without a critic
  readonly advantage: Float32Array;
  readonly whiten: Float32Array;
}
/** Inputs of the objective, all (B,T). */
export interface ObjectiveBatch {
  readonly length: number; // T
  readonly logprobs: ArrayLike<number>;
  readonly entropies: ArrayLike<number>;
  readonly values: ArrayLike<number>;
  readonly oldLogprobs: ArrayLike<number>;
  readonly refLogprobs: ArrayLike<number>;
  readonly oldValues: ArrayLike<number>;
  readonly advantages: ArrayLike<number>;
  readonly returns: ArrayLike<number>;
  readonly lossMask: ArrayLike<number>; // of the policy loss
  readonly regularizerMask: ArrayLike<number>; // of entropy and KL loss
  readonly valueMask: ArrayLike<number>;
}
/** (B,T) gradients of the total with respect to what the network said of each token. */
export interface TokenGradients {
  readonly dlogprobs: Float64Array;
  readonly policyWeights: Float64Array; // the policy loss's part of dlogprobs
  readonly dentropies: Float64Array;
  readonly dvalues: Float64Array; // with valueCoef inside
}
export type ObjectiveParts = Pick<
  StepStats,
  'policyLoss' | 'entropy' | 'kl' | 'clipFraction' | 'clipFractionLower' | 'approxKl' | 'valueLoss' | 'total' | 'tokens'
>;
