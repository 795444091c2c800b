import type { RunConfig } from '../config.ts';
import type { Reset, ToolEnv } from '../envs/env.ts';
import { envSettings } from '../envs/index.ts';
import type { Metrics } from '../metrics.ts';
import type { Policy } from '../model/policy.ts';
import type { EpisodeView } from '../protocol.ts';
import { answerMetrics } from './answerMetrics.ts';
import { playQueue } from './queue.ts';
import { evalCounters, evalSampling, evalTaskSeed } from './settings.ts';

/**
 * Held-out success, greedy and at the training temperature, and greedy reward; the first time naive RAG too, where the
 * environment has it. With `evaluation` full the first and the last one also play its other splits, greedy all. Tasks
 * and draws come from streams that training never uses; nothing is learned. Overwrites the policy's batch.
 */
export async function evaluate(
  policy: Policy,
  env: ToolEnv,
  config: RunConfig,
  update: number,
  breathe: () => Promise<void>,
): Promise<Metrics> {
  const greedy = await play(policy, env, config, { update, greedy: true }, breathe);
  const sampled = await play(policy, env, config, { update, greedy: false }, breathe);
  const values: Metrics = {
    'eval/success': successRate(greedy),
    'eval/success_sampled': successRate(sampled),
    'eval/score': mean(greedy, ({ reward }) => reward),
    ...answerMetrics(greedy, 'eval'),
  };
  const also = (begin: Reset) => play(policy, env, config, { update, greedy: true, begin }, breathe);
  // one turn: a small part of the evaluation
  if (update === 0 && env.retrieved) values['eval/naive_rag'] = successRate(await also(env.retrieved));
  if (config.evaluation === 'full' && (update === 0 || update === config.updates)) {
    const { entities, shifted } = env.splits;
    if (entities) values['eval/success_entities'] = successRate(await also(entities.reset));
    values['eval/success_shifted'] = successRate(await also(shifted.reset));
  }
  return values;
}

/** Begins the held-out tasks: the environment's own split, or seeds that training never uses. */
export function heldOutReset(env: ToolEnv): Reset {
  return env.splits.heldOut?.reset ?? env.reset;
}

/** One episode of each held-out task, in their order. */
function play(
  policy: Policy,
  env: ToolEnv,
  config: RunConfig,
  how: { readonly update: number; readonly greedy: boolean; readonly begin?: Reset },
  breathe: () => Promise<void>,
): Promise<EpisodeView[]> {
  const tasks = Array.from({ length: config.evalTasks }, (_, index) => {
    const seed = evalTaskSeed(config.seed, index);
    // one luck a task, in every evaluation the same: what differs between two is the policy
    return { seed, luck: seed, counters: evalCounters(how.update, index, policy.rows) };
  });
  const request = {
    tasks,
    settings: envSettings(config),
    sampling: evalSampling(config, how.update, how.greedy),
    chunk: config.decodeChunk,
    begin: how.begin ?? heldOutReset(env),
  };
  return playQueue(policy, env, request, breathe);
}

function successRate(episodes: readonly EpisodeView[]): number {
  return mean(episodes, ({ success }) => (success ? 1 : 0));
}

function mean(episodes: readonly EpisodeView[], of: (episode: EpisodeView) => number): number {
  return episodes.reduce((sum, episode) => sum + of(episode), 0) / episodes.length;
}
