import { ALGORITHMS } from '../config/algorithms.ts';
import { imitatedRows } from '../config/imitationRecipe.ts';
import { PRESETS, type PresetName } from '../config/presets.ts';
import { DEFAULTS, type RunConfig } from '../config/fields.ts';
import type { Column, Experiment, RunArm } from './experimentDefinition.ts';

/** Tasks that ask for different things: number hunt needs all earlier answers, each hop only the last one, and walks on a lake meet again. */
const TASKS = {
  hunt: { label: 'Number hunt', set: { ...PRESETS['number-hunt'].set, updates: 40 } },
  hops: { label: 'Multi-hop search', set: { ...PRESETS['multi-hop-grpo'].set, updates: 40 } },
  lake: {
    label: 'FrozenLake',
    set: { ...PRESETS['frozen-lake'].set, critic: 'none', estimator: 'grpo', updates: 40 },
  },
} as const satisfies Readonly<Record<string, { readonly label: string; readonly set: Partial<RunConfig> }>>;

/** What is varied in each task. `than` is the variant that it is compared with. */
interface Variant {
  readonly key: string;
  readonly label: string;
  readonly set: Partial<RunConfig>;
  readonly than?: string;
}

/**
 * The learning rate of an arm: the one of 3e-4, 1e-3 and 3e-3 with the highest mean headline on seeds 101 and 102. By task,
 * and by `TASK-VARIANT` where it's another one than the task's.
 */
type Rates = Readonly<Record<string, number>>;
const rateOf = (rates: Rates, task: string, variant: string) => rates[`${task}-${variant}`] ?? rates[task]!;

function armsOf(tasks: readonly (keyof typeof TASKS)[], variants: readonly Variant[], rates: Rates): RunArm[] {
  return tasks.flatMap((task) =>
    variants.map(({ key, label, set, than }) => ({
      key: `${task}-${key}`,
      label,
      group: TASKS[task].label,
      set: { ...TASKS[task].set, ...set, learningRate: rateOf(rates, task, key) },
      ...(than === undefined ? {} : { comparedWith: `${task}-${than}` }),
    })),
  );
}

const COLUMNS: readonly Column[] = [
  { key: 'before', label: 'Before, words sampled', measure: { metric: 'eval/success_sampled', take: 'first' } },
  { key: 'sampled', label: 'After, words sampled', measure: { metric: 'eval/success_sampled', take: 'last' } },
  { key: 'after', label: 'After', measure: { metric: 'eval/success', take: 'last' } },
];
const TUNED =
  'Each arm has its own learning rate: of .0003, .001 and .003 the one that ended highest on seeds 101 and 102, which are not in the table. Two seeds often choose badly, so a difference between arms of different rates is one of both.';
const COMMON = {
  shared: { backend: 'cpu', evalEvery: 20, evalTasks: 256 },
  headline: 'sampled',
  defaultSeeds: 8,
  secondsPerUpdate: 0.1,
} as const satisfies Partial<Experiment>;

const FORGETS = { rows: 'turn', shown: 'last-turns' } as const;
const CRITIC = { critic: 'separate', lambda: 0.95 } as const;

/** One row of training for an episode, or one for each turn, with all or some of the earlier turns shown. */
export const rows: Experiment = {
  ...COMMON,
  label: 'Rows',
  question:
    'Does it matter whether an episode or a turn is a row of training, and how many earlier turns the agent is shown?',
  doc: `Every arm first imitates the imperfect player under its own view, from random weights. With a row for each turn and all turns shown, the agent reads what it reads in a whole episode. In number hunt the agent has to remember every answer so far; a hop of a search needs only the last. The last two arms have a critic; “turns as actions” is GAE over turns. ${TUNED}`,
  arms: armsOf(
    ['hunt', 'hops'],
    [
      { key: 'episode', label: 'Whole episodes', set: { warmStart: 'train' } },
      { key: 'turn', label: 'Turns, all shown', set: { warmStart: 'train', rows: 'turn' }, than: 'episode' },
      { key: 'last-2', label: 'Turns, the last 2 shown', set: { warmStart: 'train', ...FORGETS, shownTurns: 2 }, than: 'episode' }, // prettier-ignore
      { key: 'last-1', label: 'Turns, the last shown', set: { warmStart: 'train', ...FORGETS, shownTurns: 1 }, than: 'episode' }, // prettier-ignore
      { key: 'episode-gae', label: 'Whole episodes, GAE over tokens', set: { warmStart: 'train', ...CRITIC, estimator: 'gae' } }, // prettier-ignore
      { key: 'turn-gae', label: 'Turns as actions, GAE over turns', set: { warmStart: 'train', ...CRITIC, estimator: 'turn-gae', rows: 'turn' }, than: 'episode-gae' }, // prettier-ignore
    ],
    { hunt: 0.003, hops: 0.001, 'hunt-episode': 0.001, 'hops-episode': 0.003, 'hops-turn': 0.003 },
  ),
  columns: COLUMNS,
};

