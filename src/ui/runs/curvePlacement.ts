import type { Run } from '../../runs/run.ts';
import { type Axis, logAxis, roundUp, SHARES, WHOLE_STEPS } from '../curves/axes.ts';
import type { XRange } from '../curves/xRange.ts';
import type { KeptMetric } from './keptRun.ts';

/** Room around the curves of compared runs, px. */
export const PAD = { left: 46, right: 44, top: 18, bottom: 26 };
/** Height of their picture, px. */
export const HEIGHT = 300;
const FEWEST = 10; // updates of an axis

/** Where updates and values of compared runs lie, px. */
export interface Place {
  readonly x: (update: number) => number;
  readonly y: (value: number) => number;
  readonly right: number; // edge of the curves
}

/** The last update of some runs. */
export function newestOf(runs: readonly Run[]): number {
  return Math.max(0, ...runs.map(({ update }) => update));
}

/** Where the axis of their updates ends, on a round number. */
export function endOf(runs: readonly Run[]): number {
  return roundUp(Math.max(FEWEST, newestOf(runs)), WHOLE_STEPS);
}

/** A scale that holds a metric of every run, so that drawing one never bends another; and why it is not the one that was asked for. */
export function scaleOf(metric: KeptMetric, runs: readonly Run[], log: boolean): { axis: Axis; note: string } {
  const share = metric === 'rollout/success' || metric === 'eval/success';
  if (share) return { axis: SHARES, note: log ? 'linear: a share, from 0 to 1' : '' };
  const values = runs.flatMap(({ series }) => series.get(metric)?.drawn.mean ?? []);
  const low = Math.min(0, ...values);
  const most = Math.max(...values, low + 1e-9);
  const high = most + 0.05 * (most - low);
  const linear: Axis = { domain: [low, high], ticks: [low, (low + high) / 2, high], log: false };
  if (!log) return { axis: linear, note: '' };
  const [min, max] = [Math.min(...values), most];
  const all = { first: 0, last: newestOf(runs), min, max, sum: 0, count: values.length, smooth: max };
  const wanted = logAxis(values.length > 0 ? [all] : []);
  return typeof wanted === 'string' ? { axis: linear, note: wanted } : { axis: wanted, note: '' };
}

/** Places in a picture of a width (px) with some updates in view. */
export function placeOf(width: number, range: XRange, { domain, log }: Axis): Place {
  const scaled = log ? Math.log10 : Number;
  const [low, high] = [scaled(domain[0]), scaled(domain[1])];
  const right = width - PAD.right;
  return {
    x: (update) => PAD.left + ((update - range.from) / (range.to - range.from)) * (right - PAD.left),
    y: (value) => PAD.top + ((high - scaled(value)) / (high - low)) * (HEIGHT - PAD.top - PAD.bottom),
    right,
  };
}

/** Moves labels that would lie on each other apart, downwards. */
export function labelPlaces(wanted: readonly number[]): readonly number[] {
  const order = wanted.map((y, i) => ({ y, i })).sort((a, b) => a.y - b.y);
  const places = [...wanted];
  let last = -Infinity;
  for (const { y, i } of order) places[i] = last = Math.max(y, last + 13);
  return places;
}
