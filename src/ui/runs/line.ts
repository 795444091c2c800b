import type { Trace } from '../../runs/buckets.ts';
import type { Run } from '../../runs/run.ts';
import type { Line as ChartLine } from '../curves/LineChart.tsx';

/** A run on the chart and the colour it has there. */
export interface Line {
  readonly run: Run;
  readonly slot: number;
}

/** Dashes of the slots: each colour has one of its own. */
export const DASHES = ['', '7 4', '2 3', '10 3 2 3', '4 2', '1 4'];

/** The colour of a slot. */
export function colourOf(slot: number): string {
  return `var(--run-${slot})`;
}

/** What a chart draws of a run: each update faint, and its smoothed course. In a band it stands back. */
export function linesOf({ run, slot }: Line, { x, y, smooth }: Trace, inBand = false): readonly ChartLine[] {
  const look = { x, colour: colourOf(slot), run: run.id };
  const course = { ...look, name: inBand ? 'run-line in-band' : 'run-line', y: smooth, dash: DASHES[slot] };
  return inBand ? [course] : [{ ...look, name: 'run-raw', y }, course];
}

/** A run among others: its label as an arm of a comparison, else its number, or that it is not finished. */
export function nameOf({ id, arm }: Pick<Run, 'id' | 'arm'>): string {
  return arm ?? (id === 0 ? '…' : `#${id}`);
}