/** Cross-entropy on the tool's words, weighted by λ, with a reward at each step and with one at the end. */
export const observations: Experiment = {
  ...COMMON,
  label: 'Observation loss',
  question: 'Does an agent get better if it also learns to predict what its tools answer?',
  doc: `With the loss mask on, λ × the mean cross-entropy of the words of observations is added to the loss (ECHO). “Dense” pays progress of every call (.5), “sparse” only the answer. Number hunt answers higher or lower, which is predictable from the guesses before; the facts of multi-hop search are new in every task. ${TUNED}`,
  arms: armsOf(
    ['hunt', 'hops'],
    (['dense', 'sparse'] as const).flatMap((reward) =>
      [0, 0.01, 0.05, 0.1].map((weight) => ({
        key: `${reward}-${weight}`,
        label: `${reward === 'dense' ? 'Dense' : 'Sparse'} reward, λ ${weight}`,
        set: { processReward: reward === 'dense' ? 0.5 : 0, observationLoss: weight },
        ...(weight === 0 ? {} : { than: `${reward}-0` }),
      })),
    ),
    { hunt: 0.003, hops: 0.001, 'hunt-sparse-0.1': 0.001, 'hops-dense-0.1': 0.003, 'hops-sparse-0': 0.0003 },
  ),
  columns: [...COLUMNS, { key: 'loss', label: 'Observation loss, last', measure: { metric: 'actor/observation_loss', take: 'last' } }], // prettier-ignore
};

/** Rollouts drawn by the weights of some updates ago, with and without a correction of the loss. */
export const staleness: Experiment = {
  ...COMMON,
  label: 'Staleness',
  question: 'How old may the weights be that draw the rollouts, and does a correction of the loss help?',
  doc: `The rollouts of an update are drawn by the weights of 0 to 8 updates ago. Corrections are per token with the usual limits: truncated at 2, masked outside .5 to 2. Four optimizer steps an update. ${TUNED}`,
  arms: armsOf(
    ['hunt', 'hops'],
    [
      { key: '0', label: 'No staleness', set: {} },
      ...[1, 2, 4, 8].flatMap((age) =>
        (['none', 'truncated', 'masked'] as const).map((correction) => ({
          key: correction === 'none' ? `${age}` : `${age}-${correction}`,
          label: `${age} old, ${correction === 'none' ? 'no correction' : correction}`,
          set: { staleness: age, correction },
          than: correction === 'none' ? '0' : `${age}`,
        })),
      ),
    ],
    {
      ...{ hunt: 0.001, 'hunt-0': 0.003, 'hunt-1-masked': 0.003, 'hunt-8': 0.003 },
      ...{
        hops: 0.001,
        'hops-2-masked': 0.0003,
        'hops-8': 0.0003,
        'hops-8-masked': 0.0003,
        'hops-8-truncated': 0.0003,
      },
    },
  ),
  columns: [
    ...COLUMNS,
    { key: 'kl', label: 'KL to the sampler', measure: { metric: 'rollout_corr/kl', take: 'mean' }, digits: 4 },
  ],
};

