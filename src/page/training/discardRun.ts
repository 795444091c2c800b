import { deleteSave } from '../runs/database.ts';
import { dropLatestSave } from '../runs/saving.ts';
import { ownSaveSlot } from '../runs/saveSlot.ts';
import { useConfig } from '../knobs/configStore.ts';
import { openReplay, useReplay } from '../view/player.ts';
import { clearBatches } from '../view/batches.ts';
import { endWorker } from './engine.ts';
import { showCurves, showNoBatch, NEW_RUN_STATE, useLive } from '../view/liveStore.ts';

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
