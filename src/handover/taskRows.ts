import { type RunConfig, pickKnobs } from '../config/fields.ts';
import { ENV_KNOBS, NO_REWARD_SETTINGS, type EpisodeSeeds, type Reset, type ToolEnv } from '../envs/env.ts';
import { envSettings } from '../envs/index.ts';
import type { Facts } from '../facts/facts.ts';
import { evaluatedReset } from '../rl/evaluatedTasks.ts';
import { LIMITS, type SandboxLimits } from '../written/script/sandbox.ts';
import type { RunRules } from './machine/wordEpisodes.ts';

/** The name of the agent loop that plays the rows. */
export const AGENT_LOOP = 'rollout_playground';

/** Limits for a built-in environment, whose program is this project's: it reads a corpus and draws rooms. */
const BUILT_IN_LIMITS: SandboxLimits = { ...LIMITS, work: 100 * LIMITS.work, memoryBytes: 256e6 };

/** The contents of a run's `machine/environment.json`: what the rules read, and what the frameworks' files need. */
export interface Rules extends RunRules {
  readonly name: string;
  readonly description: string;
  readonly tool: { readonly name: string; readonly description: string };
  readonly randomness: RunConfig['randomness'];
  readonly maxTokens: number; // of an episode, including its prompt
  readonly maxTurnTokens: number; // a turn without its closing tag is cut here and counts as malformed
  readonly limits: SandboxLimits;
  readonly lines: 0; // of environment.ts, which this folder lacks
}

/** The data that all rows share, as plain JSON. */
export function rulesOf(env: ToolEnv, config: RunConfig, facts: Facts | null): Rules {
  const { name, description, tools, maxTokens, maxTurnTokens } = env;
  const [tool = { name: 'turn', description }] = tools; // some environments only take an answer
  return {
    ...{ name, description, maxTokens, maxTurnTokens },
    tool: { name: tool.name, description: tool.description },
    randomness: config.randomness,
    settings: pickKnobs(config, ENV_KNOBS),
    ...{ limits: BUILT_IN_LIMITS, lines: 0, config, facts },
  };
}

/** A row with verl's columns. TRL reads only `prompt` and `extra_info`. */
export interface TaskRow {
  readonly data_source: string;
  readonly prompt: readonly { readonly role: 'user'; readonly content: string }[];
  readonly agent_name: typeof AGENT_LOOP;
  readonly ability: string;
  readonly reward_model: { readonly style: 'rule'; readonly ground_truth: string };
  readonly extra_info: {
    readonly split: 'train' | 'val';
    readonly index: number;
    readonly seed: number; // gives the same task as on the page
    /** Seeds the environment's randomness in evaluation, and in training if `randomness` is `group`. */
    readonly environment_seed: number;
    readonly need_tools_kwargs: false;
  };
}

/** The contents of a handed-over folder, from which the files of both engines are made. */
export interface RunFolder {
  readonly config: RunConfig;
  readonly rules: Rules;
  readonly train: readonly TaskRow[];
  readonly val: readonly TaskRow[];
  readonly longestPrompt: number; // in tokens, including <bos>
  readonly name: string; // of the run
  readonly update: number; // of the checkpoint
  readonly example: string; // the expert's first turn in the first task
}

export function taskRows(
  { env, config }: { readonly env: ToolEnv; readonly config: RunConfig },
  split: 'train' | 'val',
  seeds: readonly EpisodeSeeds[],
): readonly TaskRow[] {
  const settings = envSettings(config);
  const begin = split === 'train' ? env.reset : evaluatedReset(env);
  return seeds.map(({ seed, environmentSeed }, index) => {
    const [, ...prompt] = begin(seed, settings, environmentSeed).prompt.map((id) => env.vocabulary[id] ?? ''); // the chat template begins with <bos>
    return {
      data_source: `rollout-playground/${env.name}`,
      prompt: [{ role: 'user', content: prompt.join(' ') }],
      agent_name: AGENT_LOOP,
      ability: env.name,
      reward_model: { style: 'rule', ground_truth: groundTruth(env, begin, seed, config) },
      extra_info: { split, index, seed, environment_seed: environmentSeed, need_tools_kwargs: false },
    };
  });
}

/** The right answer to a task: the words of the expert's last turn, with names in place of slots. */
function groundTruth(env: ToolEnv, begin: Reset, seed: number, { oneHopShare }: RunConfig): string {
  const settings = { ...NO_REWARD_SETTINGS, oneHopShare }; // no tool fails
  const episode = begin(seed, settings);
  let turn = episode.expert();
  while (episode.step(turn, settings).stop === null) turn = episode.expert();
  const words = turn.map((id) => episode.names.get(id) ?? env.vocabulary[id] ?? '');
  const tag = words.findLastIndex((word) => word === '<call>' || word === '<answer>');
  return words.slice(tag + 1, -1).join(' ');
}
