import type { RunConfig } from '../../config/fields.ts';
import { BASELINES, baselineOf, type GroupBaseline, usesGroups } from '../../config/estimators.ts';
import { groupStats } from './readRollout.ts';

/** The ε that the trainer adds to the standard deviation before it divides by it. */
export const EPSILON = 1e-6;

/** A rollout's advantage, written out: (reward − baseline) / (spread + ε). */
export interface WrittenAdvantage {
  readonly baseline: number;
  readonly words: string; // what the baseline is
  readonly spread: number | null; // standard deviation of the group's rewards; null: not divided
  readonly value: number;
}

/**
 * The advantage of one reward with an estimator that compares the rollouts of a prompt, before whitening and before a
 * filter's scaling. 0 if all rewards of the group are equal. Null for other estimators, or if the group has only one
 * rollout.
 */
export function writtenAdvantage(
  { estimator, divideByStd }: Pick<RunConfig, 'estimator' | 'divideByStd'>,
  rewards: readonly number[],
  reward: number,
): WrittenAdvantage | null {
  const n = rewards.length;
  if (!usesGroups(estimator) || n < 2) return null;
  const { mean, std } = groupStats(rewards);
  const comparison = baselineOf(estimator, divideByStd === 'on');
  const baseline = BASELINES[comparison].of(reward, mean, n);
  const spread = comparison === 'mean-over-std' ? std : null;
  const value = std < EPSILON ? 0 : (reward - baseline) / (spread === null ? 1 : spread + EPSILON);
  return { baseline, words: BASELINES[comparison].words, spread, value };
}

type ComparisonKnobs = Pick<RunConfig, 'estimator' | 'divideByStd'>;

/** Description of each group baseline: what it does with a rollout's score. */
export const COMPARISON_NAMES: Readonly<Record<GroupBaseline, string>> = {
  mean: 'minus the group’s mean',
  'mean-over-std': 'minus the group’s mean, divided by the standard deviation',
  'leave-one-out': 'minus the mean of the others (leave-one-out)',
};

/**
 * A second way to compare, shown beside the one that a batch was trained with: the one that the knobs now set, if it
 * differs; otherwise leave-one-out, or GRPO's if the batch used leave-one-out.
 */
export function otherComparison(trained: ComparisonKnobs, wanted: ComparisonKnobs): ComparisonKnobs {
  const of = ({ estimator, divideByStd }: ComparisonKnobs) => baselineOf(estimator, divideByStd === 'on');
  if (usesGroups(wanted.estimator) && of(wanted) !== of(trained)) return wanted;
  return { estimator: of(trained) === 'leave-one-out' ? 'grpo' : 'rloo', divideByStd: 'on' };
}
