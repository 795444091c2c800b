import type { Run } from '../../runs/run.ts';
import { newestBatch } from '../view/batches.ts';
import { useLive } from '../view/liveStore.ts';
import { pause } from './transport.ts';
import { latestCheckpoint } from '../runs/saving.ts';

const WAIT_MS = 20_000; // a paused run sends its state when the update under way is done
const POLL_MS = 50;

/** Resolves with the run and its newest batch. Null if it has no finished update, fails, or doesn't send its state in time. */
export async function pausedRun(): Promise<Run | null> {
  const { running: wasRunning, session: before, update: done } = useLive.getState();
  if (wasRunning) pause();
  if (before !== 'ready' || done === 0) return null;
  const began = performance.now();
  return new Promise((resolve) => {
    const check = () => {
      const latest = latestCheckpoint();
      const batch = newestBatch();
      const { running, update, session } = useLive.getState();
      if (!running && latest?.update === update) resolve({ ...latest, batches: batch ? [batch] : [] });
      else if (session !== 'ready' || performance.now() - began > WAIT_MS) resolve(null);
      else setTimeout(check, POLL_MS);
    };
    check();
  });
}
