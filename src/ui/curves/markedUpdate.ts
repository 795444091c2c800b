import { live, useLive } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';

/** The update of the batch in view where the curves mark it: on a recording any, of a run one that is held; else null. */
export function useMarkedUpdate(): number | null {
  const shownUpdate = useSelection((s) => s.shownUpdate);
  return useLive(() => (live.recorded || shownUpdate === live.batch.update ? live.batch.update : null));
}

/** The recording that the curves are of; null where they are those of the run. */
export function useRecorded() {
  return useLive(() => live.recorded);
}
