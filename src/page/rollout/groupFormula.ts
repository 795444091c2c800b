import type { GroupBaseline } from '../../config/estimators.ts';
import { exactNumber } from '../words/numberText.ts';
import { groupStats } from './readRollout.ts';

/** Name of each baseline, for a comparison: the estimator that is known for it. */
export const COMPARISON_NAMES: Readonly<Record<GroupBaseline, string>> = {
  'mean-over-std': 'GRPO',
  mean: 'Dr. GRPO',
  'mean-over-mean': 'MaxRL',
  'leave-one-out': 'RLOO',
};

/** The advantage of a group's rollouts as a formula, in words and with the group's numbers. */
export function groupFormula(baselineKind: GroupBaseline, rewards: readonly number[]) {
  const { mean, std } = groupStats(rewards);
  const number = (value: number) => (value < 0 ? `(${exactNumber(value)})` : exactNumber(value));
  switch (baselineKind) {
    case 'mean':
      return { words: 'score − mean of the group', numbers: `score − ${number(mean)}` };
    case 'mean-over-std':
      return {
        words: '(score − mean of the group) / (standard deviation + ε)',
        numbers: `(score − ${number(mean)}) / (${number(std)} + 1e-6)`,
      };
    case 'mean-over-mean':
      return {
        words: '(score − mean of the group) / (mean of the group + ε)',
        numbers: `(score − ${number(mean)}) / (${number(mean)} + 1e-6)`,
      };
    case 'leave-one-out':
      return {
        words: 'score − mean of the others',
        numbers: `score − (${number(mean * rewards.length)} − score) / ${rewards.length - 1}`,
      };
    default:
      return baselineKind satisfies never;
  }
}
