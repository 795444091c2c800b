import { useLive } from './liveStore.ts';
import { useSelection } from './selectionStore.ts';

/** The update of the batch shown, if it is from a recording or the reader chose it. Otherwise null. */
export function useMarkedUpdate(): number | null {
  const shownUpdate = useSelection((s) => s.shownUpdate);
  return useLive(({ shownRecording, batch }) => (shownRecording || shownUpdate === batch.update ? batch.update : null));
}

/** The recording whose curves are shown; null if they are the run's. */
export function useRecording() {
  return useLive((s) => s.shownRecording);
}
