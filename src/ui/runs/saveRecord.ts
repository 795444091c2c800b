import { CheckpointError } from '../../runs/checkpoint.ts';
import { packedRun } from '../../runs/packed.ts';
import type { Run } from '../../runs/run.ts';
import { sealed, type StoredRun, storedRun } from '../../runs/storedRun.ts';

/** A run that was saved, and when. */
export interface Saved {
  readonly run: Run;
  readonly order: number; // later saves have higher ones (`nextOrder`); 0: an older page saved it
  readonly savedAt: number; // ms since 1970
}

/** A saved run as the browser's database holds it: the parts of a stored run, and when it was saved. The manifest's checksum counts that too. */
export type SaveRecord = StoredRun & Omit<Saved, 'run'>;

/** The record of a run up to its checkpoint. Throws CheckpointError if it has none. */
export function saveRecord({ run: { checkpoint, ...run }, order, savedAt }: Saved): SaveRecord {
  if (!checkpoint) throw new CheckpointError('The run has no checkpoint.');
  return recordOf(storedRun(packedRun({ ...run, checkpoint })), { order, savedAt });
}

/** The record of these parts. */
export function recordOf({ manifest, ...parts }: StoredRun, when: Omit<Saved, 'run'>): SaveRecord {
  return { ...when, manifest: sealed(manifest, besideManifest({ ...parts, ...when })), ...parts };
}

/** What the manifest of a record is sealed with. */
export function besideManifest({ points, order, savedAt }: Readonly<Record<'points' | 'order' | 'savedAt', unknown>>) {
  return { points, order, savedAt };
}
