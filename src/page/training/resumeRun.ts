import { endWorker, startFrom } from './engine.ts';
import type { Run } from '../../runs/run.ts';
import { latestCheckpoint, saveAndWait } from '../runs/saving.ts';
import { takeSaveSlot } from '../runs/saveSlot.ts';
import { useRuns } from '../runs/runStore.ts';

/** Continues paused unless `running`. From now on the run is saved in its old slot, or as a copy if another tab uses that slot. */
export async function resume(run: Run, slot: string, running = false): Promise<void> {
  await saveAndWait(); // the run under way, which stays in its own slot
  const ownsSlot = await takeSaveSlot(slot);
  startFrom(run, ownsSlot ? { slot } : { slot, copy: true }, running);
}

export function restoreReplacedRun(): void {
  const { replaced, replacedSlot } = useRuns.getState();
  if (replaced && replacedSlot !== null) void resumeReplaced(replaced, replacedSlot);
  else if (replaced) startFrom(replaced);
}

/** Continues a replaced run in the slot where it stayed saved; without locks in a new one. */
async function resumeReplaced(replaced: Run, slot: string): Promise<void> {
  startFrom(replaced, (await takeSaveSlot(slot)) ? { slot } : {});
}

/** Ends a run that failed and continues it, paused, from its last checkpoint if there is one. */
export function continueFailedRun(): void {
  const run = latestCheckpoint();
  endWorker();
  if (run) startFrom(run);
}
