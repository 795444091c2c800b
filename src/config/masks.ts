import { canWhiten, decays, usesCritic } from './estimators.ts';
import type { FieldName, RunConfig } from './fields.ts';

/** The six places where a mask acts, each a knob, and the switch that it follows by default. */
export const PLACES = {
  advantageTokens: 'advantageMask',
  whitenTokens: 'advantageMask',
  valueTokens: 'advantageMask',
  klRewardTokens: 'advantageMask',
  policyTokens: 'lossMask',
  regularizerTokens: 'lossMask',
} as const satisfies Partial<Record<FieldName, FieldName>>;
export type Place = keyof typeof PLACES;
const PLACE_NAMES = Object.keys(PLACES) as Place[];

/** Whether a knob sets the mask of one place. */
export function isPlace(name: FieldName): name is Place {
  return Object.hasOwn(PLACES, name);
}

/** Whether the mask of a place covers only the agent's tokens, by its own setting or by the switch that it follows. */
export function agentOnly(c: RunConfig, place: Place): boolean {
  return (c[place] === 'follow' ? c[PLACES[place]] : c[place]) === 'on';
}

/** The places that have their own setting and don't follow their switch. */
export function overrides(c: RunConfig): Place[] {
  return PLACE_NAMES.filter((place) => c[place] !== 'follow');
}

/** Why the mask of a place has no effect; null if it has one. */
export function idlePlace(place: Place, c: RunConfig): string | null {
  switch (place) {
    case 'advantageTokens':
      return recursionActs(c) ? null : 'no credit passes through observations, and none of them is rewarded or trained';
    case 'whitenTokens':
      if (!canWhiten(c.estimator)) return `${c.estimator} does not whiten`;
      return c.whiten === 'on' ? null : 'whitening is off';
    case 'valueTokens':
      return usesCritic(c.estimator) ? null : `${c.estimator} uses no critic`;
    case 'klRewardTokens':
      if (c.klRewardCoef === 0) return 'KL in reward β is 0';
      return agentOnly(c, 'advantageTokens') ? 'the advantage recursion skips observations' : null;
    case 'policyTokens':
      return null;
    case 'regularizerTokens':
      return c.entropyCoef > 0 || c.klCoef > 0 ? null : 'entropy bonus and KL β are 0';
  }
}

function recursionActs(c: RunConfig): boolean {
  const targets = usesCritic(c.estimator) && !agentOnly(c, 'valueTokens');
  const kl = c.klRewardCoef > 0 && !agentOnly(c, 'klRewardTokens');
  return decays(c) || !agentOnly(c, 'policyTokens') || c.rewardOnLastAction === 'off' || targets || kl;
}

/** Why one of the two switches has no effect; null if it has one in at least one place that follows it. */
export function idleSwitch(name: 'lossMask' | 'advantageMask', c: RunConfig): string | null {
  const followers = PLACE_NAMES.filter((place) => PLACES[place] === name && c[place] === 'follow');
  if (followers.length === 0) return 'each place where it acts has a setting of its own under “Advanced”';
  // Checked with the switch off, which changes all its places at once: while it is on, one place may have no effect
  // only because of another.
  const off = { ...c, [name]: 'off' };
  if (followers.some((place) => idlePlace(place, off) === null)) return null;
  return name === 'lossMask'
    ? 'no part of the loss follows it'
    : 'the tool’s tokens are already left out of the loss, and they don’t change the advantages of the agent’s tokens';
}
