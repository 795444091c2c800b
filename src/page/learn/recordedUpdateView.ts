import { choosePreset, editKnobs, useConfig } from '../knobs/configStore.ts';
import { pause, playBatchFromStart, useReplay } from '../view/player.ts';
import { useLive } from '../view/liveStore.ts';
import { discardRun } from '../training/discardRun.ts';
import { useSelection } from '../view/selectionStore.ts';
import type { RecordedUpdate, ArmResult } from './exercise.ts';
import { ExerciseError } from './learnMessage.ts';

/** Shows the update's complete rollouts. Returns null if a run or another recording is in view. */
export function pauseRecordingAt({ preset, update }: RecordedUpdate): ArmResult | null {
  const { recording, preset: shownPreset, knobsDiffer, trainingBegan } = useReplay.getState();
  if (!recording || shownPreset !== preset || knobsDiffer || trainingBegan) return null;
  const batchIndex = recording.batches.findIndex(({ batch }) => batch.update === update);
  const recordedBatch = recording.batches[batchIndex];
  if (!recordedBatch) throw new Error(`The recording of ${preset} has no update ${update}.`);
  pause();
  playBatchFromStart(batchIndex);
  useSelection.setState({ revealed: null });
  return { ...recordedBatch, curves: new Map() };
}

/** Replaces a run or another recording. Call `takeLab` first. Rejects if the recording can't be loaded or the signal aborts. */
export async function showRecordedUpdate(wanted: RecordedUpdate, signal: AbortSignal): Promise<ArmResult> {
  if (useLive.getState().session !== 'none') await discardRun();
  const { preset, knobsDiffer } = useReplay.getState();
  if (preset !== wanted.preset || knobsDiffer) {
    const { backend, seed } = useConfig.getState().wanted;
    choosePreset(wanted.preset);
    editKnobs({ backend, seed });
  }
  await recordingLoaded(signal);
  const result = pauseRecordingAt(wanted);
  if (!result) throw new ExerciseError({ word: 'noShipped' });
  return result;
}

/** Resolves once the recording is loaded, or known to be missing. */
function recordingLoaded(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const check = () => {
      const { recording, loadFailed } = useReplay.getState();
      if (!recording && !loadFailed && !signal.aborted) return;
      stop();
      signal.removeEventListener('abort', check);
      if (signal.aborted) reject(new Error('It was left.'));
      else resolve();
    };
    const stop = useReplay.subscribe(check);
    signal.addEventListener('abort', check);
    check();
  });
}
