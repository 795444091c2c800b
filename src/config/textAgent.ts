import type { EnvName, WarmStartRecipe } from './environments.ts';
import type { RunConfig } from './fields.ts';

/** The text model that ships, made by `npm run textmodel`: a Hugging Face folder under public/. */
export const TEXT_AGENT = 'models/agent';

/** Its sizes that differ from the defaults. With them an update of 64 rollouts takes about three seconds on one CPU core. */
export const TEXT_AGENT_SIZES = { layers: 3, width: 96, ffn: 256 } as const satisfies Partial<RunConfig>;

/** How often the demonstrators that it imitates play the right turn: often enough to learn from them, but far from always. */
export const TEXT_QUALITY = {
  'number-hunt': 0.3,
  'multi-hop': 0.5,
  'world-facts': 0.5,
  'document-search': 0.6,
  calculator: 0.5,
} as const satisfies Partial<Record<EnvName, number>>;

/** The recipe for imitating all of them at once. */
export const TEXT_RECIPE: Omit<WarmStartRecipe, 'quality'> = {
  ...{ steps: 1500, rows: 30, learningRate: 2e-3, warmUp: 100 },
  horizon: 2400, // reinforcement goes on from a model that still learns
};
