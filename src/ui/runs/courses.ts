import { firstFrom, type Trace } from '../../runs/buckets.ts';
import { SMOOTHING, smoothed } from '../../runs/smoothing.ts';
import type { Run } from '../../runs/run.ts';
import { axisFor } from '../curves/axes.ts';
import type { KeptMetric } from './keptRun.ts';
import type { Line } from './line.ts';

/**
 * A metric of a run as it is drawn among others, its means smoothed by a weight an update: a position that holds several updates carries
 * over as little as they would together. Null where it was not measured.
 */
export function courseOf({ series }: Run, metric: KeptMetric, weight: number): Trace | null {
  const drawn = series.get(metric)?.drawn;
  if (!drawn || drawn.x.length === 0) return null;
  const { x, mean, smooth } = drawn;
  if (weight === SMOOTHING) return { x, y: mean, smooth };
  // what is measured seldom is smoothed from one evaluation to the next
  const apart = metric.startsWith('eval/') ? 1 : ((x.at(-1) ?? 0) - (x[0] ?? 0)) / Math.max(1, x.length - 1);
  return { x, y: mean, smooth: smoothed(mean, weight ** Math.max(1, apart)) };
}

/** Runs that differ in their seed alone, with the slot whose colour stands for them. */
export interface SeedGroup {
  readonly slot: number;
  readonly lines: readonly Line[];
}

/** Groups of two runs and more that began with the same knobs but for the seed, and from the same place. */
export function seedGroups(lines: readonly Line[]): readonly SeedGroup[] {
  const groups = new Map<string, Line[]>();
  for (const line of lines) {
    const { begun, fork } = line.run;
    const key = JSON.stringify([{ ...begun, seed: 0 }, fork ?? null]);
    groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  return [...groups.values()].flatMap((own) => {
    const [first] = own;
    return first && own.length > 1 ? [{ slot: first.slot, lines: own }] : [];
  });
}

/** Lowest, mean and highest of some courses at one update. */
export interface BandAt {
  readonly update: number;
  readonly low: number;
  readonly mean: number;
  readonly high: number;
}

/** The band of some courses, smoothed, where all of them were measured: at each update that the first has. */
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

/** A smoothed course at an update, on the straight line between the positions around it. */
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

/** A scale that holds a metric of every run, so that drawing one never bends another; and why it is not the one that was asked for. */
export function scaleOf(metric: KeptMetric, runs: readonly Run[], log: boolean) {
  const shares = metric === 'rollout/success' || metric === 'eval/success';
  const values = runs.flatMap(({ series }) => series.get(metric)?.drawn.mean ?? []);
  const [min, max] = [Math.min(...values), Math.max(...values)];
  const all = { first: 0, last: newestOf(runs), min, max, sum: 0, count: values.length, smooth: max };
  return axisFor(values.length > 0 ? [all] : [], { shares, log });
}
