import { firstFrom, type Trace } from '../../runs/buckets.ts';
import { SMOOTHING, smoothed } from '../../runs/smoothing.ts';
import type { Run } from '../../runs/run.ts';
import { axisFor } from '../curves/axes.ts';
import type { KeptMetric } from './keptRun.ts';
import type { Line } from './line.ts';

/**
 * Curve of a metric of a run, for a chart with several runs. Smoothed with `weight` per update; a point that covers n
 * updates uses `weight` to the power n. Null if the metric was not measured.
 */
export function courseOf({ series }: Run, metric: KeptMetric, weight: number): Trace | null {
  const drawn = series.get(metric)?.drawn;
  if (!drawn || drawn.x.length === 0) return null;
  const { x, mean, smooth } = drawn;
  if (weight === SMOOTHING) return { x, y: mean, smooth };
  // evaluation metrics are measured rarely: they are smoothed from one evaluation to the next
  const updatesPerPoint = metric.startsWith('eval/') ? 1 : ((x.at(-1) ?? 0) - (x[0] ?? 0)) / Math.max(1, x.length - 1);
  return { x, y: mean, smooth: smoothed(mean, weight ** Math.max(1, updatesPerPoint)) };
}

/** Runs that differ only in their seed, and the slot whose colour is used for their band. */
export interface SeedGroup {
  readonly slot: number;
  readonly lines: readonly Line[];
}

/** Groups of at least two runs that began with the same knobs except the seed, and from the same fork. */
export function seedGroups(lines: readonly Line[]): readonly SeedGroup[] {
  const groups = new Map<string, Line[]>();
  for (const line of lines) {
    const { begun, fork } = line.run;
    const key = JSON.stringify([{ ...begun, seed: 0 }, fork ?? null]);
    groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  return [...groups.values()].flatMap((members) => {
    const [first] = members;
    return first && members.length > 1 ? [{ slot: first.slot, lines: members }] : [];
  });
}

/** Lowest, mean and highest value of several curves at one update. */
export interface BandAt {
  readonly update: number;
  readonly low: number;
  readonly mean: number;
  readonly high: number;
}

/** The band of several smoothed curves, at each update of the first curve that lies in the range of all curves. */
export function bandOf(courses: readonly Trace[]): readonly BandAt[] {
  const [first] = courses;
  if (!first) return [];
  const from = Math.max(...courses.map(({ x }) => x[0] ?? Infinity));
  const to = Math.min(...courses.map(({ x }) => x[x.length - 1] ?? -Infinity));
  return Array.from(first.x).flatMap((update) => {
    if (update < from || update > to) return [];
    const values = courses.map((course) => valueAt(course, update));
    return [
      {
        update,
        low: Math.min(...values),
        mean: values.reduce((sum, value) => sum + value, 0) / values.length,
        high: Math.max(...values),
      },
    ];
  });
}

/** Value of a smoothed curve at an update, interpolated linearly between the points around it. */
function valueAt({ x, smooth }: Trace, update: number): number {
  const after = firstFrom(x, update);
  const [b, before] = [smooth[after] ?? NaN, after - 1];
  if (x[after] === update || before < 0) return b;
  const share = (update - x[before]!) / (x[after]! - x[before]!);
  return smooth[before]! + share * (b - smooth[before]!);
}

/** The last update of some runs. */
export function newestOf(runs: readonly Run[]): number {
  return Math.max(0, ...runs.map(({ update }) => update));
}

/**
 * Axis that covers a metric in all runs, so that it stays the same when a run is drawn or hidden. `note`: why `log` was
 * not possible.
 */
export function scaleOf(metric: KeptMetric, runs: readonly Run[], log: boolean) {
  const shares = metric === 'rollout/success' || metric === 'eval/success';
  const values = runs.flatMap(({ series }) => series.get(metric)?.drawn.mean ?? []);
  const [min, max] = [Math.min(...values), Math.max(...values)];
  const wholeRange = { first: 0, last: newestOf(runs), min, max, sum: 0, count: values.length, smooth: max };
  return axisFor(values.length > 0 ? [wholeRange] : [], { shares, log });
}
