import { whitensAdvantages } from '../../config/estimators.ts';
import type { RunConfig } from '../../config/fields.ts';
import { agentOnly } from '../../config/masks.ts';
import type { MetricName } from '../../domain/metrics.ts';

function observationsHaveAdvantage(c: RunConfig): boolean {
  return !agentOnly(c, 'advantageTokens') || (whitensAdvantages(c) && c.remask === 'off');
}

function observationsArePushed(c: RunConfig): boolean {
  return !agentOnly(c, 'policyTokens') && observationsHaveAdvantage(c);
}

export interface Invariant {
  readonly metric: MetricName;
  readonly expected: 'zero' | 'positive';
}

/** The numbers counted on the tensors of an update, and what each should be in this configuration. */
export function invariants(c: RunConfig): Invariant[] {
  const pushed = observationsArePushed(c);
  const klPulls = c.klCoef > 0 && !agentOnly(c, 'regularizerTokens');
  const predicted = c.observationLoss > 0 && agentOnly(c, 'policyTokens');
  const dropsReward = c.rewardOnLastAction === 'off' && agentOnly(c, 'advantageTokens');
  return [
    { metric: 'mask/observation_weights', expected: pushed ? 'positive' : 'zero' },
    { metric: 'mask/observation_share', expected: pushed || klPulls || predicted ? 'positive' : 'zero' },
    { metric: 'mask/reward_outside', expected: dropsReward ? 'positive' : 'zero' },
    { metric: 'mask/length_mismatch', expected: 'zero' },
  ];
}

/** Compares a number with its expected value. `none`: 0 where more was expected, as in an update without advantages. */
export function checkInvariant({ expected }: Invariant, value: number): 'holds' | 'broken' | 'none' {
  if (expected === 'zero') return value === 0 ? 'holds' : 'broken';
  return value > 0 ? 'holds' : 'none';
}
