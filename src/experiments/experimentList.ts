import type { Experiment, Arm, RunArm } from './experimentDefinition.ts';
import { PRESETS, type PresetName } from '../config/presets.ts';
import { DEFAULTS, type RunConfig } from '../config/fields.ts';
import { totalOptimizerSteps } from '../config/imitationRecipe.ts';
import { imitation, observations, rows, staleness, surrogates, turnCredit } from './tunedStudies.ts';
import { ALGORITHMS, type AlgorithmName } from '../config/algorithms.ts';

/** An ablation of the two masks, for an algorithm with a critic and for one without. */
const ablation: Experiment = {
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

const algorithmArm = (key: AlgorithmName, published: readonly [number, number]): RunArm => ({
  key,
  label: ALGORITHMS[key].label,
  group: 'Trained to search',
  set: ALGORITHMS[key].set,
  published,
  ...(key === PLAIN_GRPO ? {} : { comparedWith: PLAIN_GRPO }),
});
const PLAIN_GRPO = 'grpo';
// The shipped weights imitate an agent that calls its tool. An arm without the tool imitates a player that only reads, for as many steps.
const ragArm = (retriever: 'first' | 'question', label: string): RunArm => ({
  key: `rag-${retriever}`,
  label,
  group: 'Trained to read',
  set: { ...ALGORITHMS[PLAIN_GRPO].set, retriever, warmStart: 'train' },
  comparedWith: PLAIN_GRPO,
});

/** With the same starting weights and tasks, compared with the untrained weights and with a single retrieval in the prompt. */
const algorithms: Experiment = {
  label: 'Algorithms',
  question:
    'Does an agent with a tool get better by RL? Is it better than an agent without the tool that is given one search result in its prompt? Which algorithm is best?',
  doc: 'The multi-hop preset, without its cost of a call, under five algorithms, each with its own published constants and nothing tuned. “Base tool call” is the warm start. “Naive RAG, not trained” is the warm start with the first fact in its prompt, asked to answer. Both numbers come from the first evaluation of the GRPO runs, because equal seeds have equal weights before update 1. “Naive RAG, trained” has its facts in the prompt in training too. It imitates and is reinforced for as long, but cannot look anything up. With one fact it can solve at most the share of one-hop questions. The three facts most like the question are what a retriever over words would find.',
  shared: {
    ...PRESETS['multi-hop'].set,
    // 0, because GRPO divides by the group's spread and would then learn from a turn cost not to call the tool (docs/journal/learning.md)
    turnCost: 0,
    critic: 'separate', // in all arms, so that they begin with the same weights; only some algorithms use it
    updates: 60,
    evalEvery: 20,
    evalTasks: 256,
    evaluation: 'full',
  },
  arms: [
    {
      key: 'base',
      label: 'Base tool call',
      group: 'Not trained',
      borrowedFrom: PLAIN_GRPO,
      cells: {
        success: { metric: 'eval/success', take: 'first' },
        sampled: { metric: 'eval/success_sampled', take: 'first' },
        shifted: { metric: 'eval/success_shifted', take: 'first' },
      },
      published: [0.0847, 0.0277],
    },
    {
      key: 'naive-rag',
      label: 'Naive RAG',
      group: 'Not trained',
      borrowedFrom: PLAIN_GRPO,
      cells: { success: { metric: 'eval/naive_rag', take: 'first' } },
      published: [0.1328, 0.0277],
    },
    ragArm('first', 'Naive RAG, trained: the first fact'),
    ragArm('question', 'Naive RAG, trained: facts like the question'),
    algorithmArm('reinforce++', [0.33, 0.1336]),
    algorithmArm('reinforce++-baseline', [0.3619, 0.1485]),
    algorithmArm('rloo', [0.3716, 0.1419]),
    algorithmArm('ppo', [0.3719, 0.1552]),
    algorithmArm('grpo', [0.3877, 0.1485]),
  ],
  columns: [
    { key: 'success', label: 'In domain', measure: { metric: 'eval/success', take: 'last' } },
    { key: 'sampled', label: 'In domain, sampled', measure: { metric: 'eval/success_sampled', take: 'last' } },
    { key: 'shifted', label: 'Out of domain', measure: { metric: 'eval/success_shifted', take: 'last' } },
    { key: 'calls', label: 'Tool calls', measure: { metric: 'tool_call_counts/mean', take: 'last' }, digits: 2 },
  ],
  headline: 'success',
  published: {
    source: 'Agent-R1, Table 3 (arXiv 2511.14460)',
    model: 'Qwen2.5-3B-Instruct',
    task: 'HotpotQA, 2WikiMultihopQA and MuSiQue; exact match, one seed',
    columns: ['Mean of the three', 'MuSiQue, out of domain'],
  },
  defaultSeeds: 8,
  secondsPerUpdate: 0.3,
};

const ROLLOUTS = 128; // in each batch, for every group size
const EIGHT_RESPONSES = 'responses-8';

const responsesArm = (groupSize: number, published: readonly number[]): Arm => ({
  key: `responses-${groupSize}`,
  label: `${groupSize} responses × ${ROLLOUTS / groupSize} prompts`,
  group: 'Responses per prompt',
  set: { groupSize, prompts: ROLLOUTS / groupSize },
  published,
  ...(groupSize === 8 ? {} : { comparedWith: EIGHT_RESPONSES }),
});
const turnsArm = (maxTurns: number): Arm => ({
  key: `turns-${maxTurns}`,
  label: `${maxTurns} turns`,
  group: 'Turns',
  ...(maxTurns === 4 ? { borrowedFrom: EIGHT_RESPONSES } : { set: { maxTurns }, comparedWith: EIGHT_RESPONSES }),
});
const epochsArm = (epochs: number): Arm => ({
  key: `passes-${epochs}`,
  label: `${epochs} ${epochs === 1 ? 'epoch' : 'epochs'}`,
  group: 'Epochs on each batch',
  ...(epochs === 2 ? { borrowedFrom: EIGHT_RESPONSES } : { set: { epochs }, comparedWith: EIGHT_RESPONSES }),
});

/** The group size in a batch of 128 rollouts, the turns of a rollout, and the epochs on each batch. */
const rolloutShaping: Experiment = {
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
    ...[2, 3, 4, 6].map(turnsArm),
    ...[1, 2, 5, 10].map(epochsArm),
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

/** The presets for which the docs or the page claim that the agent learns. */
const CLAIMED_PRESETS = [
  'number-hunt',
  'multi-hop',
  'world-facts',
  'document-search',
  'calculator',
  'countdown',
  'frozen-lake',
  'sokoban',
  'bandit',
  'bandit-reversed',
] as const satisfies readonly PresetName[];

/** RL, and for comparison imitation of the same player or of the expert, with as many optimizer steps. */
function armsOfPreset(name: (typeof CLAIMED_PRESETS)[number]): readonly Arm[] {
  const { label, set }: { readonly label: string; readonly set: Partial<RunConfig> } = PRESETS[name];
  const group = label;
  // a run has at least one update; its learning rates are 0, so that nothing is learned in it
  const imitation = { ...set, warmStart: 'train', imitationSteps: totalOptimizerSteps({ ...DEFAULTS, ...set }), updates: 1, learningRate: 0, criticLearningRate: 0 } as const; // prettier-ignore
  return [
    { key: name, label: 'RL', group, set, comparedWith: `${name}-imitation` },
    { key: `${name}-imitation`, label: 'Imitation alone: imperfect player', group, set: imitation },
    { key: `${name}-expert`, label: 'Imitation alone: expert', group, set: { ...imitation, demonstrator: 'expert' } },
  ];
}

/** Measures how much every preset learns, compared with cheaper methods. */
const learning: Experiment = {
  label: 'What it learns',
  question: 'How much does each preset learn, and would imitation, a simple rule or chance have done as well?',
  doc: 'Each preset is trained with its own settings. “RL” first copies the imperfect player, which makes mistakes on purpose, then learns with RL. “Imitation alone” only copies a player, for as many optimizer steps as a whole run with RL. Before and After are success before and after RL, always with the likeliest word; in “words sampled” each word is drawn. “Before, with a search result” gets one search result in the prompt and no tool. Shipped starting weights are the same for every seed; tasks, their order and random draws differ.',
  besides: 'imitation',
  shared: { evalEvery: 20, evalTasks: 256 },
  arms: CLAIMED_PRESETS.flatMap(armsOfPreset),
  columns: [
    { key: 'before', label: 'Before', measure: { metric: 'eval/success', take: 'first' } },
    { key: 'after', label: 'After', measure: { metric: 'eval/success', take: 'last' } },
    { key: 'sampled', label: 'After, words sampled', measure: { metric: 'eval/success_sampled', take: 'last' } },
    { key: 'tasks', label: 'Evaluated tasks', measure: { metric: 'eval/tasks', take: 'first' }, digits: 0 },
    { key: 'rule', label: 'Simple rule', measure: { metric: 'baseline/rule', take: 'first' } },
    { key: 'rag', label: 'Before, with a search result', measure: { metric: 'eval/naive_rag', take: 'first' } },
    { key: 'chance', label: 'Chance', measure: { metric: 'baseline/random', take: 'first' } },
    { key: 'expert', label: 'Scripted expert', measure: { metric: 'baseline/expert', take: 'first' } },
  ],
  headline: 'after',
  defaultSeeds: 8,
  secondsPerUpdate: 0.3,
};

/** With and without a KL penalty that keeps the policy near the rollouts that the reward model was trained on. */
const preferences: Experiment = {
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

/** A preset that collapses, the same settings with StarPO-S, and a healthy run to compare with. */
const echoTrap: Experiment = {
  label: 'Echo Trap',
  question:
    'In FrozenLake, when does the agent take the same path on every map? Does the lab warn of it, and does the method StarPO-S prevent it?',
  doc: 'The preset “Break it” with GRPO, and with PPO and a critic (RAGEN’s StarPO). Both run with and without the filter and the clip of StarPO-S. A filtered run takes as many steps of the same size, but plays four times as many rollouts. A column counts them.',
  shared: { updates: 60, evalEvery: 10, evalTasks: 256 },
  arms: [
    { key: 'break-it', label: 'GRPO: break it', set: PRESETS['break-it'].set },
    { key: 'grpo-s', label: 'GRPO, filtered', set: PRESETS['grpo-s'].set, comparedWith: 'break-it' },
    { key: 'break-it-ppo', label: 'PPO: StarPO', set: PRESETS['break-it-ppo'].set },
    { key: 'starpo-s', label: 'PPO, filtered: StarPO-S', set: PRESETS['starpo-s'].set, comparedWith: 'break-it-ppo' },
    { key: 'default', label: 'Default', set: PRESETS['number-hunt'].set },
  ],
  columns: [
    { key: 'first', label: 'Solved, first', measure: { metric: 'eval/success', take: 'first' } },
    { key: 'best', label: 'Solved, best', measure: { metric: 'eval/success', take: 'best' } },
    { key: 'last', label: 'Solved, last', measure: { metric: 'eval/success', take: 'last' } },
    { key: 'trap', label: 'Monitor said TRAP at update', measure: 'trap', digits: 0, emptyText: 'never' },
    { key: 'spread', label: 'Reward spread, last', measure: { metric: 'rollout/in_group_reward_std', take: 'last' } },
    { key: 'entropy', label: 'Entropy, last', measure: { metric: 'actor/entropy', take: 'last' } },
    { key: 'rollouts', label: 'Rollouts played', measure: 'rollouts', digits: 0 },
  ],
  headline: 'last',
  defaultSeeds: 8,
  secondsPerUpdate: 0.3,
};

/** All experiments, by their names on the command line and in the address. */
export const EXPERIMENTS = {
  learning,
  ablation,
  algorithms,
  'echo-trap': echoTrap,
  preferences,
  'rollout-shaping': rolloutShaping,
  rows,
  observations,
  staleness,
  surrogates,
  'turn-credit': turnCredit,
  imitation,
} as const satisfies Readonly<Record<string, Experiment>>;

export type ExperimentName = keyof typeof EXPERIMENTS;
export const EXPERIMENT_NAMES = Object.keys(EXPERIMENTS) as readonly ExperimentName[];

/** Their results are public/experiments/NAME.jsonl, shown before the user has run anything. */
export const SHIPPED_EXPERIMENTS = EXPERIMENT_NAMES.filter((name) => name !== 'rollout-shaping');

export function isExperiment(name: string): name is ExperimentName {
  return Object.hasOwn(EXPERIMENTS, name);
}
