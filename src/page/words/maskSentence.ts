import type { RunConfig } from '../../config/fields.ts';
import {
  creditDecays,
  ESTIMATORS,
  sharesTurnAdvantage,
  usesCritic,
  usesGroups,
  usesRewards,
  whitensAdvantages,
} from '../../config/estimators.ts';
import { agentOnly, whySwitchIdle } from '../../config/masks.ts';
import type { MetricName } from '../../domain/metrics.ts';

/** Says what the masks do together in a configuration: one sentence for each effect. */
export function maskSentence(c: RunConfig): string {
  return [
    trainedSentence(c),
    predictionSentence(c),
    turnSentence(c),
    creditSentence(c),
    countedSentence(c),
    regularizerSentence(c),
    rewardSentence(c),
    choiceSentence(c),
  ]
    .filter((text) => text !== '')
    .join(' ');
}

/** Says in a few words what happens to observation tokens, for the table of four cases. */
export function maskPhrase(c: RunConfig): string {
  if (!agentOnly(c, 'policyTokens')) {
    if (!agentOnly(c, 'advantageTokens')) return 'trained like the agent’s own tokens';
    if (hasConstantPush(c)) return 'all pushed by the same constant';
    return averagesTokens(c) ? 'not pushed, but counted in the loss’s mean, so other pushes get smaller' : 'not pushed';
  }
  if (c.observationLoss > 0) return 'learned as a prediction, whatever the reward';
  if (agentOnly(c, 'advantageTokens')) return 'not trained';
  if (creditDecays(c)) return 'not trained, but credit leaks into them';
  return whySwitchIdle('advantageMask', c) === null
    ? 'not trained, but counted'
    : 'not trained: the advantage mask changes nothing';
}

function hasConstantPush(c: RunConfig): boolean {
  return agentOnly(c, 'advantageTokens') && whitensAdvantages(c) && c.remask === 'off';
}

function averagesTokens(c: RunConfig): boolean {
  return c.aggregation === 'token-mean' || c.aggregation === 'seq-mean-token-mean';
}

function trainedSentence(c: RunConfig): string {
  if (agentOnly(c, 'policyTokens')) return 'Only the agent’s own tokens are trained.';
  if (!agentOnly(c, 'advantageTokens'))
    return 'The agent is rewarded or punished for observation tokens it did not write.';
  if (hasConstantPush(c)) return 'Observation tokens are all pushed by the same constant, the −mean/std of whitening.';
  return averagesTokens(c)
    ? 'Observation tokens carry no advantage but count in the mean of the loss, so the other pushes get smaller.'
    : 'Observation tokens are in the loss but carry no advantage. The loss is a sum, so they make no other push smaller.';
}

function predictionSentence(c: RunConfig): string {
  return c.observationLoss > 0 && agentOnly(c, 'policyTokens')
    ? `It also learns to predict the words of observations (weight ${c.observationLoss}).`
    : '';
}

function turnSentence({ trainTurns }: RunConfig): string {
  return trainTurns === 'all' ? '' : `Only the ${trainTurns} turn of each rollout is trained.`;
}

function creditSentence(c: RunConfig): string {
  const skipsObservations = agentOnly(c, 'advantageTokens');
  if (usesGroups(c.estimator) || !usesRewards(c.estimator)) {
    if (skipsObservations) return 'In one rollout, all of the agent’s tokens get the same advantage.';
    if (!agentOnly(c, 'policyTokens')) return 'They get the rollout’s score too.';
    const isIdle = c.advantageMask === 'off' && whySwitchIdle('advantageMask', c) !== null;
    return `All tokens of a rollout get the same advantage, so none leaks into observations${isIdle ? ', and the advantage mask changes nothing' : ''}.`;
  }
  if (ESTIMATORS[c.estimator].advantageKind === 'turns') {
    return skipsObservations
      ? 'Credit goes from turn to turn and skips observations.'
      : 'Credit restarts at the end of each turn, so none leaks into observations.';
  }
  if (sharesTurnAdvantage(c.estimator)) {
    return skipsObservations
      ? 'Credit goes from turn to turn and skips observations.'
      : 'An observation gets the advantage of the turn before it.';
  }
  if (skipsObservations) return 'Credit skips observations.';
  if (creditDecays(c)) return 'Credit decays while it passes through observations.';
  return `Credit passes through observations without decay, since γ ${usesCritic(c.estimator) ? 'and λ are' : 'is'} 1.`;
}

function countedSentence(c: RunConfig): string {
  const skipsObservations = agentOnly(c, 'advantageTokens');
  const effects: string[] = [];
  if (whitensAdvantages(c) && !agentOnly(c, 'whitenTokens')) effects.push('whitening counts them');
  if (usesCritic(c.estimator) && !agentOnly(c, 'valueTokens'))
    effects.push(`the critic trains ${skipsObservations ? 'towards 0 ' : ''}on them`);
  if (c.klRewardCoef > 0 && !agentOnly(c, 'klRewardTokens') && !skipsObservations) effects.push('they pay KL');
  return effects.length > 0 ? `Observations still matter: ${effects.join(', ')}.` : '';
}

function regularizerSentence(c: RunConfig): string {
  if (agentOnly(c, 'regularizerTokens')) return '';
  const terms = [...(c.entropyCoef > 0 ? ['entropy bonus'] : []), ...(c.klCoef > 0 ? ['KL loss'] : [])];
  if (terms.length === 0) return '';
  return `The ${terms.join(' and the ')} ${terms.length > 1 ? 'act' : 'acts'} on text the agent did not write.`;
}

function choiceSentence(c: RunConfig): string {
  return c.choiceMask === 'on' ? 'Tokens with only one legal choice aren’t counted anywhere.' : '';
}

function rewardSentence(c: RunConfig): string {
  if (c.rewardOnLastAction === 'on') return '';
  return agentOnly(c, 'advantageTokens') ? 'A reward paid on an observation is dropped.' : '';
}

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
