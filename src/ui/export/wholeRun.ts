import type { RunConfig } from '../../config/fields.ts';
import { findKernelSet } from '../../config/kernelChoice.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { hashOf } from '../address/hash.ts';
import { logText } from '../../runs/log.ts';
import type { Run } from '../../runs/run.ts';
import { currentRun } from '../run/liveRun.ts';
import { live } from '../run/liveStore.ts';
import { withKernels } from '../address/sameKernels.ts';
import { useConfig } from '../knobs/configStore.ts';
import { type Column, headOf } from './curvesCsv.ts';

/** A metric's values at updates. */
interface Measured extends Column {
  readonly metric: MetricName;
}

/** All curves of the run under way, every update. */
export function liveColumns(): readonly Measured[] {
  const { applied, wanted } = useConfig.getState();
  const config = applied ?? wanted;
  return Array.from(live.series, ([metric, series]) => ({ metric, title: headOf(metric, config), ...series.points }));
}

/** All curves of a kept run: every update of the one under way, of others the positions that were kept. */
export function columnsOf(run: Run): readonly Measured[] {
  if (currentRun()?.id === run.id) return liveColumns();
  return Array.from(run.series, ([metric, series]) => ({
    metric,
    title: headOf(metric, run.begun),
    ...series.points,
  }));
}

/**
 * A run as a log, which the page opens and `npm run train -- --json` prints too. Its first line also has the address that opens the lab with
 * its knobs, and one with the kernels named that `auto` took: bits repeat with the same kernels on one adapter.
 */
export function logOf(run: Run): string {
  const current = currentRun();
  const { begun, kernels } = run;
  const addressOf = (knobs: RunConfig) => `${location.origin}${location.pathname}${hashOf(knobs)}`;
  const named = withKernels(begun, findKernelSet(kernels?.['set']));
  return logText(current?.id === run.id ? current : run, {
    complete: current?.id === run.id, // every update; false: the positions a chart draws
    address: addressOf(begun),
    ...(named && { sameKernels: addressOf(named) }),
  });
}
