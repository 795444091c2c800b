import type { RunConfig } from './fields.ts';
import { whyIdle } from './idle.ts';

/** The knobs that define an algorithm. The values of all other knobs are chosen for the task. */
export const ALGORITHM_FIELDS = [
  'estimator',
  'divideByStd',
  'stateWeight',
  'whiten',
  'surrogate',
  'clipLow',
  'clipHigh',
  'dualClip',
  'klCoef',
  'klEstimator',
  'klTimesRatio',
  'klRewardCoef',
  'klRewardEstimator',
  'klTarget',
  'aggregation',
  'filter',
  'filterShare',
  'filterScore',
  'filterScaling',
] as const satisfies readonly (keyof RunConfig)[];
type AlgorithmKnobs = Pick<RunConfig, (typeof ALGORITHM_FIELDS)[number]>;

interface Algorithm {
  readonly label: string;
  readonly doc: string;
  readonly set: AlgorithmKnobs;
}

// verl's defaults: clipped at ±0.2, dual clip at 3, token mean, no KL, no filter
const BASE: AlgorithmKnobs = {
  estimator: 'gae',
  divideByStd: 'on',
  stateWeight: 1,
  whiten: 'on',
  surrogate: 'clipped',
  clipLow: 0.2,
  clipHigh: 0.2,
  dualClip: 3,
  klCoef: 0,
  klEstimator: 'k3',
  klTimesRatio: 'off',
  klRewardCoef: 0,
  klRewardEstimator: 'k1',
  klTarget: 0,
  aggregation: 'token-mean',
  filter: 'none',
  filterShare: 0.25,
  filterScore: 'reward',
  filterScaling: 'none',
};

