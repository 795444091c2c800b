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
/** An environment that can be chosen by its name. */
export type OfferedEnv = (typeof ENV_NAMES)[number];
export type EnvName = OfferedEnv | typeof YOUR_ENVIRONMENT;

/** How an environment's demonstrations are imitated. */
export interface WarmStartRecipe {
  readonly steps: number;
  readonly rows?: number; // episodes in each step; default: the number of rows of the policy
  readonly quality: number; // probability that the demonstrator makes the right choice, at each of its choices
  readonly learningRate: number;
  readonly warmUp: number; // steps in which the rate rises from 0 to its full value; then it falls linearly to a tenth
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
  readonly prompt: string; // an example task as the agent reads it after <bos>, with default knobs
  readonly knobs: readonly (keyof TaskKnobs)[]; // the TaskKnobs that act in it
  readonly recipe: WarmStartRecipe; // how its demonstrations are imitated
  /**
   * The name of weights that imitated demonstrations. Two configurations have the same name if vocabulary and
   * demonstrations are the same.
   */
  readonly weights: (config: TaskKnobs) => string;
  readonly payoffDice?: true; // an action's reward is random, whatever the knobs are
  /** The number of tasks, if there are so few that training plays all of them. */
  readonly allTasks?: (config: TaskKnobs) => number;
  readonly text?: true; // it can be played in text
  readonly facts?: 'own' | `${string}.csv`; // the facts that it asks about: the person's own, or a shipped file
}

// knobs of every environment in which the agent calls a tool
const CALLS = ['failureRate', 'latency', 'maxTurns'] as const;
const GRAPH = [...CALLS, 'entities', 'relations', 'hops', 'oneHopShare', 'retriever', 'distractors'] as const;

// the demonstrator makes the right choice three times in ten; otherwise it makes a plausible one and often answers
// after half the search
const SEARCH: WarmStartRecipe = { steps: 300, quality: 0.3, learningRate: 3e-3, warmUp: 20 };
// few episodes in each step, because the agent only has to learn the form of a turn and where to look
const BRIEF = { rows: 32, learningRate: 5e-3, warmUp: 20 } as const;
const WALK: WarmStartRecipe = { ...BRIEF, steps: 300, quality: 0.6 };
// A task has only one turn, whose form is soon learned. The demonstrator is rarely right, so that something is left for
// RL to learn.
const GUESS: WarmStartRecipe = { ...BRIEF, steps: 200, quality: 0.1 };

// search tasks over graphs differ only in the size and shape of the graph
function graphTasks({ entities, relations, hops, distractors, retriever }: TaskKnobs): string {
  const noise = distractors > 0 ? `-noise${distractors}` : '';
  return `${entities}x${relations}-${hops}${noise}${retriever === 'agent' ? '' : `-rag-${retriever}`}`;
}
// weights with slot names fit any facts; weights with the entities' own names fit only the facts that they were trained
// on
function factTasks(env: EnvName): (config: TaskKnobs) => string {
  return (config) =>
    config.names === 'slots' ? `world-facts-${graphTasks(config)}` : `${env}-${graphTasks(config)}-own`;
}

/**
 * The table of all environments. Knobs, warm starts, evaluation and the names of weights are derived from it; the rules
 * of play are in src/envs. In number hunt and the searches, imitation teaches the form of a turn and how to read an
 * observation; the skill is left to RL.
 */
export const ENVIRONMENTS: Readonly<Record<EnvName, Environment>> = {
  // a demonstrated guess uses the last answer three times in ten and is random otherwise
  'number-hunt': {
    prompt: 'find',
    text: true,
    knobs: [...CALLS, 'range', 'distractors'],
    recipe: { ...SEARCH, steps: 200 },
    weights: ({ range }) => `number-hunt-${range}`,
    allTasks: ({ range }) => range,
  },
  'multi-hop': {
    prompt: 'question boss friend ivo ?',
    text: true,
    knobs: GRAPH,
    recipe: SEARCH,
    weights: (config) => `multi-hop-${graphTasks(config)}`,
  },
  'frozen-lake': {
    prompt: 'holes c2 c3 goal b1 at 1-down 3-left ice ice edge edge',
    knobs: [...CALLS, 'size', 'slip', 'ends', 'sight'],
    recipe: WALK,
    weights: ({ size, slip, ends, sight, maxTurns }) =>
      `frozen-lake-${size}-slip${slip}-turns${maxTurns}${ends === 'corners' ? '-corners' : ''}${sight === 'name' ? '-name' : ''}`,
  },
  sokoban: {
    prompt: 'walls a2 c2 d4 target d3 at a3 box 1-down same-column 2-down same-column',
    knobs: [...CALLS, 'size'],
    recipe: WALK,
    weights: ({ size, maxTurns }) => `sokoban-${size}-turns${maxTurns}`,
  },
  bandit: {
    prompt: 'choose pilot or gardener',
    knobs: [],
    recipe: GUESS,
    weights: () => 'bandit-arms',
    payoffDice: true,
    allTasks: () => 8,
  },
  'bandit-reversed': {
    prompt: 'choose gardener or pilot',
    knobs: [],
    recipe: GUESS,
    weights: () => 'bandit-reversed-arms',
    payoffDice: true,
    allTasks: () => 8,
  },
  calculator: {
    prompt: 'compute 2 9 + 3 8 - 3 9 ?',
    text: true,
    knobs: [...CALLS, 'hops'],
    recipe: { ...BRIEF, steps: 500, quality: 0.35 },
    weights: ({ hops }) => `calculator-${hops}`,
  },
  countdown: {
    prompt: 'make 3 0 from 1 7 5',
    knobs: ['hops'],
    recipe: GUESS,
    weights: ({ hops }) => `countdown-${hops + 1}`,
  },
  'document-search': {
    prompt: 'what is the capital of the country of name6 ?',
    text: true,
    knobs: [...CALLS, 'oneHopShare', 'topPassages', 'answerReward'],
    recipe: { ...SEARCH, steps: 400, quality: 0.6 },
    weights: ({ topPassages, maxTurns }) => `document-search-top${topPassages}-turns${maxTurns}`,
  },
  'world-facts': {
    prompt: 'question r0 r1 e6 ?',
    text: true,
    knobs: [...GRAPH, 'names'],
    recipe: SEARCH,
    weights: factTasks('world-facts'),
    facts: 'worlds/countries.csv',
  },
  'your-facts': {
    prompt: 'question r1 r2 e2 ?',
    text: true,
    knobs: [...GRAPH, 'names'],
    recipe: SEARCH,
    weights: factTasks('your-facts'),
    facts: 'own',
  },
  [YOUR_ENVIRONMENT]: {
    prompt: '',
    text: true,
    knobs: [], // the environment's class sets the number of turns
    recipe: { ...SEARCH, steps: 600, quality: 0.6 },
    weights: () => YOUR_ENVIRONMENT,
  },
};

/** The environments that list this knob as their own. Empty for a knob that acts in all environments. */
export function envsWith(knob: string): readonly EnvName[] {
  return ENV_NAMES.filter((env) => ENVIRONMENTS[env].knobs.some((own) => own === knob));
}

/** The environments that can be played in text. */
export const TEXT_ENVS: readonly EnvName[] = ENV_NAMES.filter((env) => ENVIRONMENTS[env].text);

/** Whether a knob has an effect in an environment. */
export function actsIn(knob: string, env: EnvName): boolean {
  const owners = envsWith(knob);
  return owners.length === 0 || owners.includes(env);
}
