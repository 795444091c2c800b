import type { Run } from '../../runs/run.ts';

/** A run on the chart and the colour it has there. */
export interface Line {
  readonly run: Run;
  readonly slot: number;
}

/** Dashes of the slots: each colour has one of its own. */
export const DASHES = ['', '7 4', '2 3', '10 3 2 3', '4 2', '1 4'];
