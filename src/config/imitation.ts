import { ENVIRONMENTS, type WarmStartRecipe } from './environments.ts';
import type { RunConfig } from './fields.ts';

/** Optimizer steps of a whole run: those of its warm start, shipped or trained, and those of its updates. */
export function stepsAlike(
  config: Pick<RunConfig, 'env' | 'warmStart' | 'updates' | 'epochs' | 'minibatches'>,
): number {
  const { env, warmStart, updates, epochs, minibatches } = config;
  return (warmStart === 'none' ? 0 : ENVIRONMENTS[env].recipe.steps) + updates * epochs * minibatches;
}

/** The recipe a configuration asks for: its environment's; where it says `train`, with the steps and the demonstrator it names. */
export function warmStartRecipe(
  config: Pick<RunConfig, 'env' | 'warmStart' | 'imitationSteps' | 'demonstrator'>,
): WarmStartRecipe {
  const { env, imitationSteps, demonstrator } = config;
  const { recipe } = ENVIRONMENTS[env];
  if (config.warmStart !== 'train') return recipe;
  return {
    ...recipe,
    ...(imitationSteps > 0 && { steps: imitationSteps, warmUp: Math.min(recipe.warmUp, imitationSteps) }),
    ...(demonstrator === 'expert' && { quality: 1 }),
  };
}
