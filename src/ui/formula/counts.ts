import { Mark } from './touched.ts';

/** How many tokens are marked. */
export interface Counts {
  readonly batch: number;
  readonly here: number; // in one row
  readonly rose: number; // held by the clip as their ratio rose, in the batch
  readonly fell: number;
}

/** Counts marks (B,T), and those of the row of `length` tokens from `from` on. */
export function counted(marks: Uint8Array, from: number, length: number): Counts {
  const many = (some: Uint8Array, is: (mark: number) => boolean) => some.reduce((n, mark) => n + (is(mark) ? 1 : 0), 0);
  const any = (mark: number) => mark !== Mark.none;
  return {
    batch: many(marks, any),
    here: many(marks.subarray(from, from + length), any),
    rose: many(marks, (mark) => mark === Mark.rose),
    fell: many(marks, (mark) => mark === Mark.fell),
  };
}
