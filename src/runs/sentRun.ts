import type { MetricName } from '../domain/metrics.ts';
import type { Run } from './run.ts';
import { Series, type SeriesState } from './series.ts';

/** A file that tells of a run, and playground.json that lies beside it, if one does. */
export interface RunFile {
  readonly path: string;
  readonly written: string; // ISO 8601
  readonly file: Blob;
  readonly manifest: Blob | null;
}

/** A run as a worker sends it: its curves are plain data. */
export interface SentRun extends Omit<Run, 'series'> {
  readonly curves: ReadonlyMap<MetricName, SeriesState>;
}

/** A run to send, and the memory that goes with it instead of being copied. */
export function sentRun({ series, ...run }: Run): { readonly run: SentRun; readonly moved: readonly ArrayBuffer[] } {
  const curves = new Map(Array.from(series, ([name, { state }]) => [name, state] as const));
  const moved = Array.from(curves.values(), ({ points }) => [points.x.buffer, points.y.buffer]).flat();
  return { run: { ...run, curves }, moved };
}

/** The run that was sent. */
export function receivedRun({ curves, ...run }: SentRun): Run {
  return { ...run, series: new Map(Array.from(curves, ([name, state]) => [name, Series.restored(state)] as const)) };
}
