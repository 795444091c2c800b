import { endWorker, startFrom } from './engine.ts';
import type { Run } from '../../runs/run.ts';
import { latestCheckpoint, saveAndWait, dropLatestSave } from '../runs/saving.ts';
import { takeSaveSlot, ownSaveSlot } from '../runs/saveSlot.ts';
import { useRuns } from '../runs/runStore.ts';
import { deleteSave } from '../runs/database.ts';
import { useConfig } from '../knobs/configStore.ts';
import { openReplay, useReplay } from '../view/player.ts';
import { clearBatches } from '../view/batches.ts';
import { showCurves, showNoBatch, NEW_RUN_STATE, useLive } from '../view/liveStore.ts';

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

/** Removes the run from the page as if none had begun: ends its worker, deletes its save, and shows the recording again. */
export async function discardRun(): Promise<void> {
  endWorker();
  dropLatestSave();
  deleteSave(ownSaveSlot()).catch(() => undefined); // if the browser can't save, there is nothing to delete
  clearBatches();
  showNoBatch();
  showCurves(new Map());
  useConfig.setState({ applied: null });
  useLive.setState({
    ...NEW_RUN_STATE,
    ...{ session: 'none', problem: null, health: null, preferences: null, backend: null },
    ...{ parameters: 0, memoryBytes: 0, metricsVersion: 0, metrics: {}, config: null, flags: [] },
  });
  useReplay.setState({ trainingBegan: false });
  await openReplay();
}
