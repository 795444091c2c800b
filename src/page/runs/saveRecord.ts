import { CheckpointError } from '../../runs/checkpoint.ts';
import { packedRun } from '../../runs/packed.ts';
import type { Run } from '../../runs/run.ts';
import { withChecksum, type StoredRun, storedRun } from '../../runs/storedRun.ts';

export interface SavedRun {
  readonly run: Run;
  readonly order: number; // later saves have higher numbers (`nextOrder`); 0: an older page saved it
  readonly savedAt: number; // ms since 1970
}

/** Stored in the browser's database. The manifest's checksum covers the parts of the run, and when it was saved. */
export type SaveRecord = StoredRun & Omit<SavedRun, 'run'>;

/** The record of a run at its checkpoint. Throws CheckpointError if the run has none. */
export function saveRecord({ run: { checkpoint, ...run }, order, savedAt }: SavedRun): SaveRecord {
  if (!checkpoint) throw new CheckpointError('The run has no checkpoint.');
  return recordOf(storedRun(packedRun({ ...run, checkpoint })), { order, savedAt });
}

/** The record of a stored run. The checksum of its manifest then also covers the time and number of the save. */
export function recordOf({ manifest, ...parts }: StoredRun, when: Omit<SavedRun, 'run'>): SaveRecord {
  return { ...when, manifest: withChecksum(manifest, checksummedParts({ ...parts, ...when })), ...parts };
}

/** The parts of a record outside the manifest that the manifest's checksum covers. */
export function checksummedParts({
  points,
  order,
  savedAt,
}: Readonly<Record<'points' | 'order' | 'savedAt', unknown>>) {
  return { points, order, savedAt };
}
