import type { MetricName } from '../../domain/metrics.ts';
import { hashOf } from '../address/hash.ts';
import { logText } from '../../runs/log.ts';
import type { Run } from '../../runs/run.ts';
import { currentRun } from '../runs/liveRun.ts';
import { useLive } from '../view/liveStore.ts';
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
 * address that opens the lab with the run's knobs.
 */
export function logOf(run: Run): string {
  const current = currentRun();
  return logText(current?.id === run.id ? current : run, {
    complete: current?.id === run.id, // every update; false: the positions a chart draws
    address: `${location.origin}${location.pathname}${hashOf(run.begun)}`,
  });
}
