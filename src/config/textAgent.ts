import type { EnvName, WarmStartRecipe } from './environments.ts';
import type { RunConfig } from './fields.ts';

/** The text model that is shipped, made by `npm run textmodel`: a folder of Hugging Face's under public/. */
export const TEXT_AGENT = 'models/agent';

/** Its sizes where they are not the defaults: what an update of 64 rollouts takes some three seconds for on one CPU core. */
export const TEXT_AGENT_SIZES = { layers: 3, width: 96, ffn: 256 } as const satisfies Partial<RunConfig>;

/** How well the demonstrators play that it imitates: well enough that what is right can be told from what is not, and far from well. */
export const TEXT_QUALITY = {
  'number-hunt': 0.3,
  'multi-hop': 0.5,
  'world-facts': 0.5,
  'document-search': 0.6,
  calculator: 0.5,
} as const satisfies Partial<Record<EnvName, number>>;

/** How it imitates them, all at once. */
export const TEXT_RECIPE: Omit<WarmStartRecipe, 'quality'> = {
  ...{ steps: 1500, rows: 30, learningRate: 2e-3, warmUp: 100 },
  horizon: 2400, // reinforcement goes on from a model that still learns
};
