/** The value that is subtracted from a rollout's score, computed from its group. */
export interface Baseline {
  readonly symbol: string; // its symbol in a formula; S is the score of a rollout
  /** The baseline for `score`, one of the `n` scores of a group with this mean. */
  readonly compute: (score: number, mean: number, n: number) => number;
}

/** All baselines. The equations are in `src/rl/advantages.ts` and `src/gpu/kernels/group_advantages.wgsl`. */
export const BASELINES = {
  mean: { symbol: 'mean S', compute: (_, mean) => mean },
  'mean-over-std': { symbol: 'mean S', compute: (_, mean) => mean },
  'mean-over-mean': { symbol: 'mean S', compute: (_, mean) => mean },
  'leave-one-out': {
    symbol: 'mean S of the others',
    compute: (score, mean, n) => (n * mean - score) / (n - 1),
  },
} as const satisfies Record<string, Baseline>;
export type GroupBaseline = keyof typeof BASELINES;

/** Turns are compared with those that began in the same state, or that have the same number in their rollouts. */
export interface TurnsLike {
  readonly same: 'state' | 'number';
  readonly in: 'return' | 'reward'; // `reward`: a turn's advantage is the sum of this comparison over it and all later turns
  readonly besideScore: boolean; // the advantage of the rollout is added
}

interface EstimatorTraits {
  /**
   * A recursion over tokens, over turns and then each turn's tokens, or over turns whose tokens share one advantage; or
   * the rollout's score, compared with its group; or that and something of each turn, see `turnsLike` and
   * `sharesProgress`; or 1 where the rollout solved its task; or 0.
   */
  readonly advantageKind: 'tokens' | 'turns' | 'whole-turns' | 'group' | 'group-turns' | 'success' | 'none';
  readonly critic: boolean; // uses a critic's values and gives the critic its targets
  readonly canWhiten: boolean; // whitens advantages if the knob `whiten` is on
  readonly baseline?: GroupBaseline; // for `group` and `group-turns`: the baseline
  readonly turnsLike?: TurnsLike; // for `group-turns`: the turns that a turn is compared with, and in what
  readonly sharesProgress?: true; // for `group-turns`: a turn's progress is shared with the turns before it
  readonly dividesByStd?: boolean; // for these: the knob `divideByStd` acts
}

const TABLE = {
  gae: {
    ...{ advantageKind: 'tokens', critic: true, canWhiten: true },
  },
  'bi-level-gae': {
    ...{ advantageKind: 'turns', critic: true, canWhiten: true },
  },
  'turn-gae': {
    ...{ advantageKind: 'whole-turns', critic: true, canWhiten: true },
  },
  grpo: {
    ...{ advantageKind: 'group', critic: false, canWhiten: false, baseline: 'mean', dividesByStd: true },
  },
  gigpo: {
    ...{ advantageKind: 'group-turns', critic: false, canWhiten: false, baseline: 'mean', dividesByStd: true },
    turnsLike: { same: 'state', in: 'return', besideScore: true },
  },
  'mt-grpo': {
    ...{ advantageKind: 'group-turns', critic: false, canWhiten: false, baseline: 'mean', dividesByStd: true },
    turnsLike: { same: 'number', in: 'reward', besideScore: false },
  },
  'turn-baseline': {
    ...{ advantageKind: 'group-turns', critic: false, canWhiten: false, baseline: 'mean', dividesByStd: true },
    turnsLike: { same: 'number', in: 'return', besideScore: false },
  },
  'turn-credit': {
    ...{ advantageKind: 'group-turns', critic: false, canWhiten: false, baseline: 'mean', dividesByStd: true },
    sharesProgress: true,
  },
  maxrl: {
    ...{ advantageKind: 'group', critic: false, canWhiten: false, baseline: 'mean-over-mean' },
  },
  rloo: {
    ...{ advantageKind: 'group', critic: false, canWhiten: false, baseline: 'leave-one-out' },
  },
  reinforce: { advantageKind: 'tokens', critic: false, canWhiten: false },
  'reinforce++': {
    ...{ advantageKind: 'tokens', critic: false, canWhiten: true },
  },
  'reinforce++-baseline': {
    ...{ advantageKind: 'group', critic: false, canWhiten: true, baseline: 'mean' },
  },
  rft: {
    ...{ advantageKind: 'success', critic: false, canWhiten: false },
  },
  none: {
    ...{ advantageKind: 'none', critic: false, canWhiten: false },
  },
} as const satisfies Record<string, EstimatorTraits>;

