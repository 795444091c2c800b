import type { Reset, ToolEnv } from '../envs/env.ts';
import type { EpisodeSeeds } from '../envs/turnRules.ts';
import type { Sampling } from '../model/decoding.ts';
import type { EpisodeView } from '../domain/episode.ts';
import { type EpisodeRecord, episodeRecord } from './record.ts';
import { advance, type Decoding, newRow, type PlaySettings, viewOf } from './rows.ts';

/** What to roll out: one episode per entry of `tasks`, at most one per row of the policy. */
export interface RolloutRequest extends PlaySettings {
  readonly tasks: readonly EpisodeSeeds[]; // of each row; rows of one group share the seed
  readonly groups: Int32Array; // (B)
  readonly sampling: Sampling;
  readonly begin?: Reset; // begins each episode; the environment's own tasks without it
}

/** A finished batch of episodes: the record of what was written, who wrote it, and what it was paid. */
export interface Rollouts {
  readonly record: EpisodeRecord;
  readonly groups: Int32Array; // (B)
  readonly episodes: readonly EpisodeView[]; // one per task
}

/**
 * Rolls out all rows in lockstep, an episode a row; see `advance`. One awaited read-back per chunk; the result does not depend
 * on the chunk size. `breathe` runs between chunks.
 */
export async function rollout(
  policy: Decoding,
  env: ToolEnv,
  request: RolloutRequest,
  breathe: () => Promise<void>,
): Promise<Rollouts> {
  const { tasks, groups, settings, begin = env.reset } = request;
  if (tasks.length > policy.rows) {
    throw new RangeError(`rollout: got ${tasks.length} tasks; want at most the policy's ${policy.rows} rows.`);
  }
  const record = episodeRecord(policy.rows, policy.length);
  const rows = tasks.map((task, index) => newRow(index, task, begin(task.seed, settings, task.luck)));
  policy.setGrammar(env.grammar(settings.grammar));
  policy.begin(request.sampling);
  while (await advance(policy, env, rows, record, request)) await breathe();
  return { record, groups, episodes: rows.map((row) => viewOf(row, groups[row.index] ?? 0)) };
}
