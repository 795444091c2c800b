import { type EnvName, ENVIRONMENTS, type WarmStartRecipe } from './environments.ts';
import type { RunConfig } from './fields.ts';
import { TEXT_QUALITY, TEXT_RECIPE } from './textAgent.ts';

// Few and small steps for the adapters of a checkpoint. Its weights can already write, so imitation only shows the form
// of calls and answers.
const ADAPTER_STEPS = { steps: 60, rows: 3, learningRate: 1e-3, warmUp: 5 } as const;

type ImitationKnobs = Pick<
  RunConfig,
  'env' | 'language' | 'model' | 'warmStart' | 'imitationSteps' | 'imitationHorizon' | 'demonstrator'
>;

/** The number of optimizer steps of a whole run, including its warm start, shipped or trained. */
export function totalOptimizerSteps(
  config: ImitationKnobs & Pick<RunConfig, 'updates' | 'epochs' | 'minibatches'>,
): number {
  const { warmStart, updates, epochs, minibatches } = config;
  return (warmStart === 'none' ? 0 : warmStartRecipe(config).steps) + updates * epochs * minibatches;
}

/**
 * The imitation recipe of a configuration. It is the environment's, with smaller steps for adapters of a checkpoint.
 * With `train` the configuration sets the steps and the demonstrator. `continued` goes on with the recipe of the
 * shipped weights, from its last learning rate.
 */
export function warmStartRecipe(config: ImitationKnobs): WarmStartRecipe {
  const { env, model, imitationSteps: steps, imitationHorizon, demonstrator, warmStart } = config;
  const recipe = { ...ENVIRONMENTS[env].recipe, ...(model === 'checkpoint' && ADAPTER_STEPS) };
  if (warmStart !== 'train' && warmStart !== 'continued') return recipe;
  const horizon = imitationHorizon || steps;
  const chosenSteps = { steps, warmUp: Math.min(recipe.warmUp, horizon), horizon };
  return {
    ...(warmStart === 'train' ? { ...recipe, ...(steps > 0 && chosenSteps) } : continuedRecipe(config, recipe)),
    ...(demonstrator === 'expert' && { quality: 1 }),
  };
}

/**
 * The recipe for training the shipped weights further. It begins at the learning rate that their recipe ended with. It
 * has a warm-up because the optimizer's state isn't shipped.
 */
function continuedRecipe(
  { env, language, model, imitationSteps: steps, imitationHorizon }: ImitationKnobs,
  recipe: WarmStartRecipe,
): WarmStartRecipe {
  const qualities: Readonly<Partial<Record<EnvName, number>>> = TEXT_QUALITY;
  const isTextAgent = model === 'sizes' && language === 'text';
  const shippedRecipe = isTextAgent ? { ...TEXT_RECIPE, quality: qualities[env] ?? recipe.quality } : recipe;
  const horizon = imitationHorizon || steps;
  const chosenSteps = { steps, warmUp: Math.ceil(horizon / 10), horizon };
  return {
    ...shippedRecipe,
    learningRate: learningRateAt(shippedRecipe, shippedRecipe.steps),
    ...(steps > 0 && chosenSteps),
  };
}

/** The knobs with which a run imitates fewer steps. */
export type ShorterImitation = Pick<RunConfig, 'warmStart' | 'imitationSteps' | 'imitationHorizon'>;

/**
 * The knobs with which imitation ends as soon as possible after step `done`, and takes the same steps until then: the
 * learning rates are equal. Null if no such knobs exist, as when a recipe of shipped weights is continued.
 */
export function shorterImitation(config: ImitationKnobs, done: number): ShorterImitation | null {
  const recipe = warmStartRecipe(config);
  const { steps, horizon = steps } = recipe;
  const warmStart = config.warmStart === 'shipped' ? 'train' : config.warmStart; // no shipped file fits, if it imitates
  const knobs = { warmStart, imitationSteps: Math.max(1, done), imitationHorizon: horizon };
  if (knobs.imitationSteps >= steps) return null;
  const shorter = warmStartRecipe({ ...config, ...knobs });
  const isEqual = (name: 'learningRate' | 'warmUp' | 'horizon') => shorter[name] === { ...recipe, horizon }[name];
  return isEqual('learningRate') && isEqual('warmUp') && isEqual('horizon') ? knobs : null;
}

/** The learning rate of a step. Steps are counted from 0. */
export function learningRateAt(
  { learningRate, warmUp, steps, horizon = steps }: WarmStartRecipe,
  step: number,
): number {
  if (step < warmUp) return (learningRate * (step + 1)) / warmUp;
  return learningRate * (1 - (0.9 * (step - warmUp)) / Math.max(1, horizon - warmUp));
}
