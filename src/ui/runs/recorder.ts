import { listRun } from '../run/liveRun.ts';
import { useLive } from '../run/liveStore.ts';
import { bindRuns } from './runStore.ts';

/** Puts the run under way into the list when the page is left or hidden, and when it pauses. Returns a function that stops. */
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
