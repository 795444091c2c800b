import { ENVIRONMENTS, type WarmStartRecipe } from './environments.ts';
import type { RunConfig } from './fields.ts';

// Small steps beside weights that speak already: what is shown is the form of a call and of an answer.
const ADAPTERS = { steps: 60, rows: 4, learningRate: 1e-3, warmUp: 5 } as const;

type Imitated = Pick<RunConfig, 'env' | 'model' | 'warmStart' | 'imitationSteps' | 'demonstrator'>;

/** Optimizer steps of a whole run: those of its warm start, shipped or trained, and those of its updates. */
export function stepsAlike(config: Imitated & Pick<RunConfig, 'updates' | 'epochs' | 'minibatches'>): number {
  const { warmStart, updates, epochs, minibatches } = config;
  return (warmStart === 'none' ? 0 : warmStartRecipe(config).steps) + updates * epochs * minibatches;
}

/** The recipe a configuration asks for: its environment's, in the small steps of adapters where a checkpoint is adapted; where it says `train`, with the steps and the demonstrator it names. */
export function warmStartRecipe(config: Imitated): WarmStartRecipe {
  const { env, model, imitationSteps, demonstrator } = config;
  const recipe = { ...ENVIRONMENTS[env].recipe, ...(model === 'checkpoint' && ADAPTERS) };
  if (config.warmStart !== 'train') return recipe;
  return {
    ...recipe,
    ...(imitationSteps > 0 && { steps: imitationSteps, warmUp: Math.min(recipe.warmUp, imitationSteps) }),
    ...(demonstrator === 'expert' && { quality: 1 }),
  };
}
