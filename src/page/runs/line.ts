import type { SmoothedCurve } from '../../runs/buckets.ts';
import type { Run } from '../../runs/run.ts';
import type { ListedRun } from './keptRun.ts';
import type { Line as ChartLine } from '../curves/plot.ts';

/** A run on the chart, and the slot that gives its colour. */
export interface RunLine {
  readonly run: ListedRun;
  readonly slot: number;
}

/** Dash pattern of each slot, so that lines differ without colour. */
export const DASHES = ['', '7 4', '2 3', '10 3 2 3', '4 2', '1 4'];

export function colourOf(slot: number): string {
  return `var(--run-${slot})`;
}

/** A faint line with each update, and the smoothed one. A band has only the smoothed one, drawn weaker. */
export function chartLines(
  { run, slot }: RunLine,
  { x, y, smooth }: SmoothedCurve,
  inBand = false,
): readonly ChartLine[] {
  const look = { x, colour: colourOf(slot), run: run.id };
  const smoothLine = { ...look, cssClass: inBand ? 'run-line in-band' : 'run-line', y: smooth, dash: DASHES[slot] };
  return inBand ? [smoothLine] : [{ ...look, cssClass: 'run-raw', y }, smoothLine];
}

/** Short name of a run on a chart: its label as an arm of a comparison, else its number; “…” without a number. */
export function chartName({ id, arm }: Pick<Run, 'id' | 'arm'>): string {
  return arm ?? (id === 0 ? '…' : `#${id}`);
}
