import type { RunConfig } from '../../config/fields.ts';
import { findKernelSet } from '../../config/kernelChoice.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { hashOf } from '../address/hash.ts';
import { logText } from '../../runs/log.ts';
import type { Run } from '../../runs/run.ts';
import { currentRun } from '../runs/liveRun.ts';
import { useLive } from '../view/liveStore.ts';
import { withUsedKernels } from '../address/sameKernels.ts';
import { useConfig } from '../knobs/configStore.ts';
import { type CsvColumn, columnTitle } from '../curves/curvesCsv.ts';

interface MetricColumn extends CsvColumn {
  readonly metric: MetricName;
}

/** All curves of the current run, with every update. */
export function liveColumns(): readonly MetricColumn[] {
  const { applied, wanted } = useConfig.getState();
  const config = applied ?? wanted;
  return Array.from(useLive.getState().series, ([metric, series]) => ({
    metric,
    title: columnTitle(metric, config),
    ...series.points,
  }));
}

/** Has every update of the current run, and of other runs the positions that were stored. */
export function columnsOf(run: Run): readonly MetricColumn[] {
  if (currentRun()?.id === run.id) return liveColumns();
  return Array.from(run.series, ([metric, series]) => ({
    metric,
    title: columnTitle(metric, run.begun),
    ...series.points,
  }));
}

/**
 * A run as a log, in the format that the page opens and `npm run train -- --json` prints. Its first line also has the
 * address that opens the lab with the run's knobs. If the kernels were `auto`, a second address names the kernels used:
 * with the same kernels on the same adapter, a run repeats bit for bit.
 */
export function logOf(run: Run): string {
  const current = currentRun();
  const { begun, kernels } = run;
  const addressOf = (knobs: RunConfig) => `${location.origin}${location.pathname}${hashOf(knobs)}`;
  const exactKnobs = withUsedKernels(begun, findKernelSet(kernels?.['set']));
  return logText(current?.id === run.id ? current : run, {
    complete: current?.id === run.id, // every update; false: the positions a chart draws
    address: addressOf(begun),
    ...(exactKnobs && { sameKernels: addressOf(exactKnobs) }),
  });
}
