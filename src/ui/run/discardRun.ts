import { dropSaved } from '../runs/database.ts';
import { forgetLatest } from '../runs/saving.ts';
import { ownSaveSlot } from '../runs/saveSlot.ts';
import { useConfig } from '../knobs/configStore.ts';
import { openReplay, useReplay } from '../replay/player.ts';
import { clearBatches } from './batches.ts';
import { endWorker } from './engine.ts';
import { live, showCurves, showNoBatch, STILL, useLive } from './liveStore.ts';

/** Takes the run off the page as if none had begun: its worker ends, nothing of it is saved, and the recording is back. */
export async function discardRun(): Promise<void> {
  endWorker();
  forgetLatest();
  dropSaved(ownSaveSlot()).catch(() => undefined); // where nothing can be saved, nothing was
  clearBatches();
  showNoBatch();
  showCurves(new Map());
  live.metrics = {};
  live.config = null;
  live.flags = [];
  useConfig.setState({ applied: null });
  useLive.setState((s) => ({
    ...STILL,
    ...{ session: 'none', problem: null, health: null, preferences: null, backend: null },
    ...{ parameters: 0, memoryBytes: 0, metricsVersion: 0, flagsVersion: s.flagsVersion + 1 },
  }));
  useReplay.setState({ over: false });
  await openReplay();
}
