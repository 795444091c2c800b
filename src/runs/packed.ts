import type { MetricName } from '../domain/metrics.ts';
import type { Checkpoint } from './checkpoint.ts';
import { runWithDefaults, type Run } from './run.ts';
import { type Points, Series } from './series.ts';

/** A run that can be continued, as plain data for storage or a worker. Its curves are stored as points. */
export interface PackedRun extends Omit<Run, 'series' | 'batches' | 'vocabulary' | 'checkpoint'> {
  readonly checkpoint: Checkpoint;
  readonly points: ReadonlyMap<MetricName, Points>;
}

/** Packs a run up to its checkpoint; later points of its curves are left out. */
export function packedRun(run: Run & { readonly checkpoint: Checkpoint }): PackedRun {
  const { id, name, started, backend, kernels, begun, config, changes, fork, health, solved, skipped, facts } = run;
  const { checkpoint, environment, seconds } = run;
  const { update } = checkpoint.progress;
  const points = new Map(Array.from(run.series, ([metric, series]) => [metric, series.upTo(update)] as const));
  return {
    ...{ id, name, started, backend, begun, config, changes, health, solved, skipped, facts, environment },
    ...(kernels && { kernels }),
    ...(fork && { fork }),
    ...(seconds !== undefined && { seconds }),
    ...{ update, checkpoint, points },
  };
}

/** Rebuilds the run and its curves. Throws RangeError if a curve's updates do not ascend or its values are not finite. */
export function unpackedRun({ points, checkpoint, ...run }: PackedRun): Run {
  const series = new Map(Array.from(points, ([name, curve]) => [name, Series.of(curve)] as const));
  return runWithDefaults({ ...run, checkpoint, series, vocabulary: checkpoint.vocabulary });
}
