import type { BatchView } from '../../domain/batch.ts';
import type { Recording } from '../../runs/recording.ts';
import { type Play, playOf } from './play.ts';

/** Seeds of the tasks that a recording follows from before training to its end; none where no task shows the difference. */
export function followedSeeds({ plays }: Pick<Recording, 'plays'>): readonly number[] {
  const [first] = plays;
  return first?.update === 0 ? first.batch.episodes.map(({ seed }) => seed) : [];
}

/** Seeds of the other tasks that the trained agent played. */
export function otherSeeds(recording: Recording): readonly number[] {
  const followed = followedSeeds(recording);
  const last = recording.plays.at(-1)?.batch.episodes ?? [];
  return last.map(({ seed }) => seed).filter((seed) => !followed.includes(seed));
}

/** Whether someone can play against the agent of a recording, word by word: text is typed in a window of its own. */
export function canBeat({ plays, begun }: Recording): boolean {
  return plays.length > 0 && begun.language === 'words';
}

/** A task's plays by rising update. A recording that follows none has of each update that it shows its best rollout, of whatever task. */
export function playsOf(recording: Recording, task: number): readonly Play[] {
  const { plays, batches, vocabulary } = recording;
  const seed = followedSeeds(recording)[task];
  if (seed === undefined) return batches.flatMap(({ batch }) => best(batch, vocabulary) ?? []);
  return plays.flatMap(({ update, batch }) => playOf(batch, vocabulary, seed, update) ?? []);
}

function best(batch: BatchView, vocabulary: readonly string[]): Play | null {
  const [row] = batch.episodes.toSorted((a, b) => b.reward - a.reward);
  return row ? playOf({ ...batch, episodes: [row] }, vocabulary, row.seed, batch.update) : null;
}
