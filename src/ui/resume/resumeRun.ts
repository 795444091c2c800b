import { abandon, startFrom } from '../run/engine.ts';
import type { Run } from '../../runs/run.ts';
import { latestCheckpoint } from '../runs/saving.ts';
import { takeSaveSlot } from '../runs/saveSlot.ts';
import { useRuns } from '../runs/runStore.ts';

/** Goes on with a run of an earlier visit, paused, and saves it in its place from now on. */
export async function resume(run: Run, slot: string): Promise<void> {
  const own = await takeSaveSlot(slot);
  startFrom(run, own ? { slot } : { slot, copy: true });
}

/** Brings the run back that another has just taken the place of. */
export function bringBack(): void {
  const { replaced } = useRuns.getState();
  if (replaced) startFrom(replaced);
}

/** Goes on from the last checkpoint of a run that failed. */
export function recover(): void {
  const run = latestCheckpoint();
  abandon();
  if (run) startFrom(run);
}
