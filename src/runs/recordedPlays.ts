import type { PlayedBatch } from '../domain/batch.ts';

/**
 * Tasks as the policy plays them after an update (0: before training), one in each row. A task gets the same random draws after every
 * update, so any difference between two plays comes from training.
 */
export interface RecordedPlays {
  readonly update: number;
  readonly batch: PlayedBatch;
}

/** Number of tasks that a recording follows through training. */
const MOST_FOLLOWED = 3;

/** The number of turns that is best to watch. */
const TURNS = 4;

/** Number of other tasks of which a recording keeps only the play after training. */
const MOST_MORE = 9;

/** One task's plays, by update. */
export type Course = readonly (readonly [update: number, play: PlayedBatch])[];

/**
 * Chooses the tasks that a recording keeps. It follows the tasks that show learning best: not solved before training, solved after it in
 * few turns, and solved reliably in the last third of the plays. Of other tasks it keeps only the last play.
 */
export function instructivePlays(courses: readonly Course[]): readonly RecordedPlays[] {
  const followed = courses
    .filter((course) => !solved(course[0]) && solved(course.at(-1)))
    .toSorted((a, b) => doubt(a) - doubt(b))
    .slice(0, MOST_FOLLOWED);
  const more = courses.filter((course) => !followed.includes(course)).slice(0, MOST_MORE);
  const updates = (courses[0] ?? []).map(([update]) => update);
  const last = updates.length - 1;
  return updates.flatMap((update, at) => {
    const shown = at === last ? [...followed, ...more] : followed;
    const plays = shown.flatMap((course) => course[at]?.[1] ?? []);
    return plays.length === 0 ? [] : [{ update, batch: together(plays) }];
  });
}

function solved(play: Course[number] | undefined): boolean {
  return play?.[1].episodes[0]?.success ?? false;
}

/** A small number means that a task shows learning well. A few turns are best: a very short success may be luck, and a long one takes long to watch. */
function doubt(course: Course): number {
  const turns = course.at(-1)?.[1].episodes[0]?.turns ?? 0;
  const late = course.slice(-Math.ceil(course.length / 3));
  const missed = late.filter((play) => !solved(play)).length;
  return Math.abs(turns - TURNS) + 2 * missed + (turns < 2 ? 10 : 0);
}

/** Several plays with one row each, as the rows of one batch. */
function together(plays: readonly PlayedBatch[]): PlayedBatch {
  const length = Math.max(...plays.map(({ lengths }) => lengths[0] ?? 0));
  const rows = (of: (play: PlayedBatch) => ArrayLike<number>) =>
    plays.flatMap((play) => Array.from({ length }, (_, t) => (t < (play.lengths[0] ?? 0) ? (of(play)[t] ?? 0) : 0)));
  return {
    ...{ rows: plays.length, length },
    tokens: Int32Array.from(rows(({ tokens }) => tokens)),
    roles: Uint8Array.from(rows(({ roles }) => roles)),
    turns: Uint8Array.from(rows(({ turns }) => turns)),
    lengths: Int32Array.from(plays, ({ lengths }) => lengths[0] ?? 0),
    episodes: plays.flatMap(({ episodes }, row) => episodes.slice(0, 1).map((each) => ({ ...each, row, group: row }))),
  };
}
