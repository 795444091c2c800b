import type { Recording } from '../../runs/recording.ts';
import type { Play } from './play.ts';
import { followedSeeds } from './recordedTasks.ts';
import type { StageState } from './stageStore.ts';

/** The two agents of a duel at one task. */
export interface Sides {
  readonly before: Play | null; // null: the recording follows no task from before training
  readonly after: Play | null; // null: the reader's own run has yet to play
  readonly plays: readonly Play[]; // that `after` was chosen from, by rising update
}

/** The two agents that the stage shows: the untrained one, and the one of the chosen update, recorded or of the reader's own run. */
export function sidesOf(
  recorded: readonly Play[],
  { plays: all }: Pick<Recording, 'plays'>,
  isOwn: boolean,
  { at, own }: Pick<StageState, 'at' | 'own'>,
): Sides {
  const before = followedSeeds({ plays: all }).length > 0 ? (recorded[0] ?? null) : null;
  const seed = recorded.at(-1)?.episode.seed;
  const plays = isOwn ? own.filter(({ episode }) => episode.seed === seed) : recorded;
  return { before, after: plays.find(({ update }) => update === at) ?? plays.at(-1) ?? null, plays };
}
