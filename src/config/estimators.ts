/** What tells estimators of credit apart. */
interface Traits {
  readonly core: 'walk' | 'group'; // token by token backwards, or a rollout's one score against its group's
  readonly critic: boolean; // reads values and gives the critic targets
  readonly whitens: boolean; // where `whiten` is on
}

/** Every estimator, once; `src/rl/credit.ts` has the equations. */
export const ESTIMATORS = {
  gae: { core: 'walk', critic: true, whitens: true },
  'bi-level-gae': { core: 'walk', critic: true, whitens: true },
  grpo: { core: 'group', critic: false, whitens: false },
  rloo: { core: 'group', critic: false, whitens: false },
  reinforce: { core: 'walk', critic: false, whitens: false },
  'reinforce++': { core: 'walk', critic: false, whitens: true },
  'reinforce++-baseline': { core: 'group', critic: false, whitens: true },
} as const satisfies Record<string, Traits>;

/** How credit is assigned. */
export type Estimator = keyof typeof ESTIMATORS;

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
