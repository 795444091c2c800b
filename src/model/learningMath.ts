import type { CreditInput } from './policy.ts';
import type { StepStats } from './policyReport.ts';
import type { CreditSettings, ObjectiveSettings } from './learningSettings.ts';

/** Plain TypeScript from `src/rl`; the WGSL kernels compute the same. It is passed in, so that `model` need not import `rl`. */
export interface LearningMath {
  /** Masks, rewards after KL, advantages and returns, all (B,T). Estimators without a critic ignore `values`. */
  credit(batch: CreditBatch, input: CreditInput, settings: CreditSettings): Credit;
  /**
   * Computes the objective over the given rows and returns its parts; `tokens` 0 means there is nothing to learn.
   * Writes d(total)/d(logprob), d(total)/d(entropy) and d(total)/d(value) of each token to `out`, at the token's (B,T)
   * index.
   */
  objective(batch: ObjectiveBatch, rows: Int32Array, settings: ObjectiveSettings, out: TokenGradients): ObjectiveParts;
}
/** The parts of a batch that `credit` reads, (B,T) each. */
export interface CreditBatch {
  readonly rows: number;
  readonly length: number;
  readonly roles: Uint8Array;
  readonly values: ArrayLike<number>;
  readonly oldLogprobs: ArrayLike<number>;
  readonly refLogprobs: ArrayLike<number>;
}
/** Result of `credit`, (B,T) each. Rows out of the batch have 0, except in `rewards`. */
export interface Credit {
  readonly masks: CreditMasks;
  readonly rewards: Float64Array; // minus the KL penalty; unchanged in rows out of the batch
  readonly advantages: Float64Array;
  readonly returns: Float64Array;
  readonly corrections?: Float64Array; // factor of each token's policy loss, without a gradient; absent: 1
}
/** Masks, (B,T) each: 1 where a token counts. */
export interface CreditMasks {
  readonly policy: Float32Array;
  readonly regularizer: Float32Array;
  readonly value: Float32Array; // 0 for estimators without a critic
  readonly advantage: Float32Array;
  readonly whiten: Float32Array;
  readonly observation: Float32Array; // of the observation loss; 0 where the policy loss grades observations
}
/** Inputs of the objective, all (B,T). */
export interface ObjectiveBatch {
  readonly length: number; // T
  readonly contextStarts?: ArrayLike<number>; // as in `TokenRecord`; absent: every row is one context
  readonly logprobs: ArrayLike<number>;
  readonly entropies: ArrayLike<number>;
  readonly values: ArrayLike<number>;
  readonly oldLogprobs: ArrayLike<number>;
  readonly refLogprobs: ArrayLike<number>;
  readonly oldValues: ArrayLike<number>;
  readonly advantages: ArrayLike<number>;
  readonly corrections?: ArrayLike<number>; // factor of each token's policy loss, without a gradient; absent: 1
  readonly returns: ArrayLike<number>;
  readonly lossMask: ArrayLike<number>; // of the policy loss
  readonly regularizerMask: ArrayLike<number>; // of entropy and KL loss
  readonly valueMask: ArrayLike<number>;
  readonly observationMask: ArrayLike<number>; // of the observation loss
  readonly teacherMask?: ArrayLike<number>; // 1 where the teacher has a distribution q; absent: nowhere
  readonly teacherLogprobs?: ArrayLike<number>; // Σ_v π(v)·log q(v)
}
/** Gradients of the total with respect to the network's outputs for each token, (B,T) each. */
export interface TokenGradients {
  readonly dlogprobs: Float64Array;
  readonly policyWeights: Float64Array; // the policy loss's part of dlogprobs
  readonly dentropies: Float64Array;
  readonly dvalues: Float64Array; // valueCoef included
  readonly dteachers?: Float64Array; // by `teacherLogprobs`; absent: not written
}
export type ObjectiveParts = Pick<
  StepStats,
  | 'policyLoss'
  | 'entropy'
  | 'kl'
  | 'clipFraction'
  | 'clipFractionLower'
  | 'approxKl'
  | 'observationLoss'
  | 'teacherKl'
  | 'valueLoss'
  | 'total'
  | 'tokens'
>;
