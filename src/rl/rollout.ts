import type { ToolEnv } from '../envs/env.ts';
import { openEpisode, type Stepper, type Table } from '../envs/stepper.ts';
import type { EpisodeSeeds } from '../envs/turnRules.ts';
import type { Sampling } from '../model/decoding.ts';
import type { EpisodeView } from '../domain/episode.ts';
import { type EpisodeRecord, episodeRecord } from './episodeRecord.ts';
import { advance, type Decoding, newRow, viewOf } from './rows.ts';

/** How episodes are played. */
export interface PlaySettings extends Pick<Table, 'settings' | 'begin'> {
  readonly chunk: number; // tokens per submit at most; changes speed only
}

/** What to roll out: one episode per entry of `tasks`, at most one per row of the policy. */
export interface RolloutRequest extends PlaySettings {
  readonly tasks: readonly EpisodeSeeds[]; // of each row; rows of one group share the seed
  readonly groups: Int32Array; // (B)
  readonly sampling: Sampling;
  readonly script?: readonly number[]; // the agent's first tokens in every row; the policy writes the rest
}

/** A finished batch of episodes: the record of what was written, who wrote it, and what it was paid. */
export interface Rollouts {
  readonly record: EpisodeRecord;
  readonly groups: Int32Array; // (B)
  readonly episodes: readonly EpisodeView[]; // one per task
}

/**
 * Rolls out all rows in lockstep, an episode a row; see `advance`. One awaited read-back per chunk; the result does not depend
 * on the chunk size. `breathe` runs between chunks, and `played` hears how many episodes are over. Scripted tokens have the action role and log-probability 0; those after the
 * end of an episode are not looked at. Throws when one is not legal where it stands.
 */
export async function rollout(
  policy: Decoding,
  env: ToolEnv,
  request: RolloutRequest,
  breathe: () => Promise<void>,
  played?: (done: number, total: number) => void,
): Promise<Rollouts> {
  const { tasks, groups, settings, begin, chunk, script = [] } = request;
  if (tasks.length > policy.rows) {
    throw new RangeError(`rollout: got ${tasks.length} tasks; want at most the policy's ${policy.rows} rows.`);
  }
  const table = { env, settings, room: policy.length, ...(begin && { begin }) };
  const record = episodeRecord(policy.rows, policy.length);
  const rows = tasks.map((task, index) => newRow(index, scripted(openEpisode(table, task), script)));
  policy.setGrammar(env.grammar(settings.grammar));
  policy.begin(request.sampling);
  while (await advance(policy, rows, record, chunk)) {
    played?.(rows.filter(({ stepper }) => stepper.stop !== null).length, rows.length);
    await breathe();
  }
  return { record, groups, episodes: rows.map((row) => viewOf(row, groups[row.index] ?? 0)) };
}

function scripted(stepper: Stepper, script: readonly number[]): Stepper {
  for (const token of script) if (stepper.stop === null) stepper.take(token);
  return stepper;
}
