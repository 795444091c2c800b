import { useConfig } from '../knobs/configStore.ts';
import { useLive } from '../view/liveStore.ts';
import { useReplay } from '../view/player.ts';
import { useRuns } from '../runs/runStore.ts';
import { auditMask } from '../rollout/readRollout.ts';
import { useSelection } from '../view/selectionStore.ts';
import { type inject, question } from '../training/transport.ts';

/**
 * `window.__playground.snapshot()`: a copy of the page's state as plain data, for tests and for people at the console.
 * The token counts in `batch` come from the tensors that the trainer used.
 */
export function snapshot() {
  const { session, running, stepping, finished, update, phase, backend, problem, health, preferences } =
    useLive.getState();
  const { wanted, applied } = useConfig.getState();
  const { shownUpdate, row, token, turn, channel } = useSelection.getState();
  const { savedUpdate, offers, offersSearched } = useRuns.getState();
  const { batch, isExample, metrics, flags, series, shownRecording: recorded } = useLive.getState();
  return structuredClone({
    session,
    running,
    stepping,
    finished,
    update,
    phase,
    backend,
    problem,
    health,
    preferences,
    config: wanted,
    applied,
    metrics,
    flags,
    points: Object.fromEntries(recorded ? [] : [...series].map(([name, s]) => [name, s.length])), // of the run
    selection: { shownUpdate, row, token, turn, channel },
    kept: useLive.getState().batchesInWorker,
    saved: savedUpdate, // update of the last save
    offers: offersSearched ? offers.length : null, // saved runs that can be resumed; null: not known yet
    recordingAway: useReplay.getState().knobsDiffer,
    batch: { update: batch.update, rows: batch.rows, length: batch.length, isExample, ...auditMask(batch) },
  });
}

/** `window.__playground.checksum()`: a checksum of the weights; equal iff the weights are equal. Rejects without a run. */
export async function checksum(): Promise<string> {
  const answer = await question({ kind: 'checksum' });
  if (answer.kind === 'checksum') return answer.checksum;
  throw new Error(answer.kind === 'refused' ? answer.message : 'The run answered another question.');
}

declare global {
  interface Window {
    __playground?: {
      readonly snapshot: typeof snapshot;
      readonly checksum: typeof checksum;
      readonly inject: typeof inject;
    };
  }
}
