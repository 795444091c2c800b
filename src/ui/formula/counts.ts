import type { BatchView } from '../../domain/batch.ts';
import { Mark } from './mark.ts';

/** Numbers of marked tokens. */
export interface Counts {
  readonly batch: number; // in the batch
  readonly groups: number; // number of groups that have marked tokens
  readonly here: number; // in one row
  readonly rose: number; // in the batch, clipped because their ratio rose
  readonly fell: number; // in the batch, clipped because their ratio fell
}

/** Counts the marks (B,T) of a batch, and of its row `row`. */
export function counted(marks: Uint8Array, { length, episodes }: BatchView, row: number): Counts {
  const countWhere = (some: Uint8Array, is: (mark: number) => boolean) =>
    some.reduce((n, mark) => n + (is(mark) ? 1 : 0), 0);
  const any = (mark: number) => mark !== Mark.none;
  const marksOfRow = (each: number) => marks.subarray(each * length, (each + 1) * length);
  return {
    batch: countWhere(marks, any),
    groups: new Set(episodes.flatMap((episode) => (marksOfRow(episode.row).some(any) ? [episode.group] : []))).size,
    here: countWhere(marksOfRow(row), any),
    rose: countWhere(marks, (mark) => mark === Mark.rose),
    fell: countWhere(marks, (mark) => mark === Mark.fell),
  };
}
