import { YOUR_ENVIRONMENT } from './environments.ts';
import type { RunConfig } from './fields.ts';
import { TEXT_AGENT_SIZES } from './textAgent.ts';

interface Preset {
  readonly label: string;
  readonly set: Partial<RunConfig>;
}

// What leads to rollouts that are alike and blind to the map, as in RAGEN's Echo Trap but without its fall
// (docs/journal/learning.md). With start and goal in the corners, one path that ignores the map gets far; GRPO, so that groups are all there is to compare.
const STRESS = {
  env: 'frozen-lake',
  ends: 'corners',
  sight: 'name',
  slip: 0,
  maxTurns: 12, // with fewer, some starts never reach the goal by chance
  warmStart: 'none',
  temperature: 2, // at 1 some random weights never win, and then nothing begins
  prompts: 8,
  groupSize: 8,
  minibatches: 2,
  epochs: 6,
  entropyCoef: 0,
  learningRate: 3e-3,
  updates: 60,
} as const satisfies Partial<RunConfig>;

// RAGEN's StarPO and StarPO-S are PPO: a critic of its own, whose credit does not rest on the group.
const CRITIC = { estimator: 'gae', critic: 'separate' } as const satisfies Partial<RunConfig>;
// What StarPO-S adds: learn from the quarter of prompts whose rollouts differ most, clip higher above, no KL. With four times the
// prompts as many rollouts are learned from, in as many equal steps.
const STEADIED = {
  prompts: 4 * STRESS.prompts,
  minibatches: 4 * STRESS.minibatches,
  filter: 'top-fraction',
  filterShare: 0.25,
  clipHigh: 0.28,
} as const satisfies Partial<RunConfig>;
// The environment pays nothing; a labeller who likes effort does, through a reward model.
const JUDGED = {
  env: 'multi-hop',
  maxTurns: 4,
  learningRate: 1e-3,
  entropyCoef: 0.01,
  outcomeReward: 0,
  rewardModel: 'on',
  preferenceReward: 1,
  labellerTaste: 1,
  updates: 60,
} as const satisfies Partial<RunConfig>;
// The arms differ by .15 while what they pay varies by three times as much: many prompts average that out, and the entropy
// bonus keeps an unlucky start from settling (docs/journal/learning.md).
const ARMS = {
  env: 'bandit',
  prompts: 32,
  groupSize: 4,
  divideByStd: 'off',
  entropyCoef: 0.03,
  learningRate: 1e-3,
  warmStart: 'none',
  updates: 60,
} as const satisfies Partial<RunConfig>;
// Each move is paid for the way it makes good; a critic on the policy’s trunk tells the moves of a walk apart.
const WALK = {
  maxTurns: 8,
  processReward: 1,
  estimator: 'gae',
  lambda: 0.9,
  entropyCoef: 0.03,
  warmStart: 'none',
  updates: 60,
} as const satisfies Partial<RunConfig>;
// PPO with a critic, which tells the call that helped from the one that did not.
const SEARCH = {
  maxTurns: 4,
  processReward: 0.2,
  turnCost: 0.05,
  entropyCoef: 0.01,
  estimator: 'gae',
  critic: 'separate',
  learningRate: 1e-3,
  criticLearningRate: 1e-3,
  updates: 80,
} as const satisfies Partial<RunConfig>;

// The text model that is shipped. A rollout is some 150 tokens, so batches are half as large as in words and each is learned from once.
const TEXT = {
  ...TEXT_AGENT_SIZES,
  language: 'text',
  critic: 'none',
  prompts: 8,
  groupSize: 8,
  epochs: 1,
  processReward: 0.5,
  // at twice the rate and without the KL the calculator unlearned the form of a call on one seed of two (docs/journal/learning.md)
  learningRate: 2.5e-4,
  klCoef: 0.02,
  evalEvery: 0,
  evalTasks: 64,
  miEvery: 0,
  updates: 60,
} as const satisfies Partial<RunConfig>;

