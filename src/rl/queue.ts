import type { EpisodeSeeds, Reset, ToolEnv } from '../envs/env.ts';
import { releaseAll, openAll } from '../envs/stepper.ts';
import type { DrawCounters, Sampling } from '../model/decoding.ts';
import type { Policy } from '../model/policy.ts';
import type { EpisodeView } from '../domain/episode.ts';
import { episodeRecord } from './episodeRecord.ts';
import type { PlaySettings } from './rollout.ts';
import { advance, type DecodingPolicy, newRow, type Row, episodeView } from './rows.ts';

export interface QueuedTask extends EpisodeSeeds {
  readonly counters: DrawCounters; // of its random draws; they don't depend on the row
}

export interface QueueRequest extends PlaySettings {
  readonly tasks: readonly QueuedTask[];
  readonly sampling: Sampling;
  readonly begin: Reset;
}

/**
 * Plays each task once, as many at a time as the policy has rows. A row whose episode is over takes the next task
 * before the next chunk, so no row is idle while tasks wait. An episode doesn't depend on the tasks in other rows.
 * Returns the episodes in the order of the tasks, each as its own group, without tokens. Calls `onPlayed` after each
 * chunk with the number of finished episodes. Overwrites the policy's batch.
 */
export async function playQueue(
  policy: DecodingPolicy & Pick<Policy, 'beginRow'>,
  env: ToolEnv,
  request: QueueRequest,
  yieldToEvents: () => Promise<void>,
  onPlayed?: (done: number) => void,
): Promise<EpisodeView[]> {
  const { tasks, settings, begin, shown, chunk } = request;
  const conditions = {
    ...{ env, settings, begin, maxTokens: policy.length },
    ...(shown && { shown }),
  };
  const record = episodeRecord(policy.rows, policy.length);
  const episodes: EpisodeView[] = [];
  const rows: Row[] = [];
  const taskOf: number[] = []; // of each row
  let next = 0;
  let finishedCount = 0;
  const fillRows = async (indices: readonly number[]) => {
    const nextTasks = tasks.slice(next, next + indices.length);
    const steppers = await openAll(conditions, nextTasks);
    for (const [i, { counters }] of nextTasks.entries()) {
      const index = indices[i]!;
      policy.beginRow(index, counters);
      record.clear(index);
      rows[index] = newRow(index, steppers[i]!);
      taskOf[index] = next++;
    }
  };
  policy.setGrammar(env.grammar(settings.grammar));
  policy.begin(request.sampling);
  try {
    await fillRows(Array.from({ length: policy.rows }, (_, index) => index));
    while (await advance(policy, rows, record, chunk)) {
      const finished = rows.filter(({ stepper }) => stepper.stop !== null);
      for (const row of finished) {
        const task = taskOf[row.index]!;
        if (!episodes[task]) finishedCount++;
        episodes[task] ??= episodeView(row, task);
      }
      releaseAll(finished.map(({ stepper }) => stepper));
      if (next < tasks.length) await fillRows(finished.map(({ index }) => index));
      onPlayed?.(finishedCount);
      await yieldToEvents();
    }
    return episodes;
  } finally {
    releaseAll(rows.map(({ stepper }) => stepper));
  }
}
