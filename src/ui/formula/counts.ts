import type { BatchView } from '../../domain/batch.ts';
import { Mark } from './mark.ts';

/** How many tokens are marked. */
export interface Counts {
  readonly batch: number;
  readonly groups: number; // that they are of
  readonly here: number; // in one row
  readonly rose: number; // held by the clip as their ratio rose, in the batch
  readonly fell: number;
}

/** Counts marks (B,T), and those of row `row`. */
export function counted(marks: Uint8Array, { length, episodes }: BatchView, row: number): Counts {
  const many = (some: Uint8Array, is: (mark: number) => boolean) => some.reduce((n, mark) => n + (is(mark) ? 1 : 0), 0);
  const any = (mark: number) => mark !== Mark.none;
  const of = (each: number) => marks.subarray(each * length, (each + 1) * length);
  return {
    batch: many(marks, any),
    groups: new Set(episodes.flatMap((episode) => (of(episode.row).some(any) ? [episode.group] : []))).size,
    here: many(of(row), any),
    rose: many(marks, (mark) => mark === Mark.rose),
    fell: many(marks, (mark) => mark === Mark.fell),
  };
}
