import type { BatchView } from '../../domain/batch.ts';
import { TokenMark } from './mark.ts';

export interface MarkCounts {
  readonly inBatch: number; // in the batch
  readonly groupCount: number; // number of groups that have marked tokens
  readonly inRow: number; // in one row
  readonly clippedHigh: number; // in the batch, clipped because their ratio rose
  readonly clippedLow: number; // in the batch, clipped because their ratio fell
}

/** Counts the marks (B,T) of a batch, and of its row `row`. */
export function countMarks(marks: Uint8Array, { length, episodes }: BatchView, row: number): MarkCounts {
  const countWhere = (some: Uint8Array, is: (mark: number) => boolean) =>
    some.reduce((n, mark) => n + (is(mark) ? 1 : 0), 0);
  const any = (mark: number) => mark !== TokenMark.none;
  const marksOfRow = (each: number) => marks.subarray(each * length, (each + 1) * length);
  return {
    inBatch: countWhere(marks, any),
    groupCount: new Set(episodes.flatMap((episode) => (marksOfRow(episode.row).some(any) ? [episode.group] : []))).size,
    inRow: countWhere(marksOfRow(row), any),
    clippedHigh: countWhere(marks, (mark) => mark === TokenMark.clippedHigh),
    clippedLow: countWhere(marks, (mark) => mark === TokenMark.clippedLow),
  };
}
