import type { Recording } from '../../runs/recording.ts';
import type { Play } from './play.ts';
import { followedSeeds } from './recordedTasks.ts';
import type { StageState } from './stageStore.ts';

/** The plays of the two agents that the start screen shows side by side. */
export interface Sides {
  readonly before: Play | null; // null: the recording has no task from before training
  readonly after: Play | null; // null: the reader's own run hasn't played yet
  readonly plays: readonly Play[]; // the plays that `after` was chosen from, by ascending update
}

/** The untrained agent's play, and that of the agent after the chosen update, recorded or from the reader's own run. */
export function sidesOf(
  recorded: readonly Play[],
  recording: Pick<Recording, 'plays'>,
  isOwn: boolean,
  { chosenUpdate, ownPlays }: Pick<StageState, 'chosenUpdate' | 'ownPlays'>,
): Sides {
  const before = followedSeeds(recording).length > 0 ? (recorded[0] ?? null) : null;
  const seed = recorded.at(-1)?.episode.seed;
  const plays = isOwn ? ownPlays.filter(({ episode }) => episode.seed === seed) : recorded;
  return { before, after: plays.find(({ update }) => update === chosenUpdate) ?? plays.at(-1) ?? null, plays };
}