/** An environment that a person wrote, in words: the agent imitates the environment's own expert first. */
export const WRITTEN_PRESET = {
  label: 'Your environment',
  set: {
    env: YOUR_ENVIRONMENT,
    processReward: 1,
    warmStart: 'train',
    prompts: 32,
    // at three times the rate the agent unlearned what imitation had taught (docs/journal/learning.md)
    learningRate: 3e-4,
    evalTasks: 64,
    updates: 100,
  },
} as const satisfies Preset;

/** An OpenEnv server as the environment, for the text agent that is shipped. There is nobody to imitate. */
export const SERVER_PRESET = {
  label: 'OpenEnv server',
  set: {
    ...TEXT,
    env: YOUR_ENVIRONMENT,
    processReward: 0,
    callReward: 0.2,
    warmStart: 'shipped',
    prompts: 4,
    evalTasks: 32,
  },
} as const satisfies Preset;

/** The knobs with which a run of these knobs trains on a server: another environment, and nobody to imitate. */
export function onServer({ model }: Partial<RunConfig>): Partial<RunConfig> {
  const warmStart = model === 'checkpoint' ? 'none' : 'shipped';
  return { env: YOUR_ENVIRONMENT, language: 'text', warmStart, imitationSteps: 0, demonstrator: 'imperfect' };
}

// A checkpoint that the person opens, with adapters. It calls no tool by itself: it is shown how for some steps, and paid a little
// for each well-formed call.
const ADAPTED = {
  language: 'text',
  model: 'checkpoint',
  critic: 'none',
  prompts: 4,
  groupSize: 4,
  epochs: 1,
  minibatches: 1,
  decodeChunk: 4, // a token of all rows takes a tenth of a second: a pause is not to wait for many
  callReward: 0.1,
  processReward: 0.5,
  entropyCoef: 0,
  // at 5e-4 the first step after imitation has SmolLM2 call until its turns are over (docs/journal/learning.md)
  learningRate: 1e-4,
  weightDecay: 0,
  warmStart: 'train',
  imitationSteps: 30,
  evalEvery: 0,
  evalTasks: 32,
  miEvery: 0,
  updates: 30,
} as const satisfies Partial<RunConfig>;

