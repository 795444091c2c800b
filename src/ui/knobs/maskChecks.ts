import { whitens } from '../../config/estimators.ts';
import type { RunConfig } from '../../config/fields.ts';
import { agentOnly } from '../../config/masks.ts';
import type { MetricName } from '../../domain/metrics.ts';

/** Whether tokens of the tool can carry an advantage that is not 0. */
function observationsCarry(c: RunConfig): boolean {
  return !agentOnly(c, 'advantageTokens') || (whitens(c) && c.remask === 'off');
}

/** Whether the policy loss pushes the probability of the tool's words. */
function observationsPushed(c: RunConfig): boolean {
  return !agentOnly(c, 'policyTokens') && observationsCarry(c);
}

/** What an audited number should be. */
export interface Invariant {
  readonly metric: MetricName;
  readonly expected: 'zero' | 'positive';
}

/** The numbers counted on the tensors of an update, and what each should be in this configuration. */
export function invariants(c: RunConfig): Invariant[] {
  const pushed = observationsPushed(c);
  const klPulls = c.klCoef > 0 && !agentOnly(c, 'regularizerTokens');
  const lost = c.rewardOnLastAction === 'off' && agentOnly(c, 'advantageTokens');
  return [
    { metric: 'mask/observation_weights', expected: pushed ? 'positive' : 'zero' },
    { metric: 'mask/observation_share', expected: pushed || klPulls ? 'positive' : 'zero' },
    { metric: 'mask/reward_outside', expected: lost ? 'positive' : 'zero' },
    { metric: 'mask/length_mismatch', expected: 'zero' },
  ];
}

/** What to think of a measured number: `none` is a 0 where more was to be expected, which an update without advantages gives. */
export function judge({ expected }: Invariant, value: number): 'holds' | 'broken' | 'none' {
  if (expected === 'zero') return value === 0 ? 'holds' : 'broken';
  return value > 0 ? 'holds' : 'none';
}
