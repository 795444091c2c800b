/** The names of the built-in environments, in the order in which they are offered. */
export const ENV_NAMES = [
  'number-hunt',
  'multi-hop',
  'frozen-lake',
  'sokoban',
  'bandit',
  'bandit-reversed',
  'calculator',
  'countdown',
  'document-search',
  'world-facts',
  'your-facts',
] as const;
/** The name of an environment that a person wrote. It needs a file, so it can't be chosen by name alone. */
export const YOUR_ENVIRONMENT = 'your-environment';
export type OfferedEnv = (typeof ENV_NAMES)[number];
export type EnvName = OfferedEnv | typeof YOUR_ENVIRONMENT;

/** How an environment's demonstrations are imitated. */
export interface WarmStartRecipe {
  readonly steps: number;
  readonly rows?: number; // episodes in each step; default: the number of rows of the policy
  /** Probability that the demonstrator is right at each choice; in a person's environment, that it makes no mistake in a whole episode. */
  readonly quality: number;
  readonly learningRate: number;
  readonly warmUp: number; // steps in which the rate rises from 0 to its full value; then it falls linearly to a tenth
  readonly plateau?: number; // share of the horizon in which the rate doesn't fall yet; default: the warm-up only
  readonly batches?: number; // after so many steps the demonstrations repeat; default: never
  readonly horizon?: number; // the step at which the rate has fallen to a tenth; default: the last step
}

/** The knobs that act only in some environments. `src/config/fields.ts` defines them. */
export interface TaskKnobs {
  readonly range: number;
  readonly entities: number;
  readonly relations: number;
  readonly hops: number;
  readonly oneHopShare: number;
  readonly topPassages: number;
  readonly names: string;
  readonly retriever: string;
  readonly size: number;
  readonly slip: number;
  readonly ends: string;
  readonly sight: string;
  readonly failureRate: number;
  readonly latency: number;
  readonly distractors: number;
  readonly maxTurns: number;
  readonly answerReward: string;
}

/** The facts about an environment that are known without creating it. */
export interface Environment {
  readonly examplePrompt: string; // an example task as the agent reads it after <bos>, with default knobs
  readonly knobs: readonly (keyof TaskKnobs)[]; // the TaskKnobs that act in it
  readonly recipe: WarmStartRecipe; // how its demonstrations are imitated
  /** Two configurations have the same name if vocabulary and demonstrations are the same. */
  readonly weightsName: (config: TaskKnobs) => string;
  readonly hasRandomPayoffs?: true; // an action's reward is random, whatever the knobs are
  /** The number of tasks, if there are so few that training plays all of them and none is held out. */
  readonly countIfAllPlayed?: (config: TaskKnobs) => number;
  readonly hasRightAnswer?: true; // one known turn is right, and there are turns before it (`informationReward`)
  readonly text?: true; // it can be played in text
  readonly facts?: 'own' | `${string}.csv`; // the facts that it asks about: a person's own file, or a shipped file
}

// knobs of every environment in which the agent calls a tool
const CALL_KNOBS = ['failureRate', 'latency', 'maxTurns'] as const;
const GRAPH_KNOBS = [
  ...CALL_KNOBS,
  'entities',
  'relations',
  'hops',
  'oneHopShare',
  'retriever',
  'distractors',
] as const;

// The demonstrator makes the right choice three times in ten. Otherwise it makes a plausible one and often answers after half the search.
const SEARCH_RECIPE: WarmStartRecipe = { steps: 300, quality: 0.3, learningRate: 3e-3, warmUp: 20 };
// An imitation step has few episodes, because the agent only has to learn the form of a turn and where to look.
const BRIEF_RECIPE = { rows: 32, learningRate: 5e-3, warmUp: 20 } as const;
const WALK_RECIPE: WarmStartRecipe = { ...BRIEF_RECIPE, steps: 300, quality: 0.6 };
// A task has only one turn, whose form is soon learned. The demonstrator is rarely right, so that something is left for RL to learn.
const GUESS_RECIPE: WarmStartRecipe = { ...BRIEF_RECIPE, steps: 200, quality: 0.1 };

/** The share of imitation after which the learning rate falls, in an environment that a person wrote. */
export const PLATEAU = 0.8;

// The part of the weights' name for tasks over graphs, which differ in the size and shape of the graph, in noise and in the retriever.
function graphTasksName({ entities, relations, hops, distractors, retriever }: TaskKnobs): string {
  const noise = distractors > 0 ? `-noise${distractors}` : '';
  return `${entities}x${relations}-${hops}${noise}${retriever === 'agent' ? '' : `-rag-${retriever}`}`;
}
// weights with slot names fit any facts; weights with the entities' own names fit only the facts that they were trained on
function factWeightsName(env: EnvName): (config: TaskKnobs) => string {
  return (config) =>
    config.names === 'slots' ? `world-facts-${graphTasksName(config)}` : `${env}-${graphTasksName(config)}-own`;
}

/**
 * The table of all environments. Knobs, warm starts, evaluation and the names of weights are derived from it; the rules
 * of play are in src/envs. In number hunt and the searches, imitation teaches the form of a turn and how to read an
 * observation; the skill is left to RL.
 */
