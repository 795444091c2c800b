import { canWhiten, creditDecays, sharesTurnAdvantage, usesCritic, usesRewards } from './estimators.ts';
import type { FieldName, RunConfig } from './fields.ts';

/** The weight of the observation loss where the page turns it on (ECHO, arXiv 2605.24517). */
export const USUAL_OBSERVATION_LOSS = 0.05;

/**
 * The six masks, each set by a knob, and the switch that the knob follows by default (value `follow`). Each mask acts
 * at one place of training: the recursion of the advantages, whitening, value loss, KL in the reward, policy loss, and
 * entropy with KL loss.
 */
export const MASK_SWITCHES = {
  advantageTokens: 'advantageMask',
  whitenTokens: 'advantageMask',
  valueTokens: 'advantageMask',
  klRewardTokens: 'advantageMask',
  policyTokens: 'lossMask',
  regularizerTokens: 'lossMask',
} as const satisfies Partial<Record<FieldName, FieldName>>;
export type MaskKnob = keyof typeof MASK_SWITCHES;
const MASK_KNOBS = Object.keys(MASK_SWITCHES) as MaskKnob[];

export function isMaskKnob(name: FieldName): name is MaskKnob {
  return Object.hasOwn(MASK_SWITCHES, name);
}

/** Whether a mask covers only the agent's tokens, by its knob's own setting or by the switch that the knob follows. */
export function agentOnly(c: RunConfig, maskKnob: MaskKnob): boolean {
  return (c[maskKnob] === 'follow' ? c[MASK_SWITCHES[maskKnob]] : c[maskKnob]) === 'on';
}

/** The mask knobs that have a setting of their own and don't follow their switch. */
export function ownMasks(c: RunConfig): MaskKnob[] {
  return MASK_KNOBS.filter((maskKnob) => c[maskKnob] !== 'follow');
}

/**
 * What learning does with the words of observations. `graded`: as if the agent had written them. `leftOut`: nothing.
 * `predicted`: the agent learns to predict them (ECHO).
 */
export const OBSERVATION_STATES = {
  graded: { lossMask: 'off', advantageMask: 'off' },
  leftOut: { lossMask: 'on', advantageMask: 'on', observationLoss: 0 },
  predicted: { lossMask: 'on', advantageMask: 'on', observationLoss: USUAL_OBSERVATION_LOSS },
} as const satisfies Readonly<Record<string, Partial<RunConfig>>>;
export type ObservationState = keyof typeof OBSERVATION_STATES;

/** The state by the two switches and the observation loss; with only one of the masks off, observations are left out. */
export function observationState(c: RunConfig): ObservationState {
  if (c.lossMask === 'off' && c.advantageMask === 'off') return 'graded';
  return c.lossMask === 'on' && c.observationLoss > 0 ? 'predicted' : 'leftOut';
}

/** Why a mask knob has no effect; null if it has one. */
export function whyMaskIdle(maskKnob: MaskKnob, c: RunConfig): string | null {
  switch (maskKnob) {
    case 'advantageTokens':
      return observationsMatter(c)
        ? null
        : 'no credit passes through observations, and none of them is rewarded or trained';
    case 'whitenTokens':
      if (!canWhiten(c.estimator)) return `${c.estimator} does not whiten`;
      if (sharesTurnAdvantage(c.estimator)) return `${c.estimator} whitens over turns`;
      return c.whiten === 'on' ? null : 'whitening is off';
    case 'valueTokens':
      return usesCritic(c.estimator) ? null : `${c.estimator} uses no critic`;
    case 'klRewardTokens':
      if (!usesRewards(c.estimator)) return `${c.estimator} reads no rewards`;
      if (c.klRewardCoef === 0) return 'KL in reward β is 0';
      return agentOnly(c, 'advantageTokens') ? 'the advantage recursion skips observations' : null;
    case 'policyTokens':
      return null;
    case 'regularizerTokens':
      return c.entropyCoef > 0 || c.klCoef > 0 ? null : 'entropy bonus and KL β are 0';
  }
}

function observationsMatter(c: RunConfig): boolean {
  const targets = usesCritic(c.estimator) && !agentOnly(c, 'valueTokens');
  const reads = usesRewards(c.estimator);
  const kl = reads && c.klRewardCoef > 0 && !agentOnly(c, 'klRewardTokens');
  const paid = reads && c.rewardOnLastAction === 'off';
  return creditDecays(c) || !agentOnly(c, 'policyTokens') || paid || targets || kl;
}

/** Why one of the two switches has no effect; null if it acts on at least one mask knob that follows it. */
export function whySwitchIdle(name: 'lossMask' | 'advantageMask', c: RunConfig): string | null {
  const followers = MASK_KNOBS.filter((maskKnob) => MASK_SWITCHES[maskKnob] === name && c[maskKnob] === 'follow');
  if (followers.length === 0) return 'each place where it acts has a setting of its own under “Advanced”';
  // Checked with the switch off, which changes all masks that follow it at once. While the switch is on, a mask may
  // have no effect only because of another.
  const off = { ...c, [name]: 'off' };
  if (followers.some((maskKnob) => whyMaskIdle(maskKnob, off) === null)) return null;
  return name === 'lossMask'
    ? 'no part of the loss follows it'
    : 'the tool’s tokens are already left out of the loss, and they don’t change the advantages of the agent’s tokens';
}
