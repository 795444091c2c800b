import { listRun } from '../run/liveRun.ts';
import { useLive } from '../run/liveStore.ts';
import { bindRuns } from './runStore.ts';

/**
 * Updates the run under way in the list when the page is closed or hidden, and when the run pauses. Also binds the list
 * to other tabs. Returns a function that stops this.
 */
export function bindRecorder(): () => void {
  const onHide = () => {
    if (document.hidden) listRun();
  };
  addEventListener('pagehide', listRun);
  document.addEventListener('visibilitychange', onHide);
  const stop = useLive.subscribe((state, before) => {
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
