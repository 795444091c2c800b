import type { EnvName, WarmStartRecipe } from './environments.ts';
import type { RunConfig } from './fields.ts';

/** The Hugging Face folder of the shipped text model under public/. `npm run textmodel` makes it. */
export const TEXT_AGENT = 'models/agent';

/** Where they differ from the defaults. With them an update of 64 rollouts takes about three seconds on one CPU core. */
export const TEXT_AGENT_SIZES = { layers: 3, width: 96, ffn: 256 } as const satisfies Partial<RunConfig>;

/** Probability that a demonstrator of the text model plays the right turn: high enough to learn from, but far below 1. */
export const TEXT_QUALITY = {
  'number-hunt': 0.3,
  'multi-hop': 0.5,
  'world-facts': 0.5,
  'document-search': 0.6,
  calculator: 0.5,
} as const satisfies Partial<Record<EnvName, number>>;

/** The recipe for imitating the demonstrators of all environments in `TEXT_QUALITY` at once. */
export const TEXT_RECIPE: Omit<WarmStartRecipe, 'quality'> = {
  ...{ steps: 1500, rows: 30, learningRate: 2e-3, warmUp: 100 },
  horizon: 2400, // more than `steps`, so that the rate hasn't fallen to its end when RL takes over
};
