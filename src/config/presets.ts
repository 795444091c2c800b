import { YOUR_ENVIRONMENT } from './environments.ts';
import type { RunConfig } from './fields.ts';
import { TEXT_AGENT_SIZES } from './textAgent.ts';

interface Preset {
  readonly label: string;
  readonly set: Partial<RunConfig>;
  /** How its file in `public/recordings` was made. Absent: with the preset's own settings, all updates. */
  readonly recording?: RecordingPlan;
}

/** How a preset is recorded by `npm run record`, on the CPU and with seed 7. */
interface RecordingPlan {
  readonly updates?: number; // number of recorded updates, if fewer than the preset sets
  readonly facts?: string; // a shipped file of facts, in place of a person's own
  readonly checkpointName?: string; // name of the checkpoint that the run trained adapters for, as shown in sentences
}

// Settings under which all rollouts become alike and ignore the map, as in RAGEN's Echo Trap. Unlike in RAGEN, the
// reward doesn't first rise and then fall for good (docs/journal/learning.md). Start and goal are in the corners, so
// one path that ignores the map often reaches the goal. The algorithm is GRPO: its advantages come only from
// differences within a group, and alike rollouts have none.
const STRESS = {
  env: 'frozen-lake',
  ends: 'corners',
  sight: 'name',
  slip: 0,
  maxTurns: 12, // with fewer, some starts never reach the goal by chance
  warmStart: 'none',
  // at temperature 1, agents with some random weights never solve a task, so there is no reward to learn from
  temperature: 2,
  prompts: 8,
  groupSize: 8,
  minibatches: 2,
  epochs: 6,
  entropyCoef: 0,
  learningRate: 3e-3,
  updates: 60,
} as const satisfies Partial<RunConfig>;

