import type { EnvironmentLanguage } from '../domain/environmentFile.ts';

/** For each language: the names of the class's parts, for the texts of findings. */
export const TERMS: Readonly<
  Record<EnvironmentLanguage, Readonly<Record<'self' | 'reward' | 'expert' | 'stateKey' | 'weights', string>>>
> = {
  typescript: {
    self: 'this',
    reward: 'getReward()',
    expert: 'expert()',
    stateKey: 'stateKey()',
    weights: 'static weights',
  },
  python: { self: 'self', reward: 'get_reward()', expert: '_expert()', stateKey: '_state_key()', weights: 'weights' },
};
