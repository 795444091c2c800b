import type { RunConfig } from '../config/config.ts';
import type { Reset, ToolEnv } from '../envs/env.ts';
import { envSettings } from '../envs/index.ts';
import { rowsPerTurn } from '../envs/rowsPerTurn.ts';
import { expertPlayer, playToEnd } from '../envs/players.ts';
import { openEpisode } from '../envs/stepper.ts';
import type { Metrics } from '../domain/metrics.ts';
import type { Tries } from '../domain/trainingEvent.ts';
import type { Policy } from '../model/policy.ts';
import type { EpisodeView } from '../domain/episode.ts';
import { answerMetrics } from './answerMetrics.ts';
import { distinctSeeds, type EvaluatedTask, evaluatedReset, evaluatedTasks, taskKey } from './evaluatedTasks.ts';
import { playQueue } from './queue.ts';
import { evalCounters, evalSampling } from './settings.ts';

export interface Evaluation {
  readonly values: Metrics;
  /** Task key → solved with greedy decoding. Two runs with the same tasks can be compared task by task. */
  readonly solved: ReadonlyMap<string, boolean>;
}

interface Pace<Counts extends readonly number[]> {
  readonly yieldToEvents: () => Promise<void>;
  readonly onPlayed?: ((...counts: Counts) => void) | undefined;
}

/**
 * Evaluates the policy on the held-out tasks, or on all tasks if none are held out. Measures success with greedy
 * decoding (each task once) and with sampling at the training temperature (as many whole rounds as `evalTasks` allows),
 * greedy reward and calls an episode, the share of malformed turns for both, the number of tasks, and whether these are
 * all that can be drawn. The first
 * evaluation also measures naive RAG if the environment has it. With `evaluation` set to full, the first and last
 * evaluations also play the environment's other splits, with greedy decoding. Random draws come from a stream that
 * training never uses. `onPlayed` gets the number of finished greedy and sampled episodes. Overwrites the policy's
 * batch.
 */
export async function evaluate(
  policy: Policy,
  env: ToolEnv,
  config: RunConfig,
  update: number,
  { yieldToEvents, onPlayed }: Pace<[done: number, total: number]>,
): Promise<Evaluation> {
  const evaluatorFor = (begin: Reset) => {
    // one more is looked for, to know whether these are all
    const found = distinctSeeds(env, begin, { ...config, evalTasks: config.evalTasks + 1 });
    const isWhole = env.taskCount !== undefined || found.length <= config.evalTasks;
    const seeds = isWhole ? found : found.slice(0, config.evalTasks);
    const tasksOf = (greedy: boolean) => evaluatedTasks(seeds, config, greedy ? 'once' : 'rounds');
    const playTasks = (greedy: boolean) => {
      const [once, rounds] = [tasksOf(true), tasksOf(false)];
      const onProgress = (done: number) => onPlayed?.(greedy ? done : once.length + done, once.length + rounds.length);
      return play(
        policy,
        env,
        config,
        { update, greedy, begin, tasks: greedy ? once : rounds },
        { yieldToEvents, onPlayed: onProgress },
      );
    };
    return { playTasks, isWhole };
  };
  const begin = evaluatedReset(env);
  const { playTasks, isWhole } = evaluatorFor(begin);
  const greedy = await playTasks(true);
  const sampled = await playTasks(false);
  const values: Metrics = {
    'eval/tasks': greedy.length,
    'eval/all_tasks': isWhole ? 1 : 0,
    'eval/success': successRate(greedy),
    'eval/success_sampled': successRate(sampled),
    'eval/malformed': malformedShare(greedy),
    'eval/malformed_sampled': malformedShare(sampled),
    'eval/calls': mean(greedy, ({ toolCalls }) => toolCalls),
    'eval/score': mean(greedy, ({ reward }) => reward),
    ...answerMetrics(greedy, 'eval'),
  };
  const playGreedy = (begin: Reset) => evaluatorFor(begin).playTasks(true);
  // costs little, because each task has one turn
  if (update === 0 && env.naiveRag) values['eval/naive_rag'] = successRate(await playGreedy(env.naiveRag));
  if (config.evaluation === 'full' && (update === 0 || update === config.updates)) {
    const { entities, shifted } = env.splits;
    if (entities) values['eval/success_entities'] = successRate(await playGreedy(entities.reset));
    values['eval/success_shifted'] = successRate(await playGreedy(shifted.reset));
  }
  const settings = envSettings(config);
  const solved = new Map(greedy.map(({ seed, success }) => [taskKey(begin, seed, settings), success]));
  return { values, solved };
}

