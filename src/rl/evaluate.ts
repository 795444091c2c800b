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

/** The result of an evaluation. */
export interface Evaluation {
  readonly values: Metrics;
  readonly solved: ReadonlyMap<string, boolean>; // by task, with greedy decoding; two runs with the same tasks can be compared task by task
}

/**
 * Evaluates the policy on the held-out tasks, or on all tasks if none are held out. Measures success with greedy decoding (each task once)
 * and with sampling at the training temperature (as many whole rounds as `evalTasks` allows), greedy reward and calls an episode, the
 * share of malformed turns for both, and the number of tasks. The first evaluation also measures naive RAG if the environment has it.
 * With `evaluation` set to full, the first and last evaluations also play the environment's other splits, with greedy decoding. Random
 * draws come from a stream that training never uses. `played` gets the number of finished greedy and sampled episodes. Overwrites the
 * policy's batch.
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
      const onProgress = (done: number) => played?.(greedy ? done : once.length + done, once.length + rounds.length);
      return play(
        policy,
        env,
        config,
        { update, greedy, begin, tasks: greedy ? once : rounds },
        yieldToEvents,
        onProgress,
      );
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

/** Plays some tasks. Returns the episodes in the order of the tasks. */
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
