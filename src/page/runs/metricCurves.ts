import { firstIndexFrom, type SmoothedCurve } from '../../runs/buckets.ts';
import type { CurveName } from '../../domain/metrics.ts';
import { SMOOTHING, smoothCurve } from '../../runs/smoothing.ts';
import { type Run, seriesOf } from '../../runs/run.ts';
import { axisEnd, axisFor } from '../curves/axes.ts';
import type { XRange } from '../curves/xRange.ts';
import type { RunLine } from './line.ts';

/** Smoothed with `weight` per update: a point that covers n updates uses `weight` to the power n. Null if it was not measured. */
export function curveOf(run: Run, metric: CurveName, weight: number): SmoothedCurve | null {
  const plotted = seriesOf(run, metric)?.plotted;
  if (!plotted || plotted.x.length === 0) return null;
  const { x, mean, smooth } = plotted;
  if (weight === SMOOTHING) return { x, y: mean, smooth };
  // evaluation metrics are measured rarely: they are smoothed from one evaluation to the next
  const updatesPerPoint = metric.startsWith('eval/') ? 1 : ((x.at(-1) ?? 0) - (x[0] ?? 0)) / Math.max(1, x.length - 1);
  return { x, y: mean, smooth: smoothCurve(mean, weight ** Math.max(1, updatesPerPoint)) };
}

/** Runs that differ only in their seed, and the slot (number of a line colour) that their band uses. */
export interface SeedGroup {
  readonly slot: number;
  readonly lines: readonly RunLine[];
}

/** Groups of at least two runs that began with the same knobs except the seed, and from the same fork. */
export function seedGroups(lines: readonly RunLine[]): readonly SeedGroup[] {
  const groups = new Map<string, RunLine[]>();
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

export interface BandPoint {
  readonly update: number;
  readonly low: number;
  readonly mean: number;
  readonly high: number;
}

/** The band of several smoothed curves, at each update of the first curve that lies in the range of all curves. */
export function bandOf(curves: readonly SmoothedCurve[]): readonly BandPoint[] {
  const [first] = curves;
  if (!first) return [];
  const from = Math.max(...curves.map(({ x }) => x[0] ?? Infinity));
  const to = Math.min(...curves.map(({ x }) => x[x.length - 1] ?? -Infinity));
  return Array.from(first.x).flatMap((update) => {
    if (update < from || update > to) return [];
    const values = curves.map((curve) => valueAt(curve, update));
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
function valueAt({ x, smooth }: SmoothedCurve, update: number): number {
  const after = firstIndexFrom(x, update);
  const [valueAfter, before] = [smooth[after] ?? NaN, after - 1];
  if (x[after] === update || before < 0) return valueAfter;
  const share = (update - x[before]!) / (x[after]! - x[before]!);
  return smooth[before]! + share * (valueAfter - smooth[before]!);
}

export function lastUpdateOf(runs: readonly Run[]): number {
  return Math.max(0, ...runs.map(({ update }) => update));
}

const MAX_LEAD = 0.1; // part of the axis that may be empty before the first curve begins

/** The axis begins at 0 or, for forks of a later update, where the first curve begins, so that curves take most of the width. */
export function updatesAxis(runs: readonly Run[]): XRange {
  const last = lastUpdateOf(runs);
  const firsts = runs.flatMap(({ series }) => [...series.values()].flatMap(({ plotted }) => plotted.x[0] ?? []));
  const first = Math.min(last, ...firsts);
  const from = first > MAX_LEAD * last ? first : 0;
  return { from, to: from + axisEnd(last - from) };
}

/** The axis covers all runs, so that it stays the same when one is shown or hidden. `note` says why `log` was not possible. */
export function valueAxis(metric: CurveName, runs: readonly Run[], log: boolean) {
  const shares = metric === 'rollout/success' || metric === 'eval/success';
  const values = runs.flatMap((run) => seriesOf(run, metric)?.plotted.mean ?? []);
  const [min, max] = [Math.min(...values), Math.max(...values)];
  const wholeRange = { first: 0, last: lastUpdateOf(runs), min, max, sum: 0, count: values.length, smooth: max };
  return axisFor(values.length > 0 ? [wholeRange] : [], { shares, log });
}
