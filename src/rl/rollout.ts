import type { EpisodeSeeds, RightAnswer, ToolEnv } from '../envs/env.ts';
import { answerAll, releaseAll, openAll, type EpisodeConditions } from '../envs/stepper.ts';
import type { Sampling } from '../model/decoding.ts';
import type { Policy } from '../model/policy.ts';
import type { EpisodeView } from '../domain/episode.ts';
import { tokenRecord } from '../domain/tokens.ts';
import { type EpisodeRecord, episodeRecord } from './episodeRecord.ts';
import { advance, type DecodingPolicy, newRow, episodeView, type Row } from './rows.ts';

export interface PlaySettings extends Pick<EpisodeConditions, 'settings' | 'begin' | 'timer' | 'shown' | 'asksExpert'> {
  readonly chunk: number; // most tokens per row in one call to the policy; affects speed, not results
}

/** Each entry of `tasks` is played once, in a row of its own; the policy must have that many rows. */
export interface RolloutRequest extends PlaySettings {
  readonly tasks: readonly EpisodeSeeds[]; // one per row; rows of the same group have the same task seed
  readonly groups: Int32Array; // group of each row, (B)
  readonly sampling: Sampling;
  readonly afterFirstTurns?: () => void; // called once, when no row is in its first turn; rows that are further wait for it
  readonly agentPrefix?: readonly number[]; // the agent's first tokens in every row; the policy writes the rest
}

/** A finished batch of episodes. `record` has every token, its role and its reward. */
export interface Rollouts {
  readonly record: EpisodeRecord;
  readonly groups: Int32Array; // (B)
  readonly episodes: readonly EpisodeView[]; // one per task
  readonly rightAnswers?: readonly (RightAnswer | null)[]; // of each episode; null or absent: not known
}

/**
 * Rolls out one episode per row. All rows advance together, one chunk at a time (see `advance`); the loop waits for the
 * policy once per chunk. The result does not depend on the chunk size. `yieldToEvents` runs between chunks, and
 * `onPlayed` gets the number of finished episodes. Tokens of `agentPrefix` have the action role and log-probability 0.
 * Those past the end of an episode are ignored. Throws if one of them is not legal at its position, or if there are
 * more tasks than rows.
 */
export async function rollout(
  policy: DecodingPolicy & Pick<Policy, 'load'>,
  env: ToolEnv,
  request: RolloutRequest,
  yieldToEvents: () => Promise<void>,
  onPlayed?: (done: number, total: number) => void,
): Promise<Rollouts> {
  const {
    tasks,
    groups,
    settings,
    begin,
    timer,
    shown,
    asksExpert,
    chunk,
    afterFirstTurns,
    agentPrefix = [],
  } = request;
  if (tasks.length > policy.rows) {
    throw new RangeError(`rollout: ${tasks.length} tasks don’t fit into the policy’s ${policy.rows} rows.`);
  }
  const conditions = {
    ...{ env, settings, maxTokens: policy.length },
    ...(begin && { begin }),
    ...(timer && { timer }),
    ...(shown && { shown }),
    ...(asksExpert && { asksExpert }),
  };
  const record = episodeRecord(policy.rows, policy.length);
  const steppers = await openAll(conditions, tasks);
  try {
    for (const token of agentPrefix) {
      for (const stepper of steppers) if (stepper.stop === null) stepper.take(token);
      await answerAll(steppers);
    }
    const rows = steppers.map((stepper, index) => newRow(index, stepper));
    policy.setGrammar(env.grammar(settings.grammar));
    policy.begin(request.sampling);
    const advanceAll = async (isIncluded: (row: Row) => boolean) => {
      while (await advance(policy, rows.filter(isIncluded), record, chunk)) {
        onPlayed?.(rows.filter(({ stepper }) => stepper.stop !== null).length, rows.length);
        await yieldToEvents();
      }
    };
    if (afterFirstTurns) {
      await advanceAll(({ stepper }) => stepper.turn === 1);
      afterFirstTurns();
    }
    await advanceAll(() => true);
    // the policy took encoded turns as forced, not as drawn, and what it drew itself may still stand after a row's end
    if (steppers.some(({ rewrites }) => rewrites.length > 0)) policy.load(tokenRecord(record));
    const episodes = rows.map((row) => episodeView(row, groups[row.index] ?? 0));
    const rightAnswers = rows.map(({ stepper }) => stepper.episode.rightAnswer?.() ?? null);
    return { record, groups, episodes, rightAnswers };
  } finally {
    releaseAll(steppers);
  }
}
