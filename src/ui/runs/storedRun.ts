import { checksumOf } from '../../base/checksum.ts';
import { parseConfig } from '../../config/config.ts';
import type { RunConfig } from '../../config/fields.ts';
import { METRICS, type MetricName } from '../../domain/metrics.ts';
import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import { type Facts, isFacts } from '../../facts/facts.ts';
import { isChange } from '../../runs/change.ts';
import { CheckpointError, damaged, readCheckpoint } from '../../runs/checkpoint.ts';
import { backendText, bareRun, type Run } from '../../runs/run.ts';
import { type Points, Series } from '../../runs/series.ts';
import { readManifest } from './keptRun.ts';

/** A run that was saved, and when. */
export interface Saved {
  readonly run: Run;
  readonly order: number; // later saves have higher ones (`nextOrder`); 0: an older page saved it
  readonly savedAt: number; // ms since 1970
}

/**
 * A run as the browser's database holds it: its checkpoint, sealed by itself, its curves at full length up to that update, and a
 * checksum of all the rest.
 */
export function storedRun({ run, order, savedAt }: Saved): object {
  const { id, name, started, backend, kernels, begun, config, changes, update, fork, checkpoint, facts, environment } =
    run;
  const points = new Map(Array.from(run.series, ([metric, series]) => [metric, series.upTo(update)] as const));
  const record = { id, name, started, backend: backendText(backend), config: begun };
  const page = {
    ...{ points, flags: changes, config },
    record: { ...record, ...(kernels && { kernels }), ...(fork && { fork }) },
  };
  const stored = { update, name, order, savedAt, checkpoint, facts, ...(environment && { environment }), page };
  return { ...stored, sum: sumOf(stored) };
}

function sumOf(stored: object): string {
  return checksumOf({ ...stored, checkpoint: null, sum: null }); // the checkpoint has its own
}

/**
 * Reads what a browser kept, which may have been written by another version of the page or have been damaged. Throws CheckpointError,
 * with what is wrong, on anything that is not just what was saved. Whether the run fits this page's model is for the worker to say.
 */
export function readStored(value: unknown): Saved {
  if (typeof value !== 'object' || value === null) throw new CheckpointError('The saved data is not a run.');
  const kept = value as Readonly<Record<string, unknown>>;
  const { update, name, order = 0, savedAt } = kept;
  const checkpoint = readCheckpoint(kept['checkpoint']);
  if (update !== checkpoint.progress.update) {
    throw new CheckpointError(
      `It says update ${String(update)}, but its checkpoint is of update ${checkpoint.progress.update}.`,
    );
  }
  if (typeof name !== 'string' || typeof savedAt !== 'number' || !Number.isFinite(savedAt)) {
    throw new CheckpointError('Its name or saving time can’t be read.');
  }
  if (typeof order !== 'number' || !Number.isSafeInteger(order)) throw new CheckpointError('Its order can’t be read.');
  const facts = readFacts(kept['facts']);
  const environment = readEnvironment(kept['environment']);
  const { named, config, ...page } = readPage(kept['page']);
  const found = sumOf(kept);
  if (kept['sum'] !== found) throw new CheckpointError(damaged(kept['sum'], found));
  const { begun, config: now } = checkpoint;
  const unnamed = { id: 0, name, started: new Date(savedAt).toISOString(), begun };
  return {
    ...{ order, savedAt },
    run: bareRun({
      ...(named ?? unnamed),
      name,
      ...page,
      config: config ?? now,
      update,
      checkpoint,
      facts,
      environment,
    }),
  };
}

function readFacts(value: unknown): Facts | null {
  if (value === null) return null;
  if (!isFacts(value)) throw new CheckpointError('Its facts are not a list of triples.');
  return value;
}

function readEnvironment(value: unknown): EnvironmentFile | null {
  if (value === undefined) return null;
  const { name, text } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof name === 'string' && typeof text === 'string') return { name, text };
  throw new CheckpointError('Its environment is not a file with a name and a text.');
}

/** Curves, marks of changed knobs, the newest knobs, and what the run is called where it stands in the list. */
function readPage(value: unknown) {
  const page = (value ?? {}) as Readonly<Record<string, unknown>>;
  const { points, flags, record } = page;
  if (!(points instanceof Map)) throw new CheckpointError('Its curves can’t be read.');
  if (!Array.isArray(flags) || !flags.every(isChange)) {
    throw new CheckpointError('Its list of changed knobs can’t be read.');
  }
  const named = record === null ? null : readManifest(record);
  if (record !== null && !named) throw new CheckpointError('The record it continues can’t be read.');
  return { series: readSeries(points), changes: flags, config: readConfig(page['config']), named };
}

/** Curves drawn again from their points; curves of metrics that no longer exist are left out. */
function readSeries(points: ReadonlyMap<unknown, unknown>): Map<MetricName, Series> {
  const series = new Map<MetricName, Series>();
  for (const [key, curve] of points) {
    const name = String(key);
    const { x, y } = (curve ?? {}) as Partial<Points>;
    const reads = x instanceof Uint32Array && y instanceof Float64Array && x.length === y.length;
    if (!reads) throw new CheckpointError(`Its curve ${name} is not a list of points.`);
    try {
      const own = Series.of({ x, y });
      if (name in METRICS) series.set(name as MetricName, own);
    } catch (error) {
      throw new CheckpointError(`Its curve ${name}: ${error instanceof Error ? error.message : ''}`);
    }
  }
  return series;
}

function readConfig(value: unknown): RunConfig | null {
  try {
    return value === null ? null : parseConfig(value as Record<string, unknown>);
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    throw new CheckpointError(`Its knobs can’t be read: ${why}`);
  }
}
