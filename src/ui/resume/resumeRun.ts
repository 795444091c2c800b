import { endWorker, startFrom } from '../run/engine.ts';
import type { Run } from '../../runs/run.ts';
import { latestCheckpoint } from '../runs/saving.ts';
import { takeSaveSlot } from '../runs/saveSlot.ts';
import { useRuns } from '../runs/runStore.ts';

/**
 * Continues a run of an earlier visit, paused unless `running`. From now on it is saved in its old slot, or as a copy if
 * another tab uses that slot.
 */
export async function resume(run: Run, slot: string, running = false): Promise<void> {
  const ownsSlot = await takeSaveSlot(slot);
  startFrom(run, ownsSlot ? { slot } : { slot, copy: true }, running);
}

/** Brings back the run that was replaced last. */
export function restoreReplacedRun(): void {
  const { replaced } = useRuns.getState();
  if (replaced) startFrom(replaced);
}

/** Ends a run that failed and continues it, paused, from its last checkpoint if there is one. */
export function continueFailedRun(): void {
  const run = latestCheckpoint();
  endWorker();
  if (run) startFrom(run);
}
