import type { RunConfig } from '../../config/fields.ts';
import { BASELINES, baselineOf, type GroupBaseline, usesGroups } from '../../config/estimators.ts';
import { groupStats } from './readRollout.ts';

/** The ε that the trainer adds to the standard deviation before it divides by it. */
export const STD_EPSILON = 1e-6;

/** A rollout's advantage, written out: (reward − baseline) / (divisor + ε); without a divisor, reward − baseline. */
export interface AdvantageEquation {
  readonly baseline: number;
  readonly divisor: number | null; // standard deviation or mean of the group's rewards; null: not divided
  readonly value: number;
}

/**
 * The advantage of one reward with an estimator that compares the rollouts of a prompt, before whitening and before a
 * filter's scaling. 0 if all rewards of the group are equal. Null for other estimators, or if the group has only one
 * rollout.
 */
export function advantageEquation(
  { estimator, divideByStd }: Pick<RunConfig, 'estimator' | 'divideByStd'>,
  rewards: readonly number[],
  reward: number,
): AdvantageEquation | null {
  const n = rewards.length;
  if (!usesGroups(estimator) || n < 2) return null;
  return equationWith(baselineOf(estimator, divideByStd === 'on'), rewards, reward);
}

/** The advantage of one reward with a baseline; 0 if all rewards of the group are equal. */
export function equationWith(
  baselineKind: GroupBaseline,
  rewards: readonly number[],
  reward: number,
): AdvantageEquation {
  const n = rewards.length;
  const { mean, std } = groupStats(rewards);
  const baseline = BASELINES[baselineKind].compute(reward, mean, n);
  const divisor = { 'mean-over-std': std, 'mean-over-mean': mean, mean: null, 'leave-one-out': null }[baselineKind];
  const isZero = std < STD_EPSILON || (baselineKind === 'mean-over-mean' && mean <= 0);
  const value = isZero ? 0 : (reward - baseline) / (divisor === null ? 1 : divisor + STD_EPSILON);
  return { baseline, divisor, value };
}