/** Sets of values for ALGORITHM_FIELDS. A run can switch to any of them between two batches. */
export const ALGORITHMS = {
  ppo: {
    label: 'PPO',
    doc: 'A critic estimates the advantage of each token (GAE). Advantages are whitened and the ratio is clipped (arXiv 1707.06347). Settings are the defaults of verl, an RL library.',
    set: BASE,
  },
  grpo: {
    label: 'GRPO',
    doc: 'A group is the rollouts of one task. The advantage is a rollout’s score minus the group’s mean, divided by the group’s standard deviation. GRPO (arXiv 2402.03300) needs no critic, which is a second network that estimates rewards. The loss is the mean over tokens. Settings are the defaults of verl, an RL library.',
    set: { ...BASE, estimator: 'grpo' },
  },
  'dr-grpo': {
    label: 'Dr. GRPO',
    doc: 'GRPO without two divisions that bias it: advantages aren’t divided by the group’s standard deviation, and the loss is divided by a constant instead of the number of tokens (arXiv 2503.20783).',
    set: { ...BASE, estimator: 'grpo', divideByStd: 'off', aggregation: 'seq-mean-token-sum-norm' },
  },
  'reinforce++': {
    label: 'REINFORCE++',
    doc: 'The advantage is the reward to go, whitened over the whole batch. The KL is in the reward, and the ratio is clipped (arXiv 2501.03262).',
    set: { ...BASE, estimator: 'reinforce++', klRewardCoef: 0.001 },
  },
  'reinforce++-baseline': {
    label: 'REINFORCE++ baseline',
    doc: 'The advantage is a rollout’s score minus the group’s mean, whitened over the whole batch. A k2 KL is in the loss (arXiv 2501.03262).',
    set: { ...BASE, estimator: 'reinforce++-baseline', klCoef: 0.001, klEstimator: 'k2' },
  },
  rloo: {
    label: 'RLOO',
    doc: 'The advantage is a rollout’s score minus the mean of the group’s other rollouts (arXiv 2402.14740). The ratio is clipped, as in verl.',
    set: { ...BASE, estimator: 'rloo' },
  },
  reinforce: {
    label: 'REINFORCE',
    doc: 'The original policy gradient: reward to go times log π, without baseline, ratio or clip (Williams 1992).',
    set: { ...BASE, estimator: 'reinforce', whiten: 'off', surrogate: 'plain' },
  },
  dapo: {
    label: 'DAPO',
    doc: 'GRPO with the upper clip raised to 0.28. Prompts whose rollouts all succeed or all fail are dropped (arXiv 2503.14476). Unlike in the paper, no new prompts replace them.',
    set: { ...BASE, estimator: 'grpo', clipHigh: 0.28, filter: 'drop-uniform', filterScore: 'success' },
  },
  gspo: {
    label: 'GSPO',
    doc: 'GRPO with one ratio for a whole rollout, the geometric mean of its tokens’ ratios, clipped at 1 − 0.0003 and 1 + 0.0004 (arXiv 2507.18071).',
    set: {
      ...BASE,
      ...{ estimator: 'grpo', surrogate: 'gspo', clipLow: 3e-4, clipHigh: 4e-4, aggregation: 'seq-mean-token-mean' },
    },
  },
  cispo: {
    label: 'CISPO',
    doc: 'GRPO in which a token whose ratio is clipped keeps a gradient: the clipped ratio only weights log π (arXiv 2506.13585). Without a lower limit, and with an upper one of 5, as TRL recommends.',
    set: { ...BASE, estimator: 'grpo', surrogate: 'cispo', clipLow: 1, clipHigh: 4 },
  },
  dppo: {
    label: 'DPPO-TV',
    doc: 'GRPO in which a token stops learning when its probability has moved by 0.2, instead of its ratio: ratios of rare tokens say little (arXiv 2602.04879).',
    set: { ...BASE, estimator: 'grpo', surrogate: 'dppo-tv', dualClip: 20 },
  },
  gigpo: {
    label: 'GiGPO',
    doc: 'Two comparisons, no division by a standard deviation: a rollout’s score with its group, and what each turn still earned with the turns of the group that began in the same state (arXiv 2505.10978).',
    set: { ...BASE, estimator: 'gigpo', divideByStd: 'off' },
  },
  'mt-grpo': {
    label: 'MT-GRPO',
    doc: 'Each turn’s reward minus the mean of that turn in the other rollouts, added up over later turns (arXiv 2505.11821). Biased where the agent decides how many turns it takes: a further turn that pays or costs looks free (verl #7244).',
    set: { ...BASE, estimator: 'mt-grpo', divideByStd: 'off' },
  },
  'turn-baseline': {
    label: 'Turn baseline',
    doc: 'What a rollout earned from a turn on, minus the mean of that over the same turn of the group’s rollouts. MT-GRPO without its bias.',
    set: { ...BASE, estimator: 'turn-baseline', divideByStd: 'off' },
  },
  'turn-credit': {
    label: 'Turn credit',
    doc: 'GRPO without a division by the standard deviation, and to it each turn’s credit for progress, minus its mean over the rollout. Progress is what process and information rewards pay; each turn shares it with the turns before (prime-rl #3282).',
    set: { ...BASE, estimator: 'turn-credit', divideByStd: 'off' },
  },
  maxrl: {
    label: 'MaxRL',
    doc: 'A rollout’s score minus the group’s mean, divided by that mean, so that a rare success counts most. Scores must not be below 0.',
    set: { ...BASE, estimator: 'maxrl' },
  },
  rft: {
    label: 'RFT',
    doc: 'Rejection sampling: the agent imitates those of its own rollouts that solved their task, and nothing else. There is no comparison and no penalty (arXiv 2308.01825).',
    set: { ...BASE, estimator: 'rft', surrogate: 'plain' },
  },
  opd: {
    label: 'OPD',
    doc: 'On-policy distillation: no reward teaches, only a teacher does, at the tokens that the agent itself wrote. Choose one with the knob teacher and start a new run.',
    set: { ...BASE, estimator: 'none', surrogate: 'plain' },
  },
  starpo: {
    label: 'StarPO',
    doc: 'RAGEN’s basic algorithm: PPO over whole rollouts, with a symmetric clip and a k1 KL in the reward (arXiv 2504.20073).',
    set: { ...BASE, klRewardCoef: 0.001 },
  },
  'starpo-s': {
    label: 'StarPO-S',
    doc: 'RAGEN’s more stable algorithm: PPO that trains only on the quarter of prompts whose rollouts differ most, with the upper clip at 0.28 and no KL (arXiv 2504.20073).',
    set: { ...BASE, clipHigh: 0.28, filter: 'top-fraction' },
  },
} as const satisfies Record<string, Algorithm>;

export type AlgorithmName = keyof typeof ALGORITHMS;
/** All names, in the order in which they are shown. */
export const ALGORITHM_NAMES = Object.keys(ALGORITHMS) as readonly AlgorithmName[];

/** The algorithm that a configuration uses; null if none of the named algorithms matches. */
export function algorithmOf(config: RunConfig): AlgorithmName | null {
  return (
    ALGORITHM_NAMES.find((name) => {
      const algorithmKnobs: AlgorithmKnobs = ALGORITHMS[name].set;
      const withAlgorithm = { ...config, ...algorithmKnobs };
      // a knob that has no effect may have any value
      return ALGORITHM_FIELDS.every(
        (field) => config[field] === algorithmKnobs[field] || whyIdle(field, withAlgorithm) !== null,
      );
    }) ?? null
  );
}
