import type { RunConfig } from '../config/config.ts';
import type { Reset, ToolEnv } from '../envs/env.ts';
import { envSettings } from '../envs/index.ts';
import type { Metrics } from '../domain/metrics.ts';
import type { Policy } from '../model/policy.ts';
import type { EpisodeView } from '../domain/episode.ts';
import { answerMetrics } from './answerMetrics.ts';
import { distinctSeeds, type EvaluatedTask, evaluatedReset, evaluatedTasks, taskKey } from './evaluatedTasks.ts';
import { playQueue } from './queue.ts';
import { evalCounters, evalSampling } from './settings.ts';

/** What an evaluation found. */
export interface Evaluation {
  readonly values: Metrics;
  readonly solved: ReadonlyMap<string, boolean>; // by task, greedily: two runs that met the same tasks are compared task by task
}

/**
 * Success on the tasks held out, or on all where none is: greedy, each task once; and at the training temperature, in as many
 * rounds as `evalTasks` holds. Greedy reward and calls an episode; the share of malformed turns, both ways; how many tasks these are; the first time naive RAG too, where the environment has
 * it. With `evaluation` full the first and the last one also play its other splits, greedy all. Draws come from a stream that
 * training never uses; nothing is learned. `played` hears how many of the greedy and sampled episodes are over. Overwrites the policy's batch.
 */
export async function evaluate(
  policy: Policy,
  env: ToolEnv,
  config: RunConfig,
  update: number,
  yieldToEvents: () => Promise<void>,
  played?: (done: number, total: number) => void,
): Promise<Evaluation> {
  const playing = (begin: Reset) => {
    const seeds = distinctSeeds(env, begin, config);
    const tasksOf = (greedy: boolean) => evaluatedTasks(seeds, config, greedy ? 'once' : 'rounds');
    return (greedy: boolean) => {
      const [once, rounds] = [tasksOf(true), tasksOf(false)];
      const told = (done: number) => played?.(greedy ? done : once.length + done, once.length + rounds.length);
      return play(policy, env, config, { update, greedy, begin, tasks: greedy ? once : rounds }, yieldToEvents, told);
    };
  };
  const begin = evaluatedReset(env);
  const usual = playing(begin);
  const greedy = await usual(true);
  const sampled = await usual(false);
  const values: Metrics = {
    'eval/tasks': greedy.length,
    'eval/success': successRate(greedy),
    'eval/success_sampled': successRate(sampled),
    'eval/malformed': malformedShare(greedy),
    'eval/malformed_sampled': malformedShare(sampled),
    'eval/calls': mean(greedy, ({ toolCalls }) => toolCalls),
    'eval/score': mean(greedy, ({ reward }) => reward),
    ...answerMetrics(greedy, 'eval'),
  };
  const also = (begin: Reset) => playing(begin)(true);
  // one turn: a small part of the evaluation
  if (update === 0 && env.retrieved) values['eval/naive_rag'] = successRate(await also(env.retrieved));
  if (config.evaluation === 'full' && (update === 0 || update === config.updates)) {
    const { entities, shifted } = env.splits;
    if (entities) values['eval/success_entities'] = successRate(await also(entities.reset));
    values['eval/success_shifted'] = successRate(await also(shifted.reset));
  }
  const settings = envSettings(config);
  const solved = new Map(greedy.map(({ seed, success }) => [taskKey(begin, seed, settings), success]));
  return { values, solved };
}

/** The episodes of some tasks, in their order. */
function play(
  policy: Policy,
  env: ToolEnv,
  config: RunConfig,
  how: {
    readonly update: number;
    readonly greedy: boolean;
    readonly begin: Reset;
    readonly tasks: readonly EvaluatedTask[];
  },
  yieldToEvents: () => Promise<void>,
  played: (done: number) => void,
): Promise<EpisodeView[]> {
  const request = {
    tasks: how.tasks.map((task) => ({ ...task, counters: evalCounters(how.update, task.index, policy.rows) })),
    settings: envSettings(config),
    sampling: evalSampling(config, how.update, how.greedy),
    chunk: config.decodeChunk,
    begin: how.begin,
  };
  return playQueue(policy, env, request, yieldToEvents, played);
}

function successRate(episodes: readonly EpisodeView[]): number {
  return mean(episodes, ({ success }) => (success ? 1 : 0));
}

function malformedShare(episodes: readonly EpisodeView[]): number {
  return mean(episodes, ({ invalidTurns }) => invalidTurns) / mean(episodes, ({ turns }) => turns);
}

function mean(episodes: readonly EpisodeView[], of: (episode: EpisodeView) => number): number {
  return episodes.reduce((sum, episode) => sum + of(episode), 0) / episodes.length;
}
