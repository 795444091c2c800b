import type { Experiment } from './experimentDefinition.ts';

/** An ablation of the two masks, for an algorithm with a critic and for one without. */
export const ablation: Experiment = {
  label: 'Mask ablation',
  question:
    'What changes if the tool’s words count in the loss (loss mask off), or also get an advantage as the agent’s words do (advantage mask off)?',
  doc: 'Number hunt with six filler words in every observation: seven words and two tags that nobody could predict. Where the tool’s words are in the loss, they take a large part of every step. Everything but the masks is equal, including the starting weights of policy and critic.',
  shared: {
    env: 'number-hunt',
    distractors: 6, // an observation of one word would be too short for the masks to matter
    processReward: 0.5,
    entropyCoef: 0.02,
    lambda: 0.95, // at γ = λ = 1 GAE telescopes, and the advantage mask would only change the whitening
    gamma: 1,
    critic: 'separate', // in all arms, so that they begin with the same weights; GRPO doesn't use it
    prompts: 16,
    groupSize: 8,
    epochs: 2,
    minibatches: 2,
    learningRate: 2e-3,
    updates: 60,
    evalEvery: 20,
    evalTasks: 256,
  },
  arms: [
    {
      key: 'ppo-both',
      label: 'PPO, both masks',
      group: 'PPO',
      set: { estimator: 'gae', lossMask: 'on', advantageMask: 'on' },
      published: [0.3719],
    },
    {
      key: 'ppo-no-advantage-mask',
      label: 'PPO, advantage mask off',
      group: 'PPO',
      set: { estimator: 'gae', lossMask: 'on', advantageMask: 'off' },
      comparedWith: 'ppo-both',
      published: [0.3136],
    },
    {
      key: 'ppo-no-masks',
      label: 'PPO, both masks off',
      group: 'PPO',
      set: { estimator: 'gae', lossMask: 'off', advantageMask: 'off' },
      comparedWith: 'ppo-both',
      published: [0.3022],
    },
    {
      key: 'grpo-loss-mask',
      label: 'GRPO, loss mask',
      group: 'GRPO',
      set: { estimator: 'grpo', lossMask: 'on' },
      published: [0.3877],
    },
    {
      key: 'grpo-no-loss-mask',
      // the tool's words still have advantage 0: they only dilute the means, and the entropy bonus acts on them
      label: 'GRPO, loss mask off',
      group: 'GRPO',
      set: { estimator: 'grpo', lossMask: 'off' },
      comparedWith: 'grpo-loss-mask',
    },
    {
      key: 'grpo-no-masks',
      label: 'GRPO, both masks off',
      group: 'GRPO',
      set: { estimator: 'grpo', lossMask: 'off', advantageMask: 'off' },
      comparedWith: 'grpo-loss-mask',
      published: [0.3722],
    },
  ],
  columns: [
    { key: 'before', label: 'All tasks before', measure: { metric: 'eval/success', take: 'first' } },
    { key: 'after', label: 'All tasks after', measure: { metric: 'eval/success', take: 'last' } },
    { key: 'sampled-before', label: 'Sampled before', measure: { metric: 'eval/success_sampled', take: 'first' } },
    { key: 'sampled-after', label: 'Sampled after', measure: { metric: 'eval/success_sampled', take: 'last' } },
    {
      key: 'share',
      label: 'Update spent on the tool’s words',
      measure: { metric: 'mask/observation_share', take: 'mean' },
    },
    { key: 'clipfrac', label: 'Clip fraction', measure: { metric: 'actor/pg_clipfrac', take: 'mean' } },
    { key: 'kl', label: 'KL to old policy', measure: { metric: 'actor/ppo_kl', take: 'mean' }, digits: 4 },
  ],
  headline: 'after',
  published: {
    source: 'Agent-R1, Table 4 (arXiv 2511.14460)',
    model: 'Qwen2.5-3B-Instruct',
    task: 'HotpotQA, 2WikiMultihopQA and MuSiQue, mean exact match, one seed',
    columns: ['Mean exact match'],
  },
  defaultSeeds: 8,
  secondsPerUpdate: 0.3,
};
