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

/** Sets of values for ALGORITHM_FIELDS. A run can switch to any of them between two batches. `fieldDocs.ts` describes them. */
export const ALGORITHMS = {
  ppo: {
    label: 'PPO',
    set: BASE,
  },
  grpo: {
    label: 'GRPO',
    set: { ...BASE, estimator: 'grpo' },
  },
  'dr-grpo': {
    label: 'Dr. GRPO',
    set: { ...BASE, estimator: 'grpo', divideByStd: 'off', aggregation: 'seq-mean-token-sum-norm' },
  },
  'reinforce++': {
    label: 'REINFORCE++',
    set: { ...BASE, estimator: 'reinforce++', klRewardCoef: 0.001 },
  },
  'reinforce++-baseline': {
    label: 'REINFORCE++ baseline',
    set: { ...BASE, estimator: 'reinforce++-baseline', klCoef: 0.001, klEstimator: 'k2' },
  },
  rloo: {
    label: 'RLOO',
    set: { ...BASE, estimator: 'rloo' },
  },
  reinforce: {
    label: 'REINFORCE',
    set: { ...BASE, estimator: 'reinforce', whiten: 'off', surrogate: 'plain' },
  },
  dapo: {
    label: 'DAPO',
    set: { ...BASE, estimator: 'grpo', clipHigh: 0.28, filter: 'drop-uniform', filterScore: 'success' },
  },
  gspo: {
    label: 'GSPO',
    set: {
      ...BASE,
      ...{ estimator: 'grpo', surrogate: 'gspo', clipLow: 3e-4, clipHigh: 4e-4, aggregation: 'seq-mean-token-mean' },
    },
  },
  cispo: {
    label: 'CISPO',
    set: { ...BASE, estimator: 'grpo', surrogate: 'cispo', clipLow: 1, clipHigh: 4 },
  },
  dppo: {
    label: 'DPPO-TV',
    set: { ...BASE, estimator: 'grpo', surrogate: 'dppo-tv', dualClip: 20 },
  },
  gigpo: {
    label: 'GiGPO',
    set: { ...BASE, estimator: 'gigpo', divideByStd: 'off' },
  },
  'mt-grpo': {
    label: 'MT-GRPO',
    set: { ...BASE, estimator: 'mt-grpo', divideByStd: 'off' },
  },
  'turn-baseline': {
    label: 'Turn baseline',
    set: { ...BASE, estimator: 'turn-baseline', divideByStd: 'off' },
  },
  'turn-credit': {
    label: 'Turn credit',
    set: { ...BASE, estimator: 'turn-credit', divideByStd: 'off' },
  },
  maxrl: {
    label: 'MaxRL',
    set: { ...BASE, estimator: 'maxrl' },
  },
  rft: {
    label: 'RFT',
    set: { ...BASE, estimator: 'rft', surrogate: 'plain' },
  },
  opd: {
    label: 'OPD',
    set: { ...BASE, estimator: 'none', surrogate: 'plain' },
  },
  starpo: {
    label: 'StarPO',
    set: { ...BASE, klRewardCoef: 0.001 },
  },
  'starpo-s': {
    label: 'StarPO-S',
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
