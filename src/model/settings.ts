import type { Estimator } from '../config/estimators.ts';

/** An estimate of KL(policy ‖ reference) at a sampled token; `src/rl/objective.ts` has the equations. */
export type KlEstimator = 'k1' | 'k2' | 'k3';

/** The six places a mask acts. true: agent tokens only (role 2); false: every response token (roles 2 and 3). */
export interface MaskSwitches {
  readonly advantage: boolean; // the recursion, group scores, and the tokens that carry an advantage
  readonly whiten: boolean; // tokens that make the mean and variance of whitening
  readonly value: boolean; // critic targets
  readonly klReward: boolean; // tokens whose reward pays for KL
  readonly policy: boolean; // policy loss
  readonly regularizer: boolean; // entropy and KL loss
}

/** How rewards become advantages and returns. */
export interface CreditSettings {
  readonly estimator: Estimator;
  readonly gamma: number; // per token of the advantage mask
  readonly lambda: number;
  readonly turnGamma: number; // bi-level-gae: per turn
  readonly divideByStd: boolean; // grpo
  readonly whiten: boolean; // gae, bi-level-gae, reinforce++ and reinforce++-baseline
  readonly remask: boolean; // after whitening, 0 outside the advantage mask; off leaves −mean/std there
  readonly klCoef: number; // KL in the reward: r − klCoef·k(old, reference); 0: off
  readonly klEstimator: KlEstimator;
  readonly scale: number; // multiplies the advantages last
  readonly masks: MaskSwitches;
  readonly choicesOnly: boolean; // choices of one are in none of the masks; what they are paid goes to the choice before
}

/** How numbers of tokens become one; `src/rl/objective.ts` has the weights. */
export type Aggregation = 'token-mean' | 'seq-mean-token-sum' | 'seq-mean-token-mean' | 'seq-mean-token-sum-norm';

/** The loss of one optimizer step; see `src/rl/objective.ts` for the equations. */
export interface ObjectiveSettings {
  readonly surrogate: 'clipped' | 'plain'; // plain: −A · logprob
  readonly clipLow: number;
  readonly clipHigh: number;
  readonly dualClip: number; // 0: off
  readonly klEstimator: KlEstimator;
  readonly klCoef: number;
  readonly entropyCoef: number;
  readonly valueCoef: number;
  readonly valueClip: number;
  readonly aggregation: Aggregation; // of the policy loss and the KL, and of entropy and value loss as in verl
  readonly entropyAggregation?: Aggregation; // where entropy has one of its own, as in some fixtures
  readonly valueAggregation?: Aggregation; // likewise
}

/** AdamW with global-norm clipping. */
export interface OptimizerSettings {
  readonly learningRate: number;
  readonly criticLearningRate: number; // a separate critic's
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number; // tensors of two or more dimensions only
  readonly maxGradNorm: number;
  readonly criticOnly: boolean; // a separate critic learns, the policy stays as it is (critic warm-up)
}
