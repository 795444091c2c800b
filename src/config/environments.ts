/** The environments there are, in the order in which they are offered. */
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
/** An environment that a person wrote: it comes with a file, so it is offered nowhere by its name. */
export const YOUR_ENVIRONMENT = 'your-environment';
/** An environment that is offered by its name. */
export type OfferedEnv = (typeof ENV_NAMES)[number];
export type EnvName = OfferedEnv | typeof YOUR_ENVIRONMENT;

/** How an environment's demonstrations are imitated. */
export interface WarmStartRecipe {
  readonly steps: number;
  readonly rows?: number; // episodes a step; without it as many as the policy has rows
  readonly quality: number; // probability that the demonstrator does the right thing at each choice
  readonly learningRate: number;
  readonly warmUp: number; // steps from 0 to the full rate; then linearly down to a tenth
  readonly horizon?: number; // steps until it is a tenth, where they are more than are taken
}

/** The knobs that act in some environments only; `src/config/fields.ts` has all that is known of each. */
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

/** What is known of an environment without making it. */
export interface Environment {
  readonly prompt: string; // a task as the agent reads it, after <bos>, with the knobs at their defaults
  readonly knobs: readonly (keyof TaskKnobs)[]; // which act in it, of those that do not act in all
  readonly recipe: WarmStartRecipe; // how its demonstrations are imitated
  /** Names the words and the demonstrations that weights were imitated from: equal where they are the same. */
  readonly weights: (config: TaskKnobs) => string;
  readonly payoffDice?: true; // what an action pays is drawn, whatever the knobs say
  readonly allTasks?: (config: TaskKnobs) => number; // how many there are, where training plays every one of them
  readonly text?: true; // it can be played in text
  readonly facts?: 'own' | `${string}.csv`; // it asks about a person's own, or those in a shipped file
}

// What every environment with a tool to call has.
const CALLS = ['failureRate', 'latency', 'maxTurns'] as const;
const GRAPH = [...CALLS, 'entities', 'relations', 'hops', 'oneHopShare', 'retriever', 'distractors'] as const;

// Means well three times in ten, else picks what is at hand, and tends to answer after half the search.
const SEARCH: WarmStartRecipe = { steps: 300, quality: 0.3, learningRate: 3e-3, warmUp: 20 };
// Small steps: what has to be learned is the form, and where to look.
const BRIEF = { rows: 32, learningRate: 5e-3, warmUp: 20 } as const;
const WALK: WarmStartRecipe = { ...BRIEF, steps: 300, quality: 0.6 };
// One turn: its form is soon learned, and a demonstrator who knew the answer would leave nothing to find.
const GUESS: WarmStartRecipe = { ...BRIEF, steps: 200, quality: 0.1 };

// Searches over graphs differ in their shape alone.
function graphTasks({ entities, relations, hops, distractors, retriever }: TaskKnobs): string {
  const noise = distractors > 0 ? `-noise${distractors}` : '';
  return `${entities}x${relations}-${hops}${noise}${retriever === 'agent' ? '' : `-rag-${retriever}`}`;
}
// Slot words fit any facts; words of their own fit those they were made for.
function factTasks(env: EnvName): (config: TaskKnobs) => string {
  return (config) =>
    config.names === 'slots' ? `world-facts-${graphTasks(config)}` : `${env}-${graphTasks(config)}-own`;
}

/**
 * Every environment: knobs, warm starts, what is evaluated and the names of weights derive from it; how it is played is in src/envs.
 * Number hunt and the searches imitate the form of a turn and how to read an observation, and leave the skill to reinforcement.
 */
export const ENVIRONMENTS: Readonly<Record<EnvName, Environment>> = {
  // guesses that heed the last answer three times in ten and are random else
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
    knobs: [], // its class says how many turns there are
    recipe: { ...SEARCH, steps: 600, quality: 0.6 },
    weights: () => YOUR_ENVIRONMENT,
  },
};

/** The environments that say that a knob acts in them; none where it acts in all. */
export function envsWith(knob: string): readonly EnvName[] {
  return ENV_NAMES.filter((env) => ENVIRONMENTS[env].knobs.some((own) => own === knob));
}

/** The environments that can be played in text. */
export const TEXT_ENVS: readonly EnvName[] = ENV_NAMES.filter((env) => ENVIRONMENTS[env].text);

/** Whether a knob has a say in an environment. */
export function actsIn(knob: string, env: EnvName): boolean {
  const some = envsWith(knob);
  return some.length === 0 || some.includes(env);
}
