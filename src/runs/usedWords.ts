import type { BatchView, PlayedBatch } from '../domain/batch.ts';
import type { Recording } from './recording.ts';
import type { RecordedReadings } from './recordedReadings.ts';

/**
 * Reduces a recording's vocabulary to the words that occur in it. They are renumbered in the old order; the padding
 * word keeps number 0. This makes a recording smaller: of a checkpoint's tens of thousands of tokens only a few hundred
 * occur.
 */
export function withUsedWords(recording: Recording): Recording {
  const used = new Set([0]);
  const addWords = ({ tokens, episodes }: PlayedBatch) => {
    for (const id of tokens) used.add(id);
    for (const { names } of episodes) for (const id of names.keys()) used.add(id);
  };
  for (const { batch } of [...recording.batches, ...recording.plays]) addWords(batch);
  for (const { distributions, rerun } of recording.readings.values()) {
    for (const { tokens } of distributions) for (const id of tokens) used.add(id);
    addWords(rerun.before);
    addWords(rerun.after);
  }
  const ids = [...used].sort((a, b) => a - b);
  const newIds = new Map(ids.map((id, number) => [id, number]));
  const newId = (id: number) => newIds.get(id) ?? 0;
  const renumberPlayed = <T extends PlayedBatch | BatchView>(batch: T): T => ({
    ...batch,
    tokens: batch.tokens.map(newId),
    episodes: batch.episodes.map((episode) => ({
      ...episode,
      names: new Map([...episode.names].map(([id, name]) => [newId(id), name])),
    })),
  });
  const renumber = (readings: RecordedReadings): RecordedReadings => ({
    ...readings,
    distributions: readings.distributions.map((each) => ({ ...each, tokens: each.tokens.map(newId) })),
    rerun: { before: renumberPlayed(readings.rerun.before), after: renumberPlayed(readings.rerun.after) },
  });
  return {
    ...recording,
    vocabulary: ids.map((id) => recording.vocabulary[id] ?? ''),
    batches: recording.batches.map((kept) => ({ ...kept, batch: renumberPlayed(kept.batch) })),
    readings: new Map([...recording.readings].map(([update, readings]) => [update, renumber(readings)])),
    plays: recording.plays.map(({ update, batch }) => ({ update, batch: renumberPlayed(batch) })),
  };
}
