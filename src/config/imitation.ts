import type { RunConfig } from './fields.ts';

/** How an environment's demonstrations are imitated. */
export interface WarmStartRecipe {
  readonly steps: number;
  readonly rows?: number; // episodes a step; without it as many as the policy has rows
  readonly quality: number; // probability that the demonstrator does the right thing at each choice
  readonly learningRate: number;
  readonly warmUp: number; // steps from 0 to the full rate; then linearly down to a tenth
}

// Means well three times in ten, else picks what is at hand, and tends to answer after half the search.
const SEARCH: WarmStartRecipe = { steps: 300, quality: 0.3, learningRate: 3e-3, warmUp: 20 };
// Small steps: what has to be learned is the form, and where to look.
const BRIEF = { rows: 32, learningRate: 5e-3, warmUp: 20 } as const;
const WALK: WarmStartRecipe = { ...BRIEF, steps: 300, quality: 0.6 };
// One turn: its form is soon learned, and a demonstrator who knew the answer would leave nothing to find.
const GUESS: WarmStartRecipe = { ...BRIEF, steps: 200, quality: 0.1 };

/**
 * Recipes by environment. Number hunt: guesses that heed the last answer three times in ten and are random else. It and
 * the searches teach the form of a turn and how to read an observation, and leave the skill to reinforcement.
 */
export const WARM_STARTS: Readonly<Record<RunConfig['env'], WarmStartRecipe>> = {
  'number-hunt': { steps: 200, quality: 0.3, learningRate: 3e-3, warmUp: 20 },
  'multi-hop': SEARCH,
  'world-facts': SEARCH,
  'your-facts': SEARCH,
  'frozen-lake': WALK,
  sokoban: WALK,
  bandit: GUESS,
  'bandit-reversed': GUESS,
  calculator: { ...BRIEF, steps: 500, quality: 0.35 },
  countdown: GUESS,
  'document-search': { steps: 400, quality: 0.6, learningRate: 3e-3, warmUp: 20 },
};

/** Optimizer steps of a whole run: those of its warm start, shipped or trained, and those of its updates. */
export function stepsAlike(
  config: Pick<RunConfig, 'env' | 'warmStart' | 'updates' | 'epochs' | 'minibatches'>,
): number {
  const { env, warmStart, updates, epochs, minibatches } = config;
  return (warmStart === 'none' ? 0 : WARM_STARTS[env].steps) + updates * epochs * minibatches;
}

/** The recipe a configuration asks for: its environment's; where it says `train`, with the steps and the demonstrator it names. */
export function warmStartRecipe(
  config: Pick<RunConfig, 'env' | 'warmStart' | 'imitationSteps' | 'demonstrator'>,
): WarmStartRecipe {
  const { env, imitationSteps, demonstrator } = config;
  const recipe = WARM_STARTS[env];
  if (config.warmStart !== 'train') return recipe;
  return {
    ...recipe,
    ...(imitationSteps > 0 && { steps: imitationSteps, warmUp: Math.min(recipe.warmUp, imitationSteps) }),
    ...(demonstrator === 'expert' && { quality: 1 }),
  };
}
