import type { PlayedBatch } from '../domain/batch.ts';

/**
 * Tasks as the policy plays them after an update (0: before training), a row each. A task meets the same draws after every update:
 * what differs between two plays was learned.
 */
export interface RecordedPlays {
  readonly update: number;
  readonly batch: PlayedBatch;
}

/** Tasks that a recording follows through training. */
const MOST_FOLLOWED = 3;

/** Turns that a play is best watched in. */
const TURNS = 4;

/** Tasks that a recording holds as the trained agent plays them, beside those. */
const MOST_MORE = 9;

/** One task's plays, by update. */
export type Course = readonly (readonly [update: number, play: PlayedBatch])[];

/**
 * Of tasks that were played all along, those that a recording keeps. It follows the ones that show what was learned: not solved before
 * training, solved after it in few turns, and solved for good rather than by chance. Of the others it keeps the last play.
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

/** The smaller, the better a task shows what was learned: in some turns, for few may be luck and many are long to watch. */
function doubt(course: Course): number {
  const turns = course.at(-1)?.[1].episodes[0]?.turns ?? 0;
  const late = course.slice(-Math.ceil(course.length / 3));
  const missed = late.filter((play) => !solved(play)).length;
  return Math.abs(turns - TURNS) + 2 * missed + (turns < 2 ? 10 : 0);
}

/** Plays of a row each as the rows of one batch. */
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
