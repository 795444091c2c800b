import { checksumOf } from '../../base/checksum.ts';
import { isRecord, type JsonRecord } from '../../base/jsonRecord.ts';
import { CheckpointError, damaged, readCheckpoint } from '../../runs/checkpoint.ts';
import { type PackedRun, unpackedRun } from '../../runs/packed.ts';
import { readStoredRun } from '../../runs/readStoredRun.ts';
import { readBackend } from '../../runs/run.ts';
import { storedRun } from '../../runs/storedRun.ts';
import { besideManifest, recordOf, type Saved, type SaveRecord } from './saveRecord.ts';

/**
 * Reads what a browser kept, which may have been written by another version of the page or have been damaged. Throws CheckpointError or RangeError,
 * with what is wrong, on anything that is not just what was saved. Whether the run fits this page's model is for the worker to say.
 */
export function readSave(value: unknown): Saved {
  if (!isRecord(value)) throw new CheckpointError('The saved data is not a run.');
  const record = 'page' in value ? fromOlderPage(value) : (value as unknown as SaveRecord);
  const run = unpackedRun(readStoredRun(record, besideManifest(record)));
  return { run, order: record.order, savedAt: record.savedAt }; // the manifest's checksum vouches for both
}

/** The record of a run that a page before the manifest saved. Throws CheckpointError unless it is what was saved. */
function fromOlderPage(kept: JsonRecord): SaveRecord {
  const found = checksumOf({ ...kept, checkpoint: null, sum: null }); // the checkpoint has its own
  if (kept['sum'] !== found) throw new CheckpointError(damaged(kept['sum'], found));
  const { page, name, update, order = 0, savedAt, facts, environment = null } = kept as unknown as OlderRecord;
  const checkpoint = readCheckpoint(kept['checkpoint']);
  const { backend = 'CPU', config: begun = checkpoint.begun, ...record } = page.record ?? {};
  const run = {
    ...{ id: 0, started: new Date(savedAt).toISOString() }, // of a run that was in no list
    ...{ ...record, name, update, begun, config: page.config ?? checkpoint.config, changes: page.flags },
    ...{ backend: readBackend(backend), points: page.points, facts, environment, checkpoint },
    ...{ health: [], solved: null, skipped: 0 }, // not saved then
  };
  return recordOf(storedRun(run), { order, savedAt });
}

/** A record of an older page as far as its checksum vouches for it; `readStoredRun` looks at every field again. */
interface OlderRecord extends Pick<PackedRun, 'name' | 'update' | 'facts'>, Pick<Saved, 'savedAt'> {
  readonly order?: number;
  readonly environment?: PackedRun['environment'];
  readonly page: {
    readonly points: PackedRun['points'];
    readonly flags: PackedRun['changes'];
    readonly config: PackedRun['config'] | null;
    readonly record: Partial<Pick<PackedRun, 'id' | 'started' | 'kernels' | 'fork'> & OlderNames> | null;
  };
}

interface OlderNames {
  readonly backend: string;
  readonly config: PackedRun['begun'];
}
