import type { RunConfig } from '../../config/fields.ts';
import { findKernelSet } from '../../config/kernelChoice.ts';
import { METRICS, type MetricName } from '../../domain/metrics.ts';
import { hashOf } from '../address/hash.ts';
import type { Change } from '../../runs/change.ts';
import { backendText, type Run } from '../../runs/run.ts';
import { currentRun } from '../run/liveRun.ts';
import { live } from '../run/liveStore.ts';
import { withKernels } from '../address/sameKernels.ts';
import { useConfig } from '../knobs/configStore.ts';
import { type Column, headOf } from './curvesCsv.ts';

/** A run as a file: what it was, and its curves. */
interface RunFile {
  readonly name: string;
  readonly started: string;
  readonly backend: string;
  readonly kernels?: Run['kernels'];
  readonly address: string; // opens the page with its knobs
  readonly sameKernels?: string; // address with the kernels named that auto took: bits repeat with the same kernels on one adapter
  readonly config: RunConfig; // as it began
  readonly changes: readonly Change[]; // knobs moved on the way
  readonly complete: boolean; // every update; false: the positions a chart draws
  readonly curves: Readonly<Record<string, { readonly unit: string; readonly x: number[]; readonly y: number[] }>>;
}

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

/** A run as JSON. */
export function jsonOf(run: Run): string {
  const { name, started, kernels, begun, changes } = run;
  const curves = columnsOf(run).map(({ metric, x, y }) => {
    return [metric, { unit: METRICS[metric].unit || '1', x: Array.from(x), y: Array.from(y) }] as const;
  });
  const addressOf = (knobs: RunConfig) => `${location.origin}${location.pathname}${hashOf(knobs)}`;
  const named = withKernels(begun, findKernelSet(kernels?.['set']));
  const file: RunFile = {
    ...{ name, started, backend: backendText(run.backend), changes, ...(kernels && { kernels }) },
    config: begun,
    address: addressOf(begun),
    ...(named && { sameKernels: addressOf(named) }),
    complete: currentRun()?.id === run.id,
    curves: Object.fromEntries(curves),
  };
  return `${JSON.stringify(file, null, 1)}\n`;
}
