import type { RunConfig } from '../config/fields.ts';
import type { CORRECTION_KNOBS, OBJECTIVE_KNOBS } from '../config/objectiveKnobs.ts';

/** An estimate of KL(policy ‖ reference) at a sampled token; `src/rl/objective.ts` has the equations. */
export type KlEstimator = RunConfig['klEstimator'];

/** The six places a mask acts. true: agent tokens only (role 2); false: every response token (roles 2 and 3). */
export interface MaskSwitches {
  readonly advantage: boolean; // the recursion, group scores, and the tokens that carry an advantage
  readonly whiten: boolean; // tokens that give the mean and variance of whitening
  readonly value: boolean; // critic targets
  readonly klReward: boolean; // tokens whose reward has the KL penalty
  readonly policy: boolean; // policy loss
  readonly regularizer: boolean; // entropy and KL loss
}

/** How the policy loss allows for a sampler that isn't the learner; `src/rl/corrections.ts` has the equations. */
export type CorrectionSettings = Pick<RunConfig, (typeof CORRECTION_KNOBS)[number]>;

/** How rewards become advantages and returns; `gamma` is per token of the advantage mask, `turnGamma` per turn. */
export interface CreditSettings extends Pick<
  RunConfig,
  'estimator' | 'gamma' | 'lambda' | 'turnGamma' | 'stateWeight'
> {
  readonly divideByStd: boolean; // for grpo and gigpo
  readonly whiten: boolean; // for gae, bi-level-gae, reinforce++ and reinforce++-baseline
  readonly remask: boolean; // sets advantages outside the advantage mask to 0 after whitening; off: they are −mean/std
  readonly klCoef: number; // KL in the reward: r − klCoef·k(old, reference); 0: off
  readonly klEstimator: KlEstimator;
  readonly scale: number; // factor of the final advantages
  readonly masks: MaskSwitches;
  readonly trainTurns: RunConfig['trainTurns']; // turns in the policy loss and the regularizers
  readonly correction?: CorrectionSettings; // absent: none
  readonly choicesOnly: boolean; // masks leave out single-choice tokens; the choice before them gets their reward
}

/** How the losses of tokens are combined into one; `src/rl/objective.ts` has the weights. */
export type Aggregation = RunConfig['aggregation'];

/** The loss of one optimizer step; see `src/rl/objective.ts` for the equations. */
export interface ObjectiveSettings extends Pick<RunConfig, (typeof OBJECTIVE_KNOBS)[number]> {
  readonly entropyAggregation?: Aggregation; // of the entropy, if it differs from `aggregation`, as in some fixtures
  readonly valueAggregation?: Aggregation; // of the value loss, likewise
}

/** AdamW with global-norm clipping; weights decay in tensors of two or more dimensions only. */
export interface OptimizerSettings extends Pick<
  RunConfig,
  'learningRate' | 'criticLearningRate' | 'beta1' | 'beta2' | 'weightDecay' | 'maxGradNorm'
> {
  readonly eps: number;
  readonly criticOnly: boolean; // a separate critic learns, the policy stays as it is (critic warm-up)
}