export type Estimator = keyof typeof TABLE;

/** The knob's choices, the page's texts, the training loop and the kernels' settings are derived from it. */
export const ESTIMATORS: Readonly<Record<Estimator, EstimatorTraits>> = TABLE;
export const ESTIMATOR_NAMES = Object.keys(TABLE) as readonly Estimator[];

/** The names of the estimators with a property, joined by “and”. */
export function estimatorsWith(hasTrait: (traits: EstimatorTraits) => boolean): string {
  return ESTIMATOR_NAMES.filter((name) => hasTrait(ESTIMATORS[name])).join(' and ');
}

interface AdvantageKnobs {
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

/** Whether all tokens of a rollout share one advantage: its score, compared with the other rollouts of its prompt. */
export function usesGroups(estimator: Estimator): boolean {
  return ESTIMATORS[estimator].advantageKind === 'group';
}

/** Whether an estimator reads rewards. If not, the advantage of a rollout’s tokens is its success, or 0. */
export function usesRewards(estimator: Estimator): boolean {
  const { advantageKind } = ESTIMATORS[estimator];
  return advantageKind !== 'success' && advantageKind !== 'none';
}

/** Which turns of its prompt an estimator compares each turn with; undefined if it compares no turns. */
export function comparesTurns(estimator: Estimator): TurnsLike | undefined {
  return ESTIMATORS[estimator].turnsLike;
}

/** Whether an estimator discounts from turn to turn, by `turnGamma`. */
export function discountsTurns(estimator: Estimator): boolean {
  const { advantageKind } = ESTIMATORS[estimator];
  return advantageKind === 'turns' || sharesTurnAdvantage(estimator);
}

/** Whether an estimator takes a turn for one action: its tokens share an advantage, and whitening counts turns. */
export function sharesTurnAdvantage(estimator: Estimator): boolean {
  const { advantageKind } = ESTIMATORS[estimator];
  return advantageKind === 'whole-turns' || advantageKind === 'group-turns';
}

/** Whether an estimator adds something of each turn to the rollout's advantage, weighted by `stateWeight`. */
export function weighsTurns(estimator: Estimator): boolean {
  const { turnsLike, sharesProgress } = ESTIMATORS[estimator];
  return turnsLike?.besideScore === true || sharesProgress === true;
}

/** Whether the knob `whiten` has an effect on an estimator. */
export function canWhiten(estimator: Estimator): boolean {
  return ESTIMATORS[estimator].canWhiten;
}

/** The baseline of an estimator that compares the rollouts of a group. */
export function baselineOf(estimator: Estimator, divideByStd: boolean): GroupBaseline {
  const { baseline = 'mean', dividesByStd = false } = ESTIMATORS[estimator];
  return dividesByStd && divideByStd ? 'mean-over-std' : baseline;
}

/** Whether advantages get mean 0 and variance 1. */
export function whitensAdvantages({ whiten, estimator }: Pick<AdvantageKnobs, 'whiten' | 'estimator'>): boolean {
  return whiten === 'on' && canWhiten(estimator);
}

/** Whether credit shrinks from token to token, because γ·λ is below 1. Without a critic, λ is 1 (reward to go). */
export function creditDecays({
  estimator,
  gamma,
  lambda,
}: Pick<AdvantageKnobs, 'estimator' | 'gamma' | 'lambda'>): boolean {
  const { advantageKind, critic } = ESTIMATORS[estimator];
  return advantageKind === 'tokens' && gamma * (critic ? lambda : 1) < 1;
}