const GSPO = { surrogate: 'gspo', clipLow: 3e-4, clipHigh: 4e-4, aggregation: 'seq-mean-token-mean' } as const;
/** The surrogates and normalisations of the field, on one task. */
export const surrogates: Experiment = {
  ...COMMON,
  label: 'Surrogates',
  question: 'Does the form of the policy loss matter?',
  doc: `Number hunt with four epochs on each batch: eight optimizer steps, so that the policy moves away from the one that drew. ${TUNED}`,
  arms: armsOf(
    ['hunt'],
    [
      { key: 'clipped', label: 'PPO’s clip, .2', set: { epochs: 4 } },
      { key: 'plain', label: 'No ratio', set: { epochs: 4, surrogate: 'plain' }, than: 'clipped' },
      { key: 'cispo', label: 'CISPO, at most 5', set: { epochs: 4, surrogate: 'cispo', clipLow: 1, clipHigh: 4 }, than: 'clipped' }, // prettier-ignore
      { key: 'dppo-tv', label: 'DPPO-TV, .2', set: { epochs: 4, surrogate: 'dppo-tv', dualClip: 20 }, than: 'clipped' },
      { key: 'gspo', label: 'GSPO, .0003 and .0004', set: { epochs: 4, ...GSPO }, than: 'clipped' },
      { key: 'gspo-wide', label: 'GSPO, .2 (clips nothing)', set: { epochs: 4, ...GSPO, clipLow: 0.2, clipHigh: 0.2 }, than: 'clipped' }, // prettier-ignore
      { key: 'dr-grpo', label: 'Dr. GRPO', set: { epochs: 4, divideByStd: 'off', aggregation: 'seq-mean-token-sum-norm' }, than: 'clipped' }, // prettier-ignore
      { key: 'maxrl', label: 'MaxRL', set: { epochs: 4, estimator: 'maxrl' }, than: 'clipped' },
      { key: 'kl', label: 'PPO’s clip, KL .05', set: { epochs: 4, klCoef: 0.05 }, than: 'clipped' },
      { key: 'kl-ratio', label: 'PPO’s clip, KL .05 × ratio', set: { epochs: 4, klCoef: 0.05, klTimesRatio: 'on' }, than: 'kl' }, // prettier-ignore
    ],
    {
      ...{ hunt: 0.003, 'hunt-dr-grpo': 0.001, 'hunt-kl': 0.001, 'hunt-kl-ratio': 0.001, 'hunt-maxrl': 0.001 },
      ...{ 'hunt-cispo': 0.0003, 'hunt-gspo-wide': 0.0003, 'hunt-plain': 0.0003 },
    },
  ),
  columns: [...COLUMNS, { key: 'clipfrac', label: 'Clip fraction', measure: { metric: 'actor/pg_clipfrac', take: 'mean' } }], // prettier-ignore
};

const TURN_RATES: Rates = { hunt: 0.003, hops: 0.001, lake: 0.003 };
/** Advantages by turn beside one advantage for a whole rollout. */
export const turnCredit: Experiment = {
  ...COMMON,
  label: 'Credit by turn',
  question: 'Is it better to compare turns with turns than rollouts with rollouts?',
  doc: `Every call is paid for its progress. GRPO compares whole rollouts of a prompt; GiGPO also compares turns that began in the same state; MT-GRPO compares the same turn of all rollouts, with a bias, “turn baseline” does so without it. Turn credit adds to GRPO each turn’s share of the progress. With IGPO a call is paid for what it adds to the log-probability of the right answer instead, all in all at most about as much. ${TUNED} Turn credit and IGPO have the rate of the task’s other arms.`,
  arms: [
    ...armsOf(
      ['hunt', 'hops', 'lake'],
      [
        { key: 'grpo', label: 'GRPO', set: {} },
        { key: 'gigpo', label: 'GiGPO', set: { estimator: 'gigpo' }, than: 'grpo' },
        { key: 'mt-grpo', label: 'MT-GRPO', set: { estimator: 'mt-grpo' }, than: 'grpo' },
        { key: 'turn-baseline', label: 'Turn baseline', set: { estimator: 'turn-baseline' }, than: 'grpo' },
      ],
      TURN_RATES,
    ),
    ...armsOf(
      ['hunt', 'hops', 'lake'],
      [{ key: 'turn-score', label: 'Turn credit', set: { estimator: 'turn-credit' }, than: 'grpo' }],
      TURN_RATES,
    ),
    ...armsOf(
      ['hunt', 'hops'],
      [
        { key: 'igpo', label: 'IGPO: turn baseline, paid by information gain', set: { estimator: 'turn-baseline', processReward: 0, informationReward: 0.2 }, than: 'turn-baseline' }, // prettier-ignore
      ],
      TURN_RATES,
    ),
  ],
  columns: COLUMNS,
};

