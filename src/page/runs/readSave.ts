import { checksumOf } from '../../base/checksum.ts';
import { isRecord, type JsonRecord } from '../../base/jsonRecord.ts';
import { CheckpointError, damageText, readCheckpoint } from '../../runs/checkpoint.ts';
import { type PackedRun, unpackedRun } from '../../runs/packed.ts';
import { readStoredRun } from '../../runs/readStoredRun.ts';
import { readBackend } from '../../runs/run.ts';
import { storedRun } from '../../runs/storedRun.ts';
import { checksummedParts, recordOf, type SavedRun, type SaveRecord } from './saveRecord.ts';

/**
 * Reads a save from the browser's database. It may be damaged or come from another version of the page. Throws
 * CheckpointError or RangeError with the reason unless it is exactly what was saved. Whether the run fits this page's
 * model is checked by the worker.
 */
export function readSave(value: unknown): SavedRun {
  if (!isRecord(value)) throw new CheckpointError('The saved data is not a run.');
  const record = 'page' in value ? fromOlderPage(value) : (value as unknown as SaveRecord);
  const run = unpackedRun(readStoredRun(record, checksummedParts(record)));
  return { run, order: record.order, savedAt: record.savedAt }; // the manifest's checksum covers both
}

/** Converts a save from a page that had no manifest yet. Throws CheckpointError unless its checksum is right. */
function fromOlderPage(save: JsonRecord): SaveRecord {
  const checksum = checksumOf({ ...save, checkpoint: null, sum: null }); // the checkpoint has its own checksum
  if (save['sum'] !== checksum) throw new CheckpointError(damageText(save['sum'], checksum));
  const { page, name, update, order = 0, savedAt, facts, environment = null } = save as unknown as OlderRecord;
  const checkpoint = readCheckpoint(save['checkpoint']);
  const { backend = 'CPU', config: begun = checkpoint.begun, ...record } = page.record ?? {};
  const run = {
    ...{ id: 0, started: new Date(savedAt).toISOString() }, // for a run that was in no list
    ...{ ...record, name, update, begun, config: page.config ?? checkpoint.config, changes: page.flags },
    ...{ backend: readBackend(backend), points: page.points, facts, environment, checkpoint },
    ...{ health: [], solved: null, skipped: 0 }, // older pages did not save these
  };
  return recordOf(storedRun(run), { order, savedAt });
}

/** The save of an older page. Only its checksum was checked; `readStoredRun` checks every field. */
interface OlderRecord extends Pick<PackedRun, 'name' | 'update' | 'facts'>, Pick<SavedRun, 'savedAt'> {
  readonly order?: number;
  readonly environment?: PackedRun['environment'];
  readonly page: {
    readonly points: PackedRun['points'];
    readonly flags: PackedRun['changes'];
    readonly config: PackedRun['config'] | null;
    readonly record: Partial<Pick<PackedRun, 'id' | 'started' | 'kernels' | 'fork'> & OlderNames> | null;
  };
}

/** Fields that an older page saved under other names or types. */
interface OlderNames {
  readonly backend: string;
  readonly config: PackedRun['begun'];
}
