import { choosePreset, edit, useConfig } from '../knobs/configStore.ts';
import { pause, toBatch, useReplay } from '../replay/player.ts';
import { useLive } from '../run/liveStore.ts';
import { discardRun } from '../run/discardRun.ts';
import { useSelection } from '../shell/selectionStore.ts';
import type { RecordedUpdate, SeenArm } from './exercise.ts';
import { ExerciseError } from './learnMessage.ts';

/** Has the recording in view stand still at this update, its rollouts shown to their end; returns what is in view then, null where another recording is, or a run. */
export function standAt({ preset, update }: RecordedUpdate): SeenArm | null {
  const { recording, preset: shown, away, over } = useReplay.getState();
  if (!recording || shown !== preset || away || over) return null;
  const at = recording.batches.findIndex(({ batch }) => batch.update === update);
  const recordedBatch = recording.batches[at];
  if (!recordedBatch) throw new Error(`The recording of ${preset} has no update ${update}.`);
  pause();
  toBatch(at);
  useSelection.setState({ revealed: null });
  return { ...recordedBatch, curves: new Map() };
}

/** The same, brought into view in place of a run or of another recording: the lab has to be borrowed. Rejects where it cannot be loaded, and when the signal says so. */
export async function bringInView(wanted: RecordedUpdate, signal: AbortSignal): Promise<SeenArm> {
  if (useLive.getState().session !== 'none') await discardRun();
  const { preset, away } = useReplay.getState();
  if (preset !== wanted.preset || away) {
    const { backend, seed } = useConfig.getState().wanted;
    choosePreset(wanted.preset);
    edit({ backend, seed });
  }
  await loaded(signal);
  const seen = standAt(wanted);
  if (!seen) throw new ExerciseError({ word: 'noShipped' });
  return seen;
}

/** Resolves once the recording is there, or it is known that it will not be. */
function loaded(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const { recording, missing } = useReplay.getState();
      if (!recording && !missing && !signal.aborted) return;
      stop();
      signal.removeEventListener('abort', look);
      if (signal.aborted) reject(new Error('It was left.'));
      else resolve();
    };
    const stop = useReplay.subscribe(look);
    signal.addEventListener('abort', look);
    look();
  });
}
