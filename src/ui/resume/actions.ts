import { startFrom } from '../engine.ts';
import { setProblem } from '../live-store.ts';
import { readSeries } from './pageState.ts';
import type { SavedRun } from './storage.ts';
import { forgetSaved, latestCheckpoint, useResume } from './store.ts';

/** Goes on with a saved run, paused. One whose curves do not read is dropped, and that is said; the worker looks at the rest. */
export function resume(run: SavedRun): void {
  try {
    readSeries(run.page);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The saved run cannot be gone on with: ${reason}`;
    forgetSaved();
    setProblem({ message, hint: 'It was dropped. Start a fresh run.', fatal: false, fields: [] });
    return;
  }
  startFrom(run);
}

/** Brings the run back that another has just taken the place of. */
export function bringBack(): void {
  const { replaced } = useResume.getState();
  if (replaced) resume(replaced.run);
}

/** Goes on from the last checkpoint of a run that failed. */
export function recover(): void {
  const run = latestCheckpoint();
  if (run) resume(run);
}
