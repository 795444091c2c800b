import { PRESETS } from '../config/presets.ts';
import type { Experiment } from './experimentDefinition.ts';

/**
 * A learned reward, with and without a KL penalty that keeps the policy near the rollouts that the reward model was
 * trained on.
 */
export const preferences: Experiment = {
  label: 'Preferences',
  question: 'Does the agent exploit a learned reward, and does a KL penalty prevent it?',
  doc: 'Multi-hop search where only a reward model pays, not the environment. The reward model learns from a simulated labeller who values a tool call as much as a right answer. The weight of the KL was chosen on seed 1 among 0, .02, .05, .1, .2 and .5.',
  shared: { evalEvery: 20, evalTasks: 256 },
  arms: [
    { key: 'rlhf', label: 'KL .5 in the loss', set: PRESETS.rlhf.set, comparedWith: 'rlhf-hack' },
    { key: 'rlhf-hack', label: 'No KL', set: PRESETS['rlhf-hack'].set },
  ],
  columns: [
    { key: 'before', label: 'Solved before', measure: { metric: 'eval/success', take: 'first' } },
    { key: 'after', label: 'Solved after', measure: { metric: 'eval/success', take: 'last' } },
    {
      key: 'calls',
      label: 'Calls a rollout, last',
      measure: { metric: 'tool_call_counts/mean', take: 'last' },
      digits: 2,
    },
    { key: 'agreement', label: 'Model agrees, last', measure: { metric: 'reward_model/agreement', take: 'last' } },
  ],
  headline: 'after',
  defaultSeeds: 8,
  secondsPerUpdate: 0.3,
};
