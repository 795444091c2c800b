import type { ForeignMetric, MetricName } from '../domain/metrics.ts';
import type { Run } from './run.ts';
import { Series, type SeriesState } from './series.ts';

/** A log file of a run, and the playground.json in the same folder, if there is one. */
export interface RunFile {
  readonly path: string;
  readonly written: string; // ISO 8601
  readonly file: Blob;
  readonly manifest: Blob | null;
}

/** A run in the form that a worker sends: its curves are plain data. */
export interface SentRun extends Omit<Run, 'series' | 'foreign'> {
  readonly foreignCurves: ReadonlyMap<ForeignMetric, SeriesState>;
  readonly curves: ReadonlyMap<MetricName, SeriesState>;
}

/** Prepares a run for sending to another thread. `transferred` lists the buffers that are moved instead of copied. */
export function sentRun({ series, foreign, ...run }: Run): {
  readonly run: SentRun;
  readonly transferred: readonly ArrayBuffer[];
} {
  const curves = new Map(Array.from(series, ([name, { state }]) => [name, state] as const));
  const foreignCurves = new Map(Array.from(foreign ?? [], ([name, { state }]) => [name, state] as const));
  const all = [...curves.values(), ...foreignCurves.values()];
  const transferred = all.flatMap(({ points }) => [points.x.buffer, points.y.buffer]);
  return { run: { ...run, curves, foreignCurves }, transferred };
}

/** Rebuilds a run that was sent. */
export function receivedRun({ curves, foreignCurves, ...run }: SentRun): Run {
  const series = new Map(Array.from(curves, ([name, state]) => [name, Series.fromState(state)] as const));
  const foreign = new Map(Array.from(foreignCurves, ([name, state]) => [name, Series.fromState(state)] as const));
  return { ...run, series, ...(foreign.size > 0 && { foreign }) };
}
