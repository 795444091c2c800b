import type { PlayedBatch } from '../domain/batch.ts';

/** One task in each row, after an update (0: before training). Draws are always the same, so any difference comes from training. */
export interface RecordedPlays {
  readonly update: number;
  readonly batch: PlayedBatch;
}

/** Maximum number of tasks that a recording follows through training. */
const MAX_FOLLOWED = 3;

/** The number of turns that is best to watch. */
const BEST_TURNS = 4;

/** Maximum number of other tasks, of which a recording keeps only the play after training. */
const MAX_OTHERS = 9;

/** The plays of one task at several updates, in order. */
export type TaskPlays = readonly (readonly [update: number, play: PlayedBatch])[];

/**
 * Chooses the tasks that a recording keeps. It follows the tasks that show learning best: not solved before training,
 * solved after it in few turns, and solved reliably in the last third of the plays. Of other tasks it keeps only the
 * last play.
 */
export function instructivePlays(playsByTask: readonly TaskPlays[]): readonly RecordedPlays[] {
  const followed = playsByTask
    .filter((taskPlays) => !solved(taskPlays[0]) && solved(taskPlays.at(-1)))
    .toSorted((a, b) => watchingCost(a) - watchingCost(b))
    .slice(0, MAX_FOLLOWED);
  const others = playsByTask.filter((task) => !followed.includes(task)).slice(0, MAX_OTHERS);
  const updates = (playsByTask[0] ?? []).map(([update]) => update);
  const last = updates.length - 1;
  return updates.flatMap((update, index) => {
    const kept = index === last ? [...followed, ...others] : followed;
    const plays = kept.flatMap((task) => task[index]?.[1] ?? []);
    return plays.length === 0 ? [] : [{ update, batch: joinPlays(plays) }];
  });
}

function solved(play: TaskPlays[number] | undefined): boolean {
  return play?.[1].episodes[0]?.success ?? false;
}

/** Small is good. A few turns are best: a very short success may be chance, and a long one takes long to watch. */
function watchingCost(taskPlays: TaskPlays): number {
  const turns = taskPlays.at(-1)?.[1].episodes[0]?.turns ?? 0;
  const lastThird = taskPlays.slice(-Math.ceil(taskPlays.length / 3));
  const missed = lastThird.filter((play) => !solved(play)).length;
  return Math.abs(turns - BEST_TURNS) + 2 * missed + (turns < 2 ? 10 : 0);
}

/** Joins plays of one row each to one batch. */
function joinPlays(plays: readonly PlayedBatch[]): PlayedBatch {
  const length = Math.max(...plays.map(({ lengths }) => lengths[0] ?? 0));
  const rows = (arrayOf: (play: PlayedBatch) => ArrayLike<number>) =>
    plays.flatMap((play) =>
      Array.from({ length }, (_, t) => (t < (play.lengths[0] ?? 0) ? (arrayOf(play)[t] ?? 0) : 0)),
    );
  return {
    ...{ rows: plays.length, length },
    tokens: Int32Array.from(rows(({ tokens }) => tokens)),
    roles: Uint8Array.from(rows(({ roles }) => roles)),
    turns: Uint8Array.from(rows(({ turns }) => turns)),
    lengths: Int32Array.from(plays, ({ lengths }) => lengths[0] ?? 0),
    episodes: plays.flatMap(({ episodes }, row) => episodes.slice(0, 1).map((each) => ({ ...each, row, group: row }))),
  };
}
