import { baseName } from '../base/baseName.ts';
import { visible } from '../base/visible.ts';
import type { RunConfig } from '../config/fields.ts';
import type { BackendInfo } from '../domain/backendInfo.ts';
import type { KeptBatch } from '../domain/batch.ts';
import type { EnvironmentFile } from '../domain/environmentFile.ts';
import type { Health } from '../domain/health.ts';
import { type CurveName, type ForeignMetric, type MetricName, metricNamed } from '../domain/metrics.ts';
import type { Facts } from '../facts/facts.ts';
import type { Change } from './change.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { Series } from './series.ts';

/** A run in brief: its name, device and knobs. `Run` adds the measurements and the data that it needs to continue. */
export interface Manifest {
  readonly id: number; // its number in this browser's list of runs, from 1; no number is used twice. 0: not in the list
  readonly name: string;
  readonly started: string; // ISO 8601
  readonly backend: Pick<BackendInfo, 'kind' | 'adapter'>;
  /** On a GPU: the kernel set and the reason for it; older pages stored the kernel families instead. */
  readonly kernels?: Readonly<Record<string, string>> | undefined;
  /** The other program whose log it was read from: then the knobs and the backend are unknown, and only stand in for it. */
  readonly program?: string;
  readonly begun: RunConfig; // the run's knobs when it began, or when it was forked
  readonly config: RunConfig; // the run's knobs now
  readonly changes: readonly Change[];
  readonly update: number; // the last finished update
  /** The run that this one was forked from, and after which update. Run 0: a run of another browser, or a model's file. */
  readonly fork?: { readonly run: number; readonly update: number };
  readonly arm?: string; // in a comparison, an experiment or a sweep: the label of this run's arm, shown at its curve
  readonly seconds?: number; // how long it has trained, without pauses; absent: an older page saved it
}

/**
 * A run of any origin: in progress in the lab, finished, read from a save, one of the runs of a comparison or an
 * experiment, or the recording that ships with the page. Everything that lists, tables and files show of a run is
 * computed from this.
 */
export interface Run extends Manifest {
  readonly series: ReadonlyMap<MetricName, Series>; // every curve; points after `update` are not part of the run
  readonly foreign?: ReadonlyMap<ForeignMetric, Series>; // of another program's log: the curves that the page has no names for
  readonly health: readonly HealthStretch[];
  /** By evaluated task: whether greedy play solved it at the last evaluation. */
  readonly solved: ReadonlyMap<string, boolean> | null;
  readonly skipped: number; // number of optimizer steps that were skipped because a number was not finite
  readonly facts: Facts | null; // the person's own facts, if its tasks ask about them; else null
  readonly environment: EnvironmentFile | null; // the environment that a person wrote, if it trains on one; else null
  readonly checkpoint: Checkpoint | null; // null: the run can't be continued, only looked at
  readonly vocabulary: readonly string[]; // of `batches`
  readonly batches: readonly KeptBatch[]; // the batches that are kept, oldest first
}

/** A curve of a run, by the page's name or another program's. */
export function seriesOf({ series, foreign }: Pick<Run, 'series' | 'foreign'>, name: CurveName): Series | undefined {
  const metric = metricNamed(name);
  return metric ? series.get(metric) : foreign?.get(name as ForeignMetric);
}

/** The newest report of successive updates in which the monitor's state stayed the same, and the first of these updates. */
export interface HealthStretch {
  readonly update: number;
  readonly health: Health;
}

/** A run with these fields; all others are empty. For a run that hasn't begun, or of which no more was stored. */
export function runWithDefaults(fields: Pick<Run, 'id' | 'name' | 'started' | 'begun'> & Partial<Run>): Run {
  return {
    ...{ backend: { kind: 'cpu', adapter: '' }, config: fields.begun, changes: [], update: 0 },
    ...{ series: new Map(), health: [], solved: null, skipped: 0 },
    ...{ facts: null, environment: null, checkpoint: null, vocabulary: [], batches: [] },
    ...fields,
  };
}

const MAX_NAME_LENGTH = 200; // characters
const PATH = /^(?:~|\.{1,2})?[\\/]|^[a-z]:[\\/]/i;

/** The name and device of a run from a file, made safe to show: shortened, and without invisible characters. */
export function safeNames(name: string, { kind, adapter }: Manifest['backend']): Pick<Manifest, 'name' | 'backend'> {
  const shown = PATH.test(name) ? baseName(name) : name; // older pages named a run by the path it was read from
  return { name: visible(shown, MAX_NAME_LENGTH), backend: { kind, adapter: visible(adapter, MAX_NAME_LENGTH) } };
}

const GPU = 'WebGPU ';

export function backendText({ kind, adapter }: Manifest['backend']): string {
  return kind === 'gpu' ? `${GPU}${adapter}` : 'CPU';
}

/** Reads the text that `backendText` made. For a CPU the text doesn't name the adapter, so it is empty. */
export function readBackend(text: string): Manifest['backend'] {
  return text.startsWith(GPU) ? { kind: 'gpu', adapter: text.slice(GPU.length) } : { kind: 'cpu', adapter: '' };
}
