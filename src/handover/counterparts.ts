import { type Estimator, usesCritic } from '../config/estimators.ts';
import type { RunConfig } from '../config/fields.ts';

/** Settings of an engine by name. */
export type Overrides = Readonly<
  Record<string, string | number | boolean | null | readonly number[] | Readonly<Record<string, number>>>
>;

/** verl's name of each estimator. verl has no GAE over turns and no reinforce, so these get the nearest one. */
export const ESTIMATOR_COUNTERPARTS: Readonly<Record<Estimator, string>> = {
  gae: 'gae',
  'bi-level-gae': 'gae',
  'turn-gae': 'gae',
  grpo: 'grpo',
  maxrl: 'grpo',
  rloo: 'rloo',
  reinforce: 'reinforce_plus_plus',
  'reinforce++': 'reinforce_plus_plus',
  'reinforce++-baseline': 'reinforce_plus_plus_baseline',
};

/** verl's `policy_loss.loss_mode` of each surrogate. */
export const LOSS_MODES: Readonly<Record<RunConfig['surrogate'], string>> = {
  clipped: 'vanilla',
  gspo: 'gspo',
  cispo: 'cispo',
  'dppo-tv': 'dppo_tv',
  plain: 'gpg',
};

/** TRL's `loss_type` of each aggregation. */
export const LOSS_TYPES: Readonly<Record<RunConfig['aggregation'], string>> = {
  'token-mean': 'dapo',
  'seq-mean-token-mean': 'grpo',
  'seq-mean-token-sum': 'dr_grpo',
  'seq-mean-token-sum-norm': 'dr_grpo',
};

/** The smallest divisor of `count` that is at least `minimum`. Requires 1 ≤ `minimum` ≤ `count`. */
export function divisorAtLeast(count: number, minimum: number): number {
  let divisor = Math.ceil(minimum);
  while (count % divisor !== 0) divisor++;
  return divisor;
}

/** Rollouts per task for an engine that needs at least two to compare. */
export function generationsPerTask({ groupSize }: RunConfig): number {
  return Math.max(2, groupSize);
}

/**
 * The value of verl's `critic_warmup`: the step, counted from 1, from which the policy learns. verl applies it even
 * without a critic.
 */
export function policyStartStep({ criticWarmup, estimator }: RunConfig): number {
  return criticWarmup > 0 && usesCritic(estimator) ? criticWarmup + 1 : 0;
}