export const ENVIRONMENTS: Readonly<Record<EnvName, Environment>> = {
  // a demonstrated guess uses the last answer three times in ten and is random otherwise
  'number-hunt': {
    examplePrompt: 'find',
    hasRightAnswer: true,
    text: true,
    knobs: [...CALL_KNOBS, 'range', 'distractors'],
    recipe: { ...SEARCH_RECIPE, steps: 200 },
    weightsName: ({ range }) => `number-hunt-${range}`,
    countIfAllPlayed: ({ range }) => range,
  },
  'multi-hop': {
    examplePrompt: 'question boss friend ivo ?',
    hasRightAnswer: true,
    text: true,
    knobs: GRAPH_KNOBS,
    recipe: SEARCH_RECIPE,
    weightsName: (config) => `multi-hop-${graphTasksName(config)}`,
  },
  'frozen-lake': {
    examplePrompt: 'holes c2 c3 goal b1 at 1-down 3-left ice ice edge edge',
    knobs: [...CALL_KNOBS, 'size', 'slip', 'ends', 'sight'],
    recipe: WALK_RECIPE,
    weightsName: ({ size, slip, ends, sight, maxTurns }) =>
      `frozen-lake-${size}-slip${slip}-turns${maxTurns}${ends === 'corners' ? '-corners' : ''}${sight === 'name' ? '-name' : ''}`,
  },
  sokoban: {
    examplePrompt: 'walls a2 c2 d4 target d3 at a3 box 1-down same-column 2-down same-column',
    knobs: [...CALL_KNOBS, 'size'],
    recipe: WALK_RECIPE,
    weightsName: ({ size, maxTurns }) => `sokoban-${size}-turns${maxTurns}`,
  },
  bandit: {
    examplePrompt: 'choose pilot or gardener',
    knobs: [],
    recipe: GUESS_RECIPE,
    weightsName: () => 'bandit-arms',
    hasRandomPayoffs: true,
    countIfAllPlayed: () => 8,
  },
  'bandit-reversed': {
    examplePrompt: 'choose gardener or pilot',
    knobs: [],
    recipe: GUESS_RECIPE,
    weightsName: () => 'bandit-reversed-arms',
    hasRandomPayoffs: true,
    countIfAllPlayed: () => 8,
  },
  calculator: {
    examplePrompt: 'compute 2 9 + 3 8 - 3 9 ?',
    hasRightAnswer: true,
    text: true,
    knobs: [...CALL_KNOBS, 'hops'],
    recipe: { ...BRIEF_RECIPE, steps: 500, quality: 0.35 },
    weightsName: ({ hops }) => `calculator-${hops}`,
  },
  countdown: {
    examplePrompt: 'make 3 0 from 1 7 5',
    knobs: ['hops'],
    recipe: GUESS_RECIPE,
    weightsName: ({ hops }) => `countdown-${hops + 1}`,
  },
  'document-search': {
    examplePrompt: 'what is the capital of the country of name6 ?',
    hasRightAnswer: true,
    text: true,
    knobs: [...CALL_KNOBS, 'oneHopShare', 'topPassages', 'answerReward'],
    recipe: { ...SEARCH_RECIPE, steps: 400, quality: 0.6 },
    weightsName: ({ topPassages, maxTurns }) => `document-search-top${topPassages}-turns${maxTurns}`,
  },
  'world-facts': {
    examplePrompt: 'question r0 r1 e6 ?',
    hasRightAnswer: true,
    text: true,
    knobs: [...GRAPH_KNOBS, 'names'],
    recipe: SEARCH_RECIPE,
    weightsName: factWeightsName('world-facts'),
    facts: 'worlds/countries.csv',
  },
  'your-facts': {
    examplePrompt: 'question r1 r2 e2 ?',
    hasRightAnswer: true,
    text: true,
    knobs: [...GRAPH_KNOBS, 'names'],
    recipe: SEARCH_RECIPE,
    weightsName: factWeightsName('your-facts'),
    facts: 'own',
  },
  [YOUR_ENVIRONMENT]: {
    examplePrompt: '',
    text: true,
    knobs: [], // the environment's class sets the number of turns
    // Small batches, because the demonstrations take most of the time. The rate falls late, because the number of steps
    // is chosen while the agent imitates (imitationPlan.ts).
    recipe: { ...SEARCH_RECIPE, steps: 600, rows: 64, quality: 0.4, plateau: PLATEAU },
    weightsName: () => YOUR_ENVIRONMENT,
  },
};

/** The environments that list this knob as their own. Empty for a knob that acts in all environments. */
export function envsWith(knob: string): readonly EnvName[] {
  return ENV_NAMES.filter((env) => ENVIRONMENTS[env].knobs.some((own) => own === knob));
}

export const RIGHT_ANSWER_ENVS: readonly EnvName[] = ENV_NAMES.filter((env) => ENVIRONMENTS[env].hasRightAnswer);

/** The environments that can be played in text. */
export const TEXT_ENVS: readonly EnvName[] = ENV_NAMES.filter((env) => ENVIRONMENTS[env].text);

export function actsIn(knob: string, env: EnvName): boolean {
  const environments = envsWith(knob);
  return environments.length === 0 || environments.includes(env);
}
