import { baseName } from '../base/baseName.ts';
import { visible } from '../base/visible.ts';
import type { RunConfig } from '../config/fields.ts';
import type { BackendInfo } from '../domain/backendInfo.ts';
import type { KeptBatch } from '../domain/batch.ts';
import type { EnvironmentFile } from '../domain/environmentFile.ts';
import type { Health } from '../domain/health.ts';
import type { MetricName } from '../domain/metrics.ts';
import type { Facts } from '../facts/facts.ts';
import type { Change } from './change.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { Series } from './series.ts';

/** What a run is, in a few words: what was measured of it, and what it takes to go on, stand in the `Run`. */
export interface Manifest {
  readonly id: number; // in a browser's list, counted from 1 and never given twice; 0: it stands in none
  readonly name: string;
  readonly started: string; // ISO 8601
  readonly backend: Pick<BackendInfo, 'kind' | 'adapter'>;
  readonly kernels?: Readonly<Record<string, string>> | undefined; // of a GPU: its set, and why; older pages kept families
  readonly begun: RunConfig; // its knobs when it began, or when it was forked
  readonly config: RunConfig; // as they are now
  readonly changes: readonly Change[];
  readonly update: number; // the last that is done
  readonly fork?: { readonly run: number; readonly update: number }; // goes on from that run, after that update
  readonly arm?: string; // of a comparison: its label there, which its curve is named by
}

/**
 * A run, wherever it was opened from: under way in the lab, finished, saved and read again, an arm of a comparison or of an experiment,
 * the recording that is shipped. What a list, a table or a file shows of it is worked out from it.
 */
export interface Run extends Manifest {
  readonly series: ReadonlyMap<MetricName, Series>; // every curve; points after `update` are not part of the run
  readonly health: readonly HealthAt[];
  readonly solved: ReadonlyMap<string, boolean> | null; // evaluated tasks, by greedy play, at the last evaluation
  readonly skipped: number; // optimizer steps that would not have been finite
  readonly facts: Facts | null; // a person's own, where it asks about them
  readonly environment: EnvironmentFile | null; // that a person wrote, where it trains on one
  readonly checkpoint: Checkpoint | null; // what it takes to go on; null: it can only be looked at
  readonly vocabulary: readonly string[]; // of `batches`
  readonly batches: readonly KeptBatch[]; // those that are kept, oldest first
}

/** Since which update the monitor has been of one mind, and the newest it said meanwhile. */
export interface HealthAt {
  readonly update: number;
  readonly health: Health;
}

/** A run of which nothing is known but what is given: one that has yet to begin, or has left no more than that. */
export function bareRun(given: Pick<Run, 'id' | 'name' | 'started' | 'begun'> & Partial<Run>): Run {
  return {
    ...{ backend: { kind: 'cpu', adapter: '' }, config: given.begun, changes: [], update: 0 },
    ...{ series: new Map(), health: [], solved: null, skipped: 0 },
    ...{ facts: null, environment: null, checkpoint: null, vocabulary: [], batches: [] },
    ...given,
  };
}

const LONGEST_NAME = 200; // characters
const PATH = /^(?:~|\.{1,2})?[\\/]|^[a-z]:[\\/]/i;

/** A run's name and its device as a file gives them, cut to what a page can draw. */
export function readNames(name: string, { kind, adapter }: Manifest['backend']): Pick<Manifest, 'name' | 'backend'> {
  const shown = PATH.test(name) ? baseName(name) : name; // older pages named a run by the path it was read from
  return { name: visible(shown, LONGEST_NAME), backend: { kind, adapter: visible(adapter, LONGEST_NAME) } };
}

const GPU = 'WebGPU ';

/** What a run computes on, as people read it. */
export function backendText({ kind, adapter }: Manifest['backend']): string {
  return kind === 'gpu' ? `${GPU}${adapter}` : 'CPU';
}

/** The same from those words; what a CPU counts with is not in them. */
export function readBackend(text: string): Manifest['backend'] {
  return text.startsWith(GPU) ? { kind: 'gpu', adapter: text.slice(GPU.length) } : { kind: 'cpu', adapter: '' };
}
