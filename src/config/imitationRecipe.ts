import { TEXT_QUALITY, TEXT_RECIPE } from './textAgent.ts';
import { type EnvName, ENVIRONMENTS, type WarmStartRecipe, YOUR_ENVIRONMENT } from './environments.ts';
import { DEFAULTS, type FieldName, type RunConfig, knobText } from './fields.ts';

// Few and small steps for the adapters of a checkpoint. Its weights can already write, so imitation only shows the form
// of calls and answers.
const ADAPTER_STEPS = { steps: 60, rows: 3, learningRate: 1e-3, warmUp: 5, plateau: 0 } as const;

/** More steps than the time limit of a chosen number of steps allows (`imitationPlan.ts`). */
const MAX_CHOSEN_STEPS = 8000;

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

/** Demonstrations in all steps of the run's own imitation, those that repeat counted each time. */
export function imitatedRows(config: ImitationKnobs & Pick<RunConfig, 'prompts' | 'groupSize'>): number {
  if (config.warmStart === 'none') return 0;
  const { steps, rows = Infinity } = warmStartRecipe(config);
  return steps * Math.min(rows, config.prompts * config.groupSize);
}

/** Whether the run chooses by itself how long it imitates: in a person's environment, unless a number of steps is set. */
export function choosesSteps({ env, language, model, warmStart, imitationSteps }: ImitationKnobs): boolean {
  const isOwn = env === YOUR_ENVIRONMENT && language === 'words' && model === 'sizes';
  return isOwn && warmStart !== 'continued' && warmStart !== 'none' && imitationSteps === 0;
}

/**
 * The imitation recipe of a configuration. It is the environment's, with smaller steps for adapters of a checkpoint.
 * With `train` the configuration sets the steps and the demonstrator. `continued` goes on with the recipe of the
 * shipped weights, from its last learning rate.
 */
export function warmStartRecipe(config: ImitationKnobs): WarmStartRecipe {
  const { env, model, imitationSteps: steps, imitationHorizon, demonstrator, warmStart } = config;
  const recipe = {
    ...ENVIRONMENTS[env].recipe,
    ...(model === 'checkpoint' && ADAPTER_STEPS),
    ...(choosesSteps(config) && { steps: MAX_CHOSEN_STEPS }),
  };
  if (warmStart !== 'train' && warmStart !== 'continued') return recipe;
  const horizon = imitationHorizon || steps;
  const chosenSteps = { steps, warmUp: Math.min(recipe.warmUp, horizon), horizon };
  return {
    ...(warmStart === 'train' ? { ...recipe, ...(steps > 0 && chosenSteps) } : continuedRecipe(config, recipe)),
    ...(demonstrator === 'expert' && { quality: 1 }),
  };
}

/** Begins at the learning rate that the weights' own recipe ended with. Warms up because the optimizer's state isn't shipped. */
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

/** The sizes of the model with which imitation starts again if the default sizes learn too little. */
export const LARGER_SIZES = { width: 64, layers: 4 } as const satisfies Partial<RunConfig>;

/** Whether the model has the default sizes, so that imitation may start again with a larger one. */
export const canGrow = (config: Pick<RunConfig, (typeof SIZE_KNOBS)[number]>): boolean =>
  SIZE_KNOBS.every((name) => config[name] === DEFAULTS[name]);
const SIZE_KNOBS = ['width', 'layers', 'heads', 'kvHeads', 'ffn'] as const;

/** The knobs that a run in imitation changes by itself: the run with these knobs from its start is the same run. */
export type ChosenKnobs = ShorterImitation | typeof LARGER_SIZES;

/** The knobs with which a run imitates fewer steps, or the number that it chose. */
export type ShorterImitation = Pick<RunConfig, 'warmStart' | 'imitationSteps' | 'imitationHorizon'>;

/**
 * The knobs with which imitation ends as soon as possible after step `done`, and takes the same steps until then: the
 * learning rates are equal. Null if no such knobs exist, as when a recipe of shipped weights is continued.
 */
export function shorterImitation(config: ImitationKnobs, done: number): ShorterImitation | null {
  const recipe = warmStartRecipe(config);
  const { steps, horizon = steps } = recipe;
  const knobs = { warmStart: ownWarmStart(config), imitationSteps: Math.max(1, done), imitationHorizon: horizon };
  if (knobs.imitationSteps >= steps) return null;
  const shorter = warmStartRecipe({ ...config, ...knobs });
  const isEqual = (name: 'learningRate' | 'warmUp' | 'horizon') => shorter[name] === { ...recipe, horizon }[name];
  return isEqual('learningRate') && isEqual('warmUp') && isEqual('horizon') ? knobs : null;
}

/** The knobs of a run that imitates this many steps. */
export function imitationOf(config: ImitationKnobs, steps: number): ShorterImitation {
  return { warmStart: ownWarmStart(config), imitationSteps: steps, imitationHorizon: 0 };
}

// a run that imitates has found no shipped file that fits
const ownWarmStart = ({ warmStart }: ImitationKnobs) => (warmStart === 'shipped' ? 'train' : warmStart);

/** The learning rate of a step. Steps are counted from 0. */
export function learningRateAt(
  { learningRate, warmUp, steps, horizon = steps, plateau = 0 }: WarmStartRecipe,
  step: number,
): number {
  if (step < warmUp) return (learningRate * (step + 1)) / warmUp;
  const fallsFrom = Math.max(warmUp, plateau * horizon);
  return learningRate * (1 - (0.9 * Math.max(0, step - fallsFrom)) / Math.max(1, horizon - fallsFrom));
}

/** The value of a knob, as text. A number of imitation steps that is left to the recipe is the recipe's: “600 (recipe)”. */
export function knobValueText(name: FieldName, config: RunConfig): string {
  const isRecipe = name === 'imitationSteps' && config.imitationSteps === 0 && config.warmStart !== 'none';
  if (isRecipe) return `${warmStartRecipe(config).steps} (recipe)`;
  return name === 'imitationHorizon' && config.imitationHorizon === 0 ? 'as steps' : knobText(config[name]);
}
