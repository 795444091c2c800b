import { listRun, noteTraining } from './liveRun.ts';
import { useLive } from '../view/liveStore.ts';
import { bindRuns } from './runStore.ts';

/**
 * Updates the run under way in the list when the page is closed or hidden, and when the run pauses. Counts how long it
 * trains, and binds the list to other tabs. Returns a function that stops this.
 */
export function bindRecorder(): () => void {
  const onHide = () => {
    if (document.hidden) listRun();
  };
  addEventListener('pagehide', listRun);
  document.addEventListener('visibilitychange', onHide);
  const stop = useLive.subscribe((state, before) => {
    const [trains, trained] = [state, before].map(({ running, stepping }) => running || stepping);
    if (trains !== trained) noteTraining(trains === true);
    if (before.running && !state.running) listRun();
  });
  const stopRuns = bindRuns();
  return () => {
    stopRuns();
    removeEventListener('pagehide', listRun);
    document.removeEventListener('visibilitychange', onHide);
    stop();
  };
}
