import { type Estimator, usesCritic } from '../config/estimators.ts';
import type { RunConfig } from '../config/fields.ts';

/** Settings of an engine by name. */
export type Overrides = Readonly<
  Record<string, string | number | boolean | null | readonly number[] | Readonly<Record<string, number>>>
>;

/** verl's names of the estimators; the nearest where it has none (bi-level-gae, reinforce). */
export const ESTIMATOR_COUNTERPARTS: Readonly<Record<Estimator, string>> = {
  gae: 'gae',
  'bi-level-gae': 'gae',
  grpo: 'grpo',
  rloo: 'rloo',
  reinforce: 'reinforce_plus_plus',
  'reinforce++': 'reinforce_plus_plus',
  'reinforce++-baseline': 'reinforce_plus_plus_baseline',
};

/** TRL's `loss_type` of each aggregation. */
export const LOSS_TYPES: Readonly<Record<RunConfig['aggregation'], string>> = {
  'token-mean': 'dapo',
  'seq-mean-token-mean': 'grpo',
  'seq-mean-token-sum': 'dr_grpo',
  'seq-mean-token-sum-norm': 'dr_grpo',
};

/** The smallest divisor of `count` from `least` on; both at least 1, `least` at most `count`. */
export function divisorFrom(count: number, least: number): number {
  let divisor = Math.ceil(least);
  while (count % divisor !== 0) divisor++;
  return divisor;
}

/** Rollouts of each task where at least two are compared. */
export function generations({ groupSize }: RunConfig): number {
  return Math.max(2, groupSize);
}

/** verl's `critic_warmup`: its policy learns from that step on, counted from 1, whether there is a critic or not. */
export function criticOnly({ criticWarmup, estimator }: RunConfig): number {
  return criticWarmup > 0 && usesCritic(estimator) ? criticWarmup + 1 : 0;
}
