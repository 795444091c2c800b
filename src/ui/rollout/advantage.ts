import type { RunConfig } from '../../config/fields.ts';
import { BASELINES, baselineOf, type GroupBaseline, usesGroups } from '../../config/estimators.ts';
import { groupStats } from './readRollout.ts';

/** The ε that the trainer adds to the standard deviation before it divides by it. */
export const STD_EPSILON = 1e-6;

/** A rollout's advantage, written out: (reward − baseline) / (divisor + ε); without a divisor, reward − baseline. */
export interface AdvantageEquation {
  readonly baseline: number;
  readonly baselineText: string; // what the baseline is
  readonly divisor: number | null; // standard deviation of the group's rewards; null: not divided
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
  const { mean, std } = groupStats(rewards);
  const baselineKind = baselineOf(estimator, divideByStd === 'on');
  const baseline = BASELINES[baselineKind].compute(reward, mean, n);
  const divisor = baselineKind === 'mean-over-std' ? std : null;
  const value = std < STD_EPSILON ? 0 : (reward - baseline) / (divisor === null ? 1 : divisor + STD_EPSILON);
  return { baseline, baselineText: BASELINES[baselineKind].label, divisor, value };
}

type BaselineKnobs = Pick<RunConfig, 'estimator' | 'divideByStd'>;

/** Description of each group baseline: what it does with a rollout's score. */
export const BASELINE_DESCRIPTIONS: Readonly<Record<GroupBaseline, string>> = {
  mean: 'minus the group’s mean',
  'mean-over-std': 'minus the group’s mean, divided by the standard deviation',
  'leave-one-out': 'minus the mean of the others (leave-one-out)',
};

/**
 * A second baseline, shown beside the one that a batch was trained with: the baseline that the knobs now set, if it
 * differs; otherwise leave-one-out, or GRPO's (the mean, divided by the standard deviation) if the batch used
 * leave-one-out.
 */
export function otherBaselineKnobs(trained: BaselineKnobs, wanted: BaselineKnobs): BaselineKnobs {
  const kindOf = ({ estimator, divideByStd }: BaselineKnobs) => baselineOf(estimator, divideByStd === 'on');
  if (usesGroups(wanted.estimator) && kindOf(wanted) !== kindOf(trained)) return wanted;
  return { estimator: kindOf(trained) === 'leave-one-out' ? 'grpo' : 'rloo', divideByStd: 'on' };
}