const TRIES = 32; // enough to tell none from some, and cheaper than the batch of an update

/**
 * Plays a few training tasks with greedy decoding, to show how far imitation is, and with the expert. No evaluated tasks,
 * because imitation ends by the result. Returns how many tasks were played and how many of them were solved. Overwrites
 * the policy's batch and sets its grammar.
 */
export async function tryTasks(
  policy: Policy,
  env: ToolEnv,
  config: RunConfig,
  yieldToEvents: () => Promise<void>,
): Promise<Tries> {
  const few = { ...config, evalTasks: Math.min(config.evalTasks, TRIES) };
  const begin = env.reset;
  const tasks = evaluatedTasks(distinctSeeds(env, begin, few), few, 'once').slice(0, TRIES);
  const episodes = await play(policy, env, few, { update: 0, greedy: true, begin, tasks }, { yieldToEvents });
  const conditions = { env, begin, settings: envSettings(config) };
  return {
    solved: episodes.filter(({ success }) => success).length,
    expert: tasks.filter((task) => playToEnd(openEpisode(conditions, task), expertPlayer).success).length,
    played: episodes.length,
  };
}

/**
 * Plays each of `tasks` different training tasks (or all, if there are fewer) `tries` times, with sampling at the
 * training temperature. Returns how often each was solved. Overwrites the policy's batch and sets its grammar.
 */
export async function countSolved(
  policy: Policy,
  env: ToolEnv,
  config: RunConfig,
  { tasks: evalTasks, tries }: { readonly tasks: number; readonly tries: number },
  yieldToEvents: () => Promise<void>,
): Promise<number[]> {
  const few = { ...config, evalTasks };
  const begin = env.reset;
  const seeds = distinctSeeds(env, begin, few).slice(0, evalTasks);
  const tasks = evaluatedTasks(seeds, few, tries);
  const episodes = await play(policy, env, few, { update: 0, greedy: false, begin, tasks }, { yieldToEvents });
  return seeds.map((_, task) => episodes.filter(({ success }, i) => success && i % seeds.length === task).length);
}

/** Returns the episodes in the order of the tasks. */
function play(
  policy: Policy,
  env: ToolEnv,
  config: RunConfig,
  options: {
    readonly update: number;
    readonly greedy: boolean;
    readonly begin: Reset;
    readonly tasks: readonly EvaluatedTask[];
  },
  { yieldToEvents, onPlayed }: Pace<[done: number]>,
): Promise<EpisodeView[]> {
  const request = {
    tasks: options.tasks.map((task) => ({ ...task, counters: evalCounters(options.update, task.index, policy.rows) })),
    settings: envSettings(config),
    ...rowsPerTurn(config),
    sampling: evalSampling(config, options.update, options.greedy),
    chunk: config.decodeChunk,
    begin: options.begin,
  };
  return playQueue(policy, env, request, yieldToEvents, onPlayed);
}

function successRate(episodes: readonly EpisodeView[]): number {
  return mean(episodes, ({ success }) => (success ? 1 : 0));
}

function malformedShare(episodes: readonly EpisodeView[]): number {
  return mean(episodes, ({ invalidTurns }) => invalidTurns) / mean(episodes, ({ turns }) => turns);
}

function mean(episodes: readonly EpisodeView[], measure: (episode: EpisodeView) => number): number {
  return episodes.reduce((sum, episode) => sum + measure(episode), 0) / episodes.length;
}
