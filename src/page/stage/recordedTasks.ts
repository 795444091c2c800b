import type { BatchView } from '../../domain/batch.ts';
import type { Recording } from '../../runs/recording.ts';
import { type Play, playOf } from './play.ts';
import type { StageState } from './stageStore.ts';

/** The seeds of the tasks that a recording follows from before training to its end. Empty if no task shows a difference. */
export function followedSeeds({ plays }: Pick<Recording, 'plays'>): readonly number[] {
  const [first] = plays;
  return first?.update === 0 ? first.batch.episodes.map(({ seed }) => seed) : [];
}

/** The seeds of the other tasks that the trained agent played. */
export function otherSeeds(recording: Recording): readonly number[] {
  const followed = followedSeeds(recording);
  const last = recording.plays.at(-1)?.batch.episodes ?? [];
  return last.map(({ seed }) => seed).filter((seed) => !followed.includes(seed));
}

/** A person plays word by word here. Tasks in text are played in a separate dialog. */
export function canBeat({ plays, begun }: Recording): boolean {
  return plays.length > 0 && begun.language === 'words';
}

/** Plays by ascending update. If the recording follows no task: of each recorded batch the best rollout, whatever its task. */
export function playsOf(recording: Recording, task: number): readonly Play[] {
  const { plays, batches, vocabulary } = recording;
  const seed = followedSeeds(recording)[task];
  if (seed === undefined) return batches.flatMap(({ batch }) => bestPlay(batch, vocabulary) ?? []);
  return plays.flatMap(({ update, batch }) => playOf(batch, vocabulary, seed, update) ?? []);
}

function bestPlay(batch: BatchView, vocabulary: readonly string[]): Play | null {
  const [row] = batch.episodes.toSorted((a, b) => b.reward - a.reward);
  return row ? playOf({ ...batch, episodes: [row] }, vocabulary, row.seed, batch.update) : null;
}

/** The plays of the two agents that the start screen shows side by side. */
interface Sides {
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
