import { PRESETS } from '../config/presets.ts';
import type { Arm, Experiment } from './experimentDefinition.ts';

const ROLLOUTS = 128; // in each batch, for every group size
const REFERENCE = 'responses-8';

const responsesArm = (groupSize: number, published: readonly number[]): Arm => ({
  key: `responses-${groupSize}`,
  label: `${groupSize} responses × ${ROLLOUTS / groupSize} prompts`,
  group: 'Responses per prompt',
  set: { groupSize, prompts: ROLLOUTS / groupSize },
  published,
  ...(groupSize === 8 ? {} : { comparedWith: REFERENCE }),
});
const turnsArm = (maxTurns: number): Arm => ({
  key: `turns-${maxTurns}`,
  label: `${maxTurns} turns`,
  group: 'Turns',
  ...(maxTurns === 4 ? { borrowedFrom: REFERENCE } : { set: { maxTurns }, comparedWith: REFERENCE }),
});
const epochsArm = (epochs: number): Arm => ({
  key: `passes-${epochs}`,
  label: `${epochs} ${epochs === 1 ? 'epoch' : 'epochs'}`,
  group: 'Epochs on each batch',
  ...(epochs === 2 ? { borrowedFrom: REFERENCE } : { set: { epochs }, comparedWith: REFERENCE }),
});

/**
 * Sweeps of three knobs: the group size in a batch of 128 rollouts, the turns of a rollout, and the epochs on each
 * batch.
 */
export const rolloutShaping: Experiment = {
  label: 'Group size, turns, epochs',
  question: 'How many rollouts per prompt, how many turns and how many epochs on a batch work best?',
  doc: 'Number hunt under GRPO at twice the preset’s learning rate, changing one knob at a time. The three sweeps share the arm with 8 responses, 4 turns and 2 epochs, which is run once. Groups of one have nothing to compare, so they are left out. More turns make the task itself easier. An epoch is two optimizer steps.',
  shared: {
    ...PRESETS['number-hunt'].set,
    learningRate: 2e-3, // higher than the preset's, so that 60 updates show more
    estimator: 'grpo',
    critic: 'none',
    prompts: 16,
    groupSize: 8,
    maxTurns: 4,
    epochs: 2,
    minibatches: 2,
    updates: 60,
    evalEvery: 20,
    evalTasks: 256,
  },
  arms: [
    responsesArm(32, [21.09, 20.22, 17.97]),
    responsesArm(16, [20.31, 21.48, 19.53]),
    responsesArm(8, [20.31, 19.53, 17.19]),
    responsesArm(4, [20.7, 25.39, 21.48]),
    responsesArm(2, [19.92, 25, 12.5]),
    turnsArm(2),
    turnsArm(3),
    turnsArm(4),
    turnsArm(6),
    epochsArm(1),
    epochsArm(2),
    epochsArm(5),
    epochsArm(10),
  ],
  columns: [
    { key: 'before', label: 'All tasks before', measure: { metric: 'eval/success', take: 'first' } },
    { key: 'after', label: 'All tasks after', measure: { metric: 'eval/success', take: 'last' } },
    { key: 'sampled-after', label: 'Sampled after', measure: { metric: 'eval/success_sampled', take: 'last' } },
    {
      key: 'spread',
      label: 'Reward spread in group',
      measure: { metric: 'rollout/in_group_reward_std', take: 'mean' },
    },
    { key: 'flat', label: 'Flat groups', measure: { metric: 'rollout/zero_std_groups', take: 'mean' } },
    { key: 'kl', label: 'KL to old policy', measure: { metric: 'actor/ppo_kl', take: 'mean' }, digits: 4 },
  ],
  headline: 'after',
  published: {
    source: 'RAGEN (arXiv 2504.20073)',
    model: 'Qwen2.5-0.5B-Instruct',
    task: 'trained on Sokoban 6×6, success in per cent',
    columns: ['Sokoban', 'Sokoban, new vocabulary', 'FrozenLake'],
    note: 'Its sweep of actions per turn and its findings on stale batches are of other quantities than ours.',
  },
  defaultSeeds: 3,
  secondsPerUpdate: 0.3,
};
