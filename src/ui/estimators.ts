import type { RunConfig } from '../config.ts';

type Estimator = RunConfig['estimator'];

/** Whether an estimator reads a critic's values and teaches it. */
export function usesCritic(estimator: Estimator): boolean {
  return estimator === 'gae' || estimator === 'bi-level-gae';
}

/** Whether an estimator gives a whole rollout one score, compared with the others of its prompt. */
export function usesGroups(estimator: Estimator): boolean {
  return estimator === 'grpo' || estimator === 'rloo' || estimator === 'reinforce++-baseline';
}

/** Whether advantages get mean 0 and variance 1 in this configuration. */
export function whitens(c: RunConfig): boolean {
  return c.whiten === 'on' && canWhiten(c.estimator);
}

/** Whether an estimator heeds the whitening switch. */
export function canWhiten(estimator: Estimator): boolean {
  return usesCritic(estimator) || estimator === 'reinforce++' || estimator === 'reinforce++-baseline';
}

/** Whether credit shrinks with every token it passes. */
export function decays(c: RunConfig): boolean {
  if (c.estimator === 'gae') return c.gamma * c.lambda < 1;
  return (c.estimator === 'reinforce' || c.estimator === 'reinforce++') && c.gamma < 1;
}
