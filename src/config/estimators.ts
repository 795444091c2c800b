/** What a rollout's score is compared with in its group. */
export interface Baseline {
  readonly words: string;
  readonly symbol: string; // in a formula; S is the score of a rollout
  /** What is taken off a score among `n` of this mean. */
  readonly of: (score: number, mean: number, n: number) => number;
}

/** Every comparison within a group; `src/rl/advantages.ts` and `src/gpu/kernels/group_advantages.wgsl` have the equations. */
export const BASELINES = {
  mean: { words: 'mean of the group', symbol: 'mean S', of: (_, mean) => mean },
  'mean-over-std': { words: 'mean of the group', symbol: 'mean S', of: (_, mean) => mean },
  'leave-one-out': {
    words: 'mean of the others',
    symbol: 'mean S of the others',
    of: (score, mean, n) => (n * mean - score) / (n - 1),
  },
} as const satisfies Record<string, Baseline>;
export type GroupBaseline = keyof typeof BASELINES;

/** What tells estimators of credit apart. */
interface Traits {
  readonly doc: string; // what its advantage is, in a sentence without its end
  readonly core: 'tokens' | 'turns' | 'group'; // backwards over tokens, or over turns and then their tokens, or a rollout's one score against its group's
  readonly critic: boolean; // reads values and gives the critic targets
  readonly whitens: boolean; // where `whiten` is on
  readonly baseline?: GroupBaseline; // of a group; with `divideByStd` on and `divides`, the mean is divided by
  readonly divides?: boolean;
}

const TABLE = {
  gae: {
    doc: 'generalised advantage estimation (GAE) with a critic, as in PPO',
    ...{ core: 'tokens', critic: true, whitens: true },
  },
  'bi-level-gae': {
    doc: 'GAE over turns, then over the tokens of each turn (RAGEN)',
    ...{ core: 'turns', critic: true, whitens: true },
  },
  grpo: {
    doc: 'score compared with all rollouts of the same prompt',
    ...{ core: 'group', critic: false, whitens: false, baseline: 'mean', divides: true },
  },
  rloo: {
    doc: 'score minus the mean of the group’s other rollouts',
    ...{ core: 'group', critic: false, whitens: false, baseline: 'leave-one-out' },
  },
  reinforce: { doc: 'reward to go', core: 'tokens', critic: false, whitens: false },
  'reinforce++': {
    doc: 'reward to go, whitened over the batch',
    ...{ core: 'tokens', critic: false, whitens: true },
  },
  'reinforce++-baseline': {
    doc: 'score minus the group’s mean, whitened',
    ...{ core: 'group', critic: false, whitens: true, baseline: 'mean' },
  },
} as const satisfies Record<string, Traits>;

/** How credit is assigned. */
export type Estimator = keyof typeof TABLE;

/** Every estimator, once: the knob's choices, the page's remarks, the loop and the kernels' settings derive from it. */
export const ESTIMATORS: Readonly<Record<Estimator, Traits>> = TABLE;
export const ESTIMATOR_NAMES = Object.keys(TABLE) as readonly Estimator[];

/** The estimators of a kind, as words. */
export function estimatorsThat(are: (traits: Traits) => boolean): string {
  return ESTIMATOR_NAMES.filter((name) => are(ESTIMATORS[name])).join(' and ');
}

/** As much of a configuration as says what credit is. */
interface Knobs {
  readonly estimator: Estimator;
  readonly divideByStd: 'on' | 'off';
  readonly whiten: 'on' | 'off';
  readonly gamma: number;
  readonly lambda: number;
}

/** Whether an estimator reads a critic's values and teaches it. */
export function usesCritic(estimator: Estimator): boolean {
  return ESTIMATORS[estimator].critic;
}

/** Whether an estimator gives a whole rollout one score, compared with the others of its prompt. */
export function usesGroups(estimator: Estimator): boolean {
  return ESTIMATORS[estimator].core === 'group';
}

/** Whether an estimator heeds the whitening switch. */
export function canWhiten(estimator: Estimator): boolean {
  return ESTIMATORS[estimator].whitens;
}

/** What a rollout's score is compared with, where groups are compared. */
export function baselineOf(estimator: Estimator, divideByStd: boolean): GroupBaseline {
  const { baseline = 'mean', divides = false } = ESTIMATORS[estimator];
  return divides && divideByStd ? 'mean-over-std' : baseline;
}

/** Whether advantages get mean 0 and variance 1. */
export function whitens({ whiten, estimator }: Pick<Knobs, 'whiten' | 'estimator'>): boolean {
  return whiten === 'on' && canWhiten(estimator);
}

/** Whether credit shrinks with every token it passes: reward to go is GAE with λ = 1. */
export function decays({ estimator, gamma, lambda }: Pick<Knobs, 'estimator' | 'gamma' | 'lambda'>): boolean {
  const { core, critic } = ESTIMATORS[estimator];
  return core === 'tokens' && gamma * (critic ? lambda : 1) < 1;
}