// RAGEN's StarPO and StarPO-S are forms of PPO. They have a separate critic, so their advantages don't depend on the group.
const CRITIC = { estimator: 'gae', critic: 'separate' } as const satisfies Partial<RunConfig>;
// StarPO-S learns only from the quarter of prompts whose rollouts differ most, has a higher upper clip bound, and no
// KL. Here it plays four times as many prompts, so that it learns from as many rollouts as without the filter, in as
// many optimizer steps of the same size.
const STARPO_S = {
  prompts: 4 * STRESS.prompts,
  minibatches: 4 * STRESS.minibatches,
  filter: 'top-fraction',
  filterShare: 0.25,
  clipHigh: 0.28,
} as const satisfies Partial<RunConfig>;
// The environment pays no reward. All reward comes from a reward model. It learns from a labeller who values a tool
// call as much as a right answer.
const PREFERENCES = {
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
// The two arms (slot machines) of the bandit differ by .15 in mean reward, but a single reward varies about three times
// as much. Many prompts average this noise out. The entropy bonus keeps the agent from settling on the wrong arm after
// unlucky first rewards (docs/journal/learning.md).
const BANDIT = {
  env: 'bandit',
  prompts: 32,
  groupSize: 4,
  divideByStd: 'off',
  entropyCoef: 0.03,
  learningRate: 1e-3,
  warmStart: 'none',
  updates: 60,
} as const satisfies Partial<RunConfig>;
// The process reward pays each move for how much nearer it comes to solving the task. A critic, which shares the
// policy's layers, tells good moves of a walk from bad ones.
const WALK = {
  maxTurns: 8,
  processReward: 1,
  estimator: 'gae',
  lambda: 0.9,
  entropyCoef: 0.03,
  warmStart: 'none',
  updates: 60,
} as const satisfies Partial<RunConfig>;
// PPO with a critic, which distinguishes a call that helped from one that didn't.
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

// The shipped text model. A rollout has about 150 tokens, so a batch has half as many rollouts as with `language=words`, and one epoch.
const TEXT = {
  ...TEXT_AGENT_SIZES,
  language: 'text',
  critic: 'none',
  prompts: 8,
  groupSize: 8,
  epochs: 1,
  processReward: 0.5,
  // at twice this rate and without KL, the calculator agent unlearned how to write a call on one seed of two (docs/journal/learning.md)
  learningRate: 2.5e-4,
  klCoef: 0.02,
  evalEvery: 0,
  evalTasks: 64,
  miEvery: 0,
  updates: 60,
} as const satisfies Partial<RunConfig>;

/** An environment that a person wrote, in words: the agent imitates the environment's own expert first. */
export const YOUR_ENVIRONMENT_PRESET = {
  label: 'Your environment',
  set: {
    env: YOUR_ENVIRONMENT,
    processReward: 1,
    warmStart: 'train',
    prompts: 32,
    // at three times this rate the agent unlearned what it had learned by imitation (docs/journal/learning.md)
    learningRate: 3e-4,
    evalTasks: 64,
    updates: 100,
  },
} as const satisfies Preset;

/** An OpenEnv server as the environment, for the shipped text agent. There is no player to imitate. */
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

/** The environment is the server, and there is no player to imitate. */
export function serverKnobs({ model }: Partial<RunConfig>): Partial<RunConfig> {
  const warmStart = model === 'checkpoint' ? 'none' : 'shipped';
  return {
    ...{ env: YOUR_ENVIRONMENT, language: 'text', warmStart },
    ...{ imitationSteps: 0, imitationHorizon: 0, demonstrator: 'imperfect' },
  };
}

/** The checkpoint with which the presets that train adapters were recorded. */
const SMOLLM2 = 'SmolLM2-135M-Instruct';

// A checkpoint that the person opens, with LoRA adapters. Without training it calls no tool. So it first imitates calls
// for some steps, and later gets a small reward for each well-formed call.
const ADAPTERS = {
  language: 'text',
  model: 'checkpoint',
  critic: 'none',
  prompts: 4,
  groupSize: 4,
  epochs: 1,
  minibatches: 1,
  // small, because a pause waits for the end of a chunk, and one token for all rows takes a tenth of a second
  decodeChunk: 4,
  callReward: 0.1,
  processReward: 0.5,
  entropyCoef: 0,
  // at 5e-4, after the first RL step SmolLM2 only calls the tool, until it has no turns left (docs/journal/learning.md)
  learningRate: 1e-4,
  weightDecay: 0,
  warmStart: 'train',
  imitationSteps: 30,
  evalEvery: 0,
  evalTasks: 32,
  miEvery: 0,
  updates: 30,
} as const satisfies Partial<RunConfig>;

/** The knobs to train adapters on a person's own environment: a class, or a server, which has no player to imitate. */
export const adapterKnobsFor = (environment: 'class' | 'server'): Partial<RunConfig> => ({
  ...ADAPTERS,
  ...(environment === 'server' ? serverKnobs(ADAPTERS) : { env: YOUR_ENVIRONMENT }),
});

/** Named sets of knob values. presetCards.ts says what each one shows. An algorithm is a set of knob values too, not a class. */
export const PRESETS = {
  'number-hunt': {
    label: 'Number hunt · GRPO',
    // at twice this rate, two seeds of five got worse again within 150 updates (docs/journal/learning.md)
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
    recording: { facts: 'worlds/sample.csv' },
    set: { ...SEARCH, env: 'your-facts', evaluation: 'full' },
  },
  'frozen-lake': {
    label: 'FrozenLake · PPO',
    set: { ...WALK, env: 'frozen-lake' },
  },
  sokoban: {
    label: 'Sokoban · PPO',
    recording: { updates: 60 },
    set: { ...WALK, env: 'sokoban', turnCost: 0.01, updates: 240 },
  },
  bandit: {
    label: 'Bandit · Dr. GRPO',
    set: BANDIT,
  },
  'bandit-reversed': {
    label: 'Bandit, reversed · Dr. GRPO',
    set: { ...BANDIT, env: 'bandit-reversed' },
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
    recording: { updates: 40 },
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
    recording: { updates: 30 },
    // Each guess is paid by itself, and no baseline is subtracted. With GRPO, every learning rate that was high enough
    // to learn also broke the form of the calls (docs/journal/learning.md).
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
    recording: { updates: 30 },
    set: { ...TEXT, env: 'calculator' },
  },
  'search-text': {
    label: 'Multi-hop search in text · GRPO',
    recording: { updates: 60 },
    // at a lower rate it takes twice as many updates
    set: { ...TEXT, env: 'multi-hop', learningRate: 5e-4, klCoef: 0 },
  },
  'smollm2-calculator': {
    label: 'SmolLM2 · calculator',
    recording: { checkpointName: SMOLLM2, updates: 10 },
    // no reward for calls: after imitation it calls the tool anyway
    set: { ...ADAPTERS, env: 'calculator', maxTurns: 4, callReward: 0, updates: 20 },
  },
  'smollm2-hunt': {
    label: 'SmolLM2 · number hunt',
    recording: { checkpointName: SMOLLM2, updates: 4 },
    set: { ...ADAPTERS, env: 'number-hunt', maxTurns: 4 },
  },
  'smollm2-search': {
    label: 'SmolLM2 · search',
    recording: { checkpointName: SMOLLM2 },
    // One hop, because on two hops it learned nothing in eleven updates. If calls are paid, or turns cost nothing, it
    // looks up the same fact again and again (docs/journal/learning.md).
    set: {
      ...ADAPTERS,
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
    label: 'Break it, StarPO',
    set: { ...STRESS, ...CRITIC },
  },
  'starpo-s': {
    label: 'Break it, StarPO-S',
    set: { ...STRESS, ...CRITIC, ...STARPO_S },
  },
  'grpo-s': {
    label: 'Break it with GRPO, filtered',
    set: { ...STRESS, ...STARPO_S },
  },
  rlhf: {
    label: 'Preferences · RLHF with KL',
    recording: { updates: 20 },
    set: { ...PREFERENCES, klCoef: 0.5 },
  },
  'rlhf-hack': {
    label: 'Preferences · reward hacking without KL',
    recording: { updates: 20 },
    set: PREFERENCES,
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

/** One of PRESETS, or the preset for an environment that a person wrote. */
export type RunPreset = PresetName | typeof YOUR_ENVIRONMENT;

export function presetNamed(name: RunPreset): Preset {
  return name === YOUR_ENVIRONMENT ? YOUR_ENVIRONMENT_PRESET : PRESETS[name];
}
