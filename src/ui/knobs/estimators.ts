import type { RunConfig } from '../../config/fields.ts';
import { canWhiten } from '../../config/estimators.ts';

/** Whether advantages get mean 0 and variance 1 in this configuration. */
export function whitens(c: RunConfig): boolean {
  return c.whiten === 'on' && canWhiten(c.estimator);
}

/** Whether credit shrinks with every token it passes. */
export function decays(c: RunConfig): boolean {
  if (c.estimator === 'gae') return c.gamma * c.lambda < 1;
  return (c.estimator === 'reinforce' || c.estimator === 'reinforce++') && c.gamma < 1;
}