const TAUGHT_PRESETS = [
  ...(['number-hunt', 'multi-hop', 'document-search', 'world-facts', 'calculator'] as const),
  ...(['countdown', 'frozen-lake', 'sokoban', 'bandit'] as const),
] satisfies readonly PresetName[];

/** The rate of .0003, .001 and .003 with the highest mean headline on seeds 101 to 103. Imitation keeps its recipe's. */
const TAUGHT_RATES: Rates = {
  ...{ 'number-hunt': 0.003, 'multi-hop': 0.001, 'multi-hop-opd': 0.003, 'document-search': 0.001, calculator: 0.0003 },
  ...{ 'world-facts': 0.001, 'world-facts-rft': 0.0003, countdown: 0.001, 'countdown-rft': 0.0003, sokoban: 0.001 },
  ...{ 'frozen-lake': 0.003, 'frozen-lake-opd': 0.001, bandit: 0.003, 'bandit-opd': 0.001 },
};

/** RL as the preset does it, and what it would take without it: as many rows in all optimizer steps, from the same start. */
function imitationArms(name: (typeof TAUGHT_PRESETS)[number]): readonly RunArm[] {
  const { label: group, set: preset }: { readonly label: string; readonly set: Partial<RunConfig> } = PRESETS[name];
  const set = { ...preset, updates: 40 };
  const { prompts, groupSize, minibatches, epochs, warmStart, updates } = { ...DEFAULTS, ...set };
  // from shipped weights it goes on; else it begins with random ones, as RL does there
  const recipe = { ...set, warmStart: warmStart === 'none' ? 'train' : 'continued', demonstrator: 'expert', imitationSteps: 1, prompts: prompts / minibatches, minibatches: 1 } as const; // prettier-ignore
  const steps = (updates * epochs * prompts * groupSize) / imitatedRows({ ...DEFAULTS, ...recipe });
  const rate = (arm: string) => ({ learningRate: rateOf(TAUGHT_RATES, name, arm) });
  // a run has at least one update; its learning rates are 0, so that nothing is learned in it
  const sft = { ...recipe, imitationSteps: steps, updates: 1, learningRate: 0, criticLearningRate: 0 };
  const without = { ...set, klCoef: 0, entropyCoef: 0 }; // imitation has neither
  const comparedWith = `${name}-rl`;
  return [
    { key: comparedWith, label: 'RL', group, set: { ...set, ...rate('rl') } },
    { key: `${name}-sft`, label: 'Imitation of the expert (SFT)', group, set: sft, comparedWith },
    { key: `${name}-rft`, label: 'Rejection sampling (RFT)', group, set: { ...without, ...ALGORITHMS.rft.set, ...rate('rft') }, comparedWith }, // prettier-ignore
    { key: `${name}-opd`, label: 'Distillation from the expert (OPD)', group, set: { ...without, ...ALGORITHMS.opd.set, teacher: 'expert', ...rate('opd') }, comparedWith }, // prettier-ignore
  ];
}

/** Is RL needed? Imitation, rejection sampling and distillation in its place. */
export const imitation: Experiment = {
  ...COMMON,
  label: 'Is RL needed?',
  question: 'Does RL find more than the agent would learn from the expert, or from its own successes alone?',
  doc: 'Four ways to train from the same weights, with as many rows in all optimizer steps. “RL” is the preset. “SFT” imitates demonstrations of the expert. “RFT” imitates the agent’s own rollouts that solved their task. “OPD” lets the agent play and pulls each of its words to what the expert would write there. The expert may know what the agent can’t see, such as the whole graph of a search. “SFT” has no update, so its numbers before are those after. Tokens are an estimate: rows × tokens of the agent in a rollout. RL, RFT and OPD have the learning rate of .0003, .001 and .003 that ended highest on seeds 101 to 103, which are not in the table; SFT has its recipe’s.',
  arms: TAUGHT_PRESETS.flatMap(imitationArms),
  columns: [
    ...COLUMNS,
    { key: 'tokens', label: 'Tokens learned', measure: 'tokens', digits: 0 },
    { key: 'seconds', label: 'Seconds', measure: 'seconds', digits: 0 },
  ],
};