/** Named points in configuration space; what each shows is in presetDocs.ts. An algorithm is a configuration, not a class. */
export const PRESETS = {
  'number-hunt': {
    label: 'Number hunt · GRPO',
    // at twice the rate two seeds of five lose again, within 150 updates, some of what they had (docs/journal/learning.md)
    set: { learningRate: 1e-3, entropyCoef: 0.02, processReward: 0.5, updates: 160 },
  },
  'multi-hop': {
    label: 'Multi-hop search · PPO',
    set: { ...SEARCH, env: 'multi-hop' },
  },
  'world-facts': {
    label: 'World facts · PPO',
    set: { ...SEARCH, env: 'world-facts', evaluation: 'full' },
  },
  'your-facts': {
    label: 'Your facts · PPO',
    set: { ...SEARCH, env: 'your-facts', evaluation: 'full' },
  },
  'frozen-lake': {
    label: 'FrozenLake · PPO',
    set: { ...WALK, env: 'frozen-lake' },
  },
  sokoban: {
    label: 'Sokoban · PPO',
    set: { ...WALK, env: 'sokoban', turnCost: 0.01, updates: 240 },
  },
  bandit: {
    label: 'Bandit · Dr. GRPO',
    set: ARMS,
  },
  'bandit-reversed': {
    label: 'Bandit, reversed · Dr. GRPO',
    set: { ...ARMS, env: 'bandit-reversed' },
  },
  calculator: {
    label: 'Calculator chain · GRPO',
    set: { env: 'calculator', processReward: 0.5, entropyCoef: 0.01, learningRate: 1e-3, updates: 60 },
  },
  countdown: {
    label: 'Countdown · GRPO',
    set: { env: 'countdown', hops: 1, entropyCoef: 0.01, learningRate: 1e-3, updates: 80 },
  },
  'document-search': {
    label: 'Document search · PPO',
    set: {
      ...SEARCH,
      env: 'document-search',
      maxTurns: 3,
      oneHopShare: 0.5,
      processReward: 0.5,
      turnCost: 0,
      prompts: 32,
      learningRate: 5e-4,
      evaluation: 'full',
      updates: 160,
    },
  },
  'number-hunt-text': {
    label: 'Number hunt in text · REINFORCE',
    // paid for each guess by itself and with nothing taken off: under GRPO the form of a call breaks at rates that move it (docs/journal/learning.md)
    set: {
      ...TEXT,
      env: 'number-hunt',
      estimator: 'reinforce',
      gamma: 0.9,
      outcomeReward: 0,
      processReward: 1,
      invalidPenalty: 0.3,
      entropyCoef: 0,
      klCoef: 0,
      learningRate: 7e-4,
      rateWarmup: 5,
    },
  },
  'calculator-text': {
    label: 'Calculator in text · GRPO',
    set: { ...TEXT, env: 'calculator' },
  },
  'search-text': {
    label: 'Multi-hop search in text · GRPO',
    // slower than this it takes twice the updates
    set: { ...TEXT, env: 'multi-hop', learningRate: 5e-4, klCoef: 0 },
  },
  'smollm2-calculator': {
    label: 'SmolLM2 · calculator',
    set: { ...ADAPTED, env: 'calculator', maxTurns: 4, callReward: 0, updates: 20 }, // imitation alone has it call
  },
  'smollm2-hunt': {
    label: 'SmolLM2 · number hunt',
    set: { ...ADAPTED, env: 'number-hunt', maxTurns: 4 },
  },
  'smollm2-search': {
    label: 'SmolLM2 · search',
    // of two hops nothing was learned in ten updates; paid for calls, or with turns that cost nothing, it looks the same fact up again (docs/journal/learning.md)
    set: {
      ...ADAPTED,
      env: 'multi-hop',
      hops: 1,
      oneHopShare: 1,
      maxTurns: 3,
      callReward: 0,
      turnCost: 0.1,
      updates: 14,
    },
  },
  'number-hunt-ppo': {
    label: 'Number hunt · PPO',
    set: {
      learningRate: 1e-3,
      entropyCoef: 0.02,
      processReward: 0.5,
      updates: 160,
      estimator: 'gae',
      critic: 'shared',
      lambda: 0.95,
    },
  },
  'multi-hop-grpo': {
    label: 'Multi-hop search · GRPO',
    set: {
      env: 'multi-hop',
      maxTurns: 4,
      processReward: 0.5,
      entropyCoef: 0.01,
      learningRate: 1e-3,
      updates: 120,
    },
  },
  'break-it': {
    label: 'Break it · all rollouts alike',
    set: STRESS,
  },
  'break-it-ppo': {
    label: 'Break it with StarPO',
    set: { ...STRESS, ...CRITIC },
  },
  'starpo-s': {
    label: 'Break it with StarPO-S',
    set: { ...STRESS, ...CRITIC, ...STEADIED },
  },
  'grpo-s': {
    label: 'Break it with GRPO, filtered',
    set: { ...STRESS, ...STEADIED },
  },
  rlhf: {
    label: 'Preferences · RLHF with KL',
    set: { ...JUDGED, klCoef: 0.5 },
  },
  'rlhf-hack': {
    label: 'Preferences · reward hacking without KL',
    set: JUDGED,
  },
  'noisy-hunt': {
    label: 'Noisy number hunt · masks',
    set: {
      distractors: 6,
      entropyCoef: 0.02,
      processReward: 0.5,
      estimator: 'gae',
      critic: 'separate',
      lambda: 0.95,
      updates: 100,
    },
  },
} as const satisfies Record<string, Preset>;

export type PresetName = keyof typeof PRESETS;

/** What a run's knobs are compared with: a preset that is offered, or that of an environment that a person wrote. */
export type RunPreset = PresetName | typeof YOUR_ENVIRONMENT;

/** The label and the knobs of a preset. */
export function presetNamed(name: RunPreset): Preset {
  return name === YOUR_ENVIRONMENT ? WRITTEN_PRESET : PRESETS[name];
}
