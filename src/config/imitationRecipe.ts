import { type EnvName, ENVIRONMENTS, type WarmStartRecipe } from './environments.ts';
import type { RunConfig } from './fields.ts';
import { TEXT_QUALITY, TEXT_RECIPE } from './textAgent.ts';

// Small steps beside weights that speak already: what is shown is the form of a call and of an answer.
const ADAPTERS = { steps: 60, rows: 3, learningRate: 1e-3, warmUp: 5 } as const;

type Imitated = Pick<RunConfig, 'env' | 'language' | 'model' | 'warmStart' | 'imitationSteps' | 'demonstrator'>;

/** Optimizer steps of a whole run: those of its warm start, shipped or trained, and those of its updates. */
export function stepsAlike(config: Imitated & Pick<RunConfig, 'updates' | 'epochs' | 'minibatches'>): number {
  const { warmStart, updates, epochs, minibatches } = config;
  return (warmStart === 'none' ? 0 : warmStartRecipe(config).steps) + updates * epochs * minibatches;
}

/**
 * The recipe a configuration asks for: its environment's, in the small steps of adapters where a checkpoint is adapted; where it says `train`,
 * with the steps and the demonstrator it names. `continued` goes on with what shipped weights were made by, from the rate at which that ended.
 */
export function warmStartRecipe(config: Imitated): WarmStartRecipe {
  const { env, model, imitationSteps, demonstrator, warmStart } = config;
  const recipe = { ...ENVIRONMENTS[env].recipe, ...(model === 'checkpoint' && ADAPTERS) };
  if (warmStart !== 'train' && warmStart !== 'continued') return recipe;
  const more = { steps: imitationSteps, warmUp: Math.min(recipe.warmUp, imitationSteps) };
  return {
    ...(warmStart === 'train' ? { ...recipe, ...(imitationSteps > 0 && more) } : goneOn(config, recipe)),
    ...(demonstrator === 'expert' && { quality: 1 }),
  };
}

/** What shipped weights were made by, from where it ended; it begins gently, for the optimizer's state is not shipped. */
function goneOn({ env, language, model, imitationSteps: steps }: Imitated, recipe: WarmStartRecipe): WarmStartRecipe {
  const qualities: Readonly<Partial<Record<EnvName, number>>> = TEXT_QUALITY;
  const shipped = model === 'sizes' && language === 'text';
  const made = shipped ? { ...TEXT_RECIPE, quality: qualities[env] ?? recipe.quality } : recipe;
  const more = { steps, warmUp: Math.ceil(steps / 10), horizon: steps };
  return { ...made, learningRate: rateAt(made, made.steps), ...(steps > 0 && more) };
}

/** The learning rate of a step, from 0. */
export function rateAt({ learningRate, warmUp, steps, horizon = steps }: WarmStartRecipe, step: number): number {
  if (step < warmUp) return (learningRate * (step + 1)) / warmUp;
  return learningRate * (1 - (0.9 * (step - warmUp)) / Math.max(1, horizon - warmUp));
}
