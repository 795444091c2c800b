import type { RunConfig } from '../../config/fields.ts';
import { BASELINES, baselineOf, type GroupBaseline, usesGroups } from '../../config/estimators.ts';
import { groupStats } from './readRollout.ts';

/** The ε of the trainer's division. */
export const EPSILON = 1e-6;

/** A rollout's advantage, written out: (reward − baseline) / (spread + ε). */
export interface WrittenAdvantage {
  readonly baseline: number;
  readonly words: string; // for the baseline
  readonly spread: number | null; // null: not divided
  readonly value: number;
}

/**
 * What estimators that compare the rollouts of a prompt make of one reward, before whitening or a filter's scale; null for those that do
 * not compare. A group whose rewards are all alike gives 0.
 */
export function writtenAdvantage(
  { estimator, divideByStd }: Pick<RunConfig, 'estimator' | 'divideByStd'>,
  rewards: readonly number[],
  reward: number,
): WrittenAdvantage | null {
  const n = rewards.length;
  if (!usesGroups(estimator) || n < 2) return null;
  const { mean, std } = groupStats(rewards);
  const against = baselineOf(estimator, divideByStd === 'on');
  const baseline = BASELINES[against].of(reward, mean, n);
  const spread = against === 'mean-over-std' ? std : null;
  const value = std < EPSILON ? 0 : (reward - baseline) / (spread === null ? 1 : spread + EPSILON);
  return { baseline, words: BASELINES[against].words, spread, value };
}

type Compares = Pick<RunConfig, 'estimator' | 'divideByStd'>;

/** In words: what each group baseline does with a rollout's score. */
export const COMPARISON_NAMES: Readonly<Record<GroupBaseline, string>> = {
  mean: 'minus the group’s mean',
  'mean-over-std': 'minus the group’s mean, divided by the standard deviation',
  'leave-one-out': 'minus the mean of the others (leave-one-out)',
};

/** A second comparison to show beside the one that a batch was learned with: the one the knobs ask for now, else leave-one-out, or of that GRPO’s. */
export function otherComparison(learned: Compares, wanted: Compares): Compares {
  const of = ({ estimator, divideByStd }: Compares) => baselineOf(estimator, divideByStd === 'on');
  if (usesGroups(wanted.estimator) && of(wanted) !== of(learned)) return wanted;
  return { estimator: of(learned) === 'leave-one-out' ? 'grpo' : 'rloo', divideByStd: 'on' };
}
