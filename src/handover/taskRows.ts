import type { RunConfig } from '../config/fields.ts';
import { pickKnobs } from '../config/fields.ts';
import type { RulesData, TaskData } from '../envs/taskData.ts';
import { ENV_KNOBS, type EpisodeSeeds, type Reset, type ToolEnv } from '../envs/env.ts';
import { envSettings } from '../envs/index.ts';

/** The name of the agent loop that plays the rows. */
export const AGENT_LOOP = 'rollout_playground';

/**
 * The contents of `environment.json`: the data of the rules, settings and sizes. The rules themselves are in
 * `playground_env.py`.
 */
export type Rules = RulesData & {
  readonly name: string;
  readonly description: string;
  readonly tool: { readonly name: string; readonly description: string };
  readonly think: boolean;
  readonly randomness: RunConfig['randomness'];
  readonly maxTokens: number; // of an episode, including its prompt
  readonly maxTurnTokens: number; // a turn without its closing tag is cut here and counts as malformed
  readonly settings: Pick<RunConfig, (typeof ENV_KNOBS)[number]>;
};

/** The data that all rows share, as plain JSON. Null if the environment has no rules in Python. */
export function rulesOf(env: ToolEnv, config: RunConfig): Rules | null {
  const { rulesData: data, name, description, tools, maxTokens, maxTurnTokens } = env;
  const [tool] = tools;
  if (!data || !tool) return null;
  return {
    ...data,
    ...{ name, description, maxTokens, maxTurnTokens },
    tool: { name: tool.name, description: tool.description },
    think: config.think === 'on',
    randomness: config.randomness,
    settings: pickKnobs(config, ENV_KNOBS),
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
    readonly seed: number; // gives the same task on the page
    /** Seeds the environment's randomness in evaluation, and in training if `randomness` is `group`. */
    readonly environment_seed: number;
    readonly task: string; // TaskData as JSON, so that the column has one type for every task
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

/** The tasks of some seeds as rows; `begin` draws them. Throws if the environment has no rules in Python. */
export function taskRows(
  { env, begin, config }: { readonly env: ToolEnv; readonly begin: Reset; readonly config: RunConfig },
  split: 'train' | 'val',
  seeds: readonly EpisodeSeeds[],
): readonly TaskRow[] {
  const settings = envSettings(config);
  return seeds.map(({ seed, environmentSeed }, index) => {
    const episode = begin(seed, settings, environmentSeed);
    const data = episode.taskData();
    if (!data) throw new Error(`taskRows: ${env.name} has no tasks as data, so it can’t be handed over.`);
    const [, ...prompt] = episode.prompt.map((id) => env.vocabulary[id] ?? ''); // the chat template begins with <bos>
    return {
      data_source: `rollout-playground/${env.name}`,
      prompt: [{ role: 'user', content: prompt.join(' ') }],
      agent_name: AGENT_LOOP,
      ability: env.name,
      reward_model: { style: 'rule', ground_truth: groundTruth(data) },
      extra_info: {
        split,
        index,
        seed,
        environment_seed: environmentSeed,
        task: JSON.stringify(data),
        need_tools_kwargs: false,
      },
    };
  });
}

/** The right answer to a task, in words. */
function groundTruth(data: TaskData): string {
  switch (data.kind) {
    case 'number-hunt':
      return String(data.target);
    case 'calculator':
      return String(
        data.steps.reduce(
          (value, { operator, by }) => (operator === '+' ? value + by : operator === '-' ? value - by : value * by),
          data.first,
        ),
      );
    case 'graph':
      return data.entities[data.gold.at(-1)?.to ?? 0] ?? '';
    case 'documents':
      return data.answer;
  }
}
