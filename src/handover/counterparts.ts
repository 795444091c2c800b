import type { Estimator } from '../config/estimators.ts';
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

/** `count` in so many parts, rounded up; at least 1. */
export function per(count: number, parts: number): number {
  return Math.max(1, Math.ceil(count / parts));
}
