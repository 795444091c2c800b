import type { RunConfig } from './fields.ts';

interface Preset {
  readonly label: string;
  readonly doc: string;
  readonly set: Partial<RunConfig>;
}

// What leads into the Echo Trap (JOURNAL.md; on one seed of five random play never wins and nothing begins). With start and goal in the corners, one
// path that ignores the map gets far; GRPO, so that groups are all there is to compare.
const STRESS = {
  env: 'frozen-lake',
  ends: 'corners',
  sight: 'name',
  slip: 0,
  maxTurns: 12, // with fewer, some starts never reach the goal by chance
  warmStart: 'none',
  prompts: 8,
  groupSize: 8,
  minibatches: 2,
  epochs: 6,
  entropyCoef: 0,
  learningRate: 3e-3,
  updates: 60,
} as const satisfies Partial<RunConfig>;

// The arms differ by .15 while what they pay varies by three times as much: many prompts average that out, and the entropy
// bonus keeps an unlucky start from settling (JOURNAL.md).
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
// A start for what is not tuned yet; no weights are shipped for it.
const UNTUNED = {
  processReward: 0.5,
  learningRate: 1e-3,
  entropyCoef: 0.01,
  warmStart: 'train',
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

/** Named points in configuration space. An algorithm is a setting, not a class. */
export const PRESETS = {
  'number-hunt': {
    label: 'Number hunt · GRPO',
    doc: 'Find a hidden number with a compare tool, in four calls. The quickest thing to watch.',
    set: { entropyCoef: 0.02, processReward: 0.5, updates: 160 },
  },
  'multi-hop': {
    label: 'Multi-hop search · PPO',
    doc: 'Answer “r2 of r1 of e” over a random graph by searching twice. A critic gives each token its credit.',
    set: { ...SEARCH, env: 'multi-hop' },
  },
  'world-facts': {
    label: 'World facts · PPO',
    doc: 'Multi-hop questions about real countries, over names drawn anew for each task. Evaluated on questions, countries and lengths it never trained on.',
    set: { ...SEARCH, env: 'world-facts', evaluation: 'full' },
  },
  'your-facts': {
    label: 'Your facts · PPO',
    doc: 'The same over a CSV file of subject, relation, object that you bring. It stays on this machine.',
    set: { ...SEARCH, env: 'your-facts', evaluation: 'full' },
  },
  'frozen-lake': {
    label: 'FrozenLake · PPO',
    doc: 'From random weights: walk over a random lake to the goal; one move in five slips to the side, which leaves the best walker at .86.',
    set: { ...WALK, env: 'frozen-lake' },
  },
  sokoban: {
    label: 'Sokoban · PPO (not tuned)',
    doc: 'Push one box onto its target, in a room of six by six with its walls; each move costs a hundredth.',
    set: { ...WALK, env: 'sokoban', turnCost: 0.01, warmStart: 'train', updates: 100 },
  },
  bandit: {
    label: 'Bandit · Dr. GRPO',
    doc: 'A safe arm that pays .1 or a risky one worth .25, from random weights. Switch “Divide by std” on and it settles for the safe one: three groups in four see the risky one pay nothing, and dividing makes their small loss as loud as the rare win.',
    set: ARMS,
  },
  'bandit-reversed': {
    label: 'Bandit, reversed · Dr. GRPO',
    doc: 'The same names with what they pay turned round: the risky arm is the one that sounds safe.',
    set: { ...ARMS, env: 'bandit-reversed' },
  },
  calculator: {
    label: 'Calculator chain · GRPO (not tuned)',
    doc: 'Work out two operations on numbers of two digits, one call of the calculator each. The warm start can, but answers with the first result.',
    set: { env: 'calculator', processReward: 0.5, entropyCoef: 0.01, learningRate: 1e-3, updates: 60 },
  },
  countdown: {
    label: 'Countdown · GRPO (not tuned)',
    doc: 'Make a target out of two numbers in one turn; the right numbers with the wrong result earn a tenth.',
    set: { env: 'countdown', hops: 1, entropyCoef: 0.01, learningRate: 1e-3, updates: 80 },
  },
  'document-search': {
    label: 'Document search · GRPO (not tuned)',
    doc: 'Answer questions over real sentences with a BM25 index: find one passage or two, and copy the answer.',
    set: { ...UNTUNED, env: 'document-search', maxTurns: 3, oneHopShare: 0.5, updates: 120 },
  },
  'number-hunt-ppo': {
    label: 'Number hunt · PPO',
    doc: 'The same hunt with a value head on the policy’s trunk and token-level credit.',
    set: { entropyCoef: 0.02, processReward: 0.5, updates: 160, estimator: 'gae', critic: 'shared', lambda: 0.95 },
  },
  'multi-hop-grpo': {
    label: 'Multi-hop search · GRPO',
    doc: 'The same search without a critic: one score for a whole rollout, compared within its group.',
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
    label: 'Break it · Echo Trap',
    doc: 'Few prompts, stale updates, no entropy bonus: success rises, until every rollout takes the same path whatever the map says; then there is nothing left to compare, and nothing is learned any more.',
    set: STRESS,
  },
  'starpo-s': {
    label: 'StarPO-S under the same stress',
    doc: 'The same start and the same number of equal steps, but four times the prompts are rolled out and only the quarter learned from whose rollouts differ most, with the upper clip at 0.28 and no KL.',
    set: { ...STRESS, prompts: 32, minibatches: 8, filter: 'top-fraction', filterShare: 0.25, clipHigh: 0.28 },
  },
  rlhf: {
    label: 'Preferences · RLHF for contrast',
    doc: 'The environment pays nothing: a reward model fitted to a labeller who likes effort does. Its score goes up, the agent searches as often as it can, and solves no more.',
    set: {
      env: 'multi-hop',
      maxTurns: 4,
      learningRate: 1e-3,
      entropyCoef: 0.01,
      outcomeReward: 0,
      rewardModel: 'on',
      preferenceReward: 1,
      labellerTaste: 1,
      updates: 60,
    },
  },
  'noisy-hunt': {
    label: 'Noisy number hunt · masks',
    doc: 'The tool wraps its word in six random ones, so that it shows what grading the tool’s text costs: switch the loss mask off.',
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
