import type { EnvironmentLanguage } from '../domain/environmentFile.ts';

/** How each language calls the parts of a class that a finding speaks of. */
export const TERMS: Readonly<
  Record<EnvironmentLanguage, Readonly<Record<'self' | 'reward' | 'expert' | 'weights', string>>>
> = {
  typescript: { self: 'this', reward: 'getReward()', expert: 'expert()', weights: 'static weights' },
  python: { self: 'self', reward: 'get_reward()', expert: '_expert()', weights: 'weights' },
};
