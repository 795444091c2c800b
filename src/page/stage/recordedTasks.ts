import type { BatchView } from '../../domain/batch.ts';
import type { Recording } from '../../runs/recording.ts';
import { type Play, playOf } from './play.ts';

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
