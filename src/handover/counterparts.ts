import { type Estimator, usesCritic } from '../config/estimators.ts';
import type { RunConfig } from '../config/fields.ts';

/** Settings of an engine by name. */
export type Overrides = Readonly<
  Record<string, string | number | boolean | null | readonly number[] | Readonly<Record<string, number>>>
>;

/**
 * verl's name of each estimator. verl has no GAE over turns and no reinforce, so these get the nearest one. It always
 * learns from rewards, so rft and none get grpo.
 */
export const ESTIMATOR_COUNTERPARTS: Readonly<Record<Estimator, string>> = {
  gae: 'gae',
  'bi-level-gae': 'gae',
  'turn-gae': 'gae',
  grpo: 'grpo',
  gigpo: 'grpo',
  'mt-grpo': 'grpo',
  'turn-baseline': 'grpo',
  'turn-credit': 'grpo',
  maxrl: 'grpo',
  rloo: 'rloo',
  reinforce: 'reinforce_plus_plus',
  'reinforce++': 'reinforce_plus_plus',
  'reinforce++-baseline': 'reinforce_plus_plus_baseline',
  rft: 'grpo',
  none: 'grpo',
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

/** verl's settings of the off-policy correction. Its limits of rejection are those of 1/r. */
export function verlCorrection({ correction, correctionLevel, correctionLow, correctionHigh }: RunConfig): Overrides {
  const at = (name: string) => `algorithm.rollout_correction.${name}`;
  const weighs = correction === 'truncated' || correction === 'masked';
  const rejects = correction === 'rejected';
  return {
    [at('rollout_is')]: weighs ? correctionLevel : null,
    [at('rollout_is_threshold')]: correction === 'masked' ? limits(correctionLow, correctionHigh) : correctionHigh,
    [at('rollout_rs')]: rejects ? { token: 'token_k1', sequence: 'seq_mean_k1' }[correctionLevel] : null,
    [at('rollout_rs_threshold')]: rejects ? limits(1 / correctionHigh, 1 / Math.max(correctionLow, 1e-8)) : null,
    'actor_rollout_ref.rollout.calculate_log_probs': correction !== 'none',
  };
}

/** `LOW_HIGH`, as verl writes two limits. With a decimal point in each, because Hydra reads 0.5_2 as the number 0.52. */
function limits(low: number, high: number): string {
  return [low, high].map((limit) => (Number.isInteger(limit) ? limit.toFixed(1) : String(limit))).join('_');
}

/**
 * TRL's settings of the off-policy correction, which it applies to vLLM's log-probabilities. Without a correction here
 * they are TRL's defaults, because vLLM isn't the learner even where this project's sampler is.
 */
export function trlCorrection({ correction, correctionLevel, correctionLow, correctionHigh }: RunConfig): Overrides {
  const settings = (mode: string, low: number | null, high: number) => ({
    vllm_importance_sampling_correction: true,
    vllm_importance_sampling_mode: mode,
    vllm_importance_sampling_clip_max: high,
    vllm_importance_sampling_clip_min: low,
  });
  if (correction === 'none') return settings('sequence_mask', null, 3);
  if (correction === 'truncated') return settings(`${correctionLevel}_truncate`, null, correctionHigh);
  return settings(`${correctionLevel}_mask`, correctionLow, correctionHigh);
}
