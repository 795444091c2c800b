import type { RunConfig } from '../../config/fields.ts';
import { findKernelSet } from '../../config/kernelChoice.ts';
import { METRICS, type MetricName } from '../../domain/metrics.ts';
import { hashOf } from '../address/hash.ts';
import { live, type Flag } from '../run/liveStore.ts';
import { KEPT_METRICS, type RunRecord } from '../runs/record.ts';
import { currentRecord } from '../runs/recorder.ts';
import { withKernels } from '../address/sameKernels.ts';
import { useConfig } from '../knobs/configStore.ts';
import { type Column, headOf } from './csv.ts';

/** A run as a file: what it was, and its curves. */
interface RunFile {
  readonly name: string;
  readonly started: string;
  readonly backend: string;
  readonly kernels?: RunRecord['kernels'];
  readonly address: string; // opens the page with its knobs
  readonly sameKernels?: string; // address with the kernels named that auto took: bits repeat with the same kernels on one adapter
  readonly config: RunConfig; // as it began
  readonly changes: readonly Flag[]; // knobs moved on the way
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
export function columnsOf(run: RunRecord): readonly Measured[] {
  if (currentRecord()?.id === run.id) return liveColumns();
  return KEPT_METRICS.flatMap((metric) => {
    const curve = run.curves[metric];
    return curve ? [{ metric, title: headOf(metric, run.config), x: curve.x, y: curve.mean }] : [];
  });
}

/** A run as JSON. */
export function jsonOf(run: RunRecord): string {
  const { name, started, backend, kernels, config, changes } = run;
  const curves = columnsOf(run).map(({ metric, x, y }) => {
    return [metric, { unit: METRICS[metric].unit || '1', x: Array.from(x), y: Array.from(y) }] as const;
  });
  const addressOf = (knobs: RunConfig) => `${location.origin}${location.pathname}${hashOf(knobs)}`;
  const named = withKernels(config, findKernelSet(kernels?.['set']));
  const file: RunFile = {
    ...{ name, started, backend, changes, ...(kernels && { kernels }) },
    config,
    address: addressOf(config),
    ...(named && { sameKernels: addressOf(named) }),
    complete: currentRecord()?.id === run.id,
    curves: Object.fromEntries(curves),
  };
  return `${JSON.stringify(file, null, 1)}\n`;
}
