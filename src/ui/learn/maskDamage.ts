import { live, useLive } from '../run/liveStore.ts';
import { pause as pauseRecording } from '../replay/player.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { UNMASKED } from '../comparisons/recipes.ts';
import { begin, stepToDamage } from './chapterActions.ts';

let stop: (() => void) | undefined; // of the last press

/**
 * Starts the noisy hunt with both masks off, takes one update, and chooses the word of the tool that it pushed hardest: what
 * grading text does that the agent did not write.
 */
export function showDamage({ inLab = false } = {}): void {
  pauseRecording();
  if (inLab) location.assign('#/lab');
  begin('noisy-hunt', UNMASKED, false);
  useSelection.setState({ channel: 'gradient', tab: 'watch' });
  stop?.();
  const unsubscribe = useLive.subscribe(({ session, update }) => {
    const { lossMask } = live.config ?? {};
    if (session !== 'ready' || update !== 0 || lossMask !== 'off') return;
    unsubscribe();
    stop = stepToDamage();
  });
  stop = unsubscribe;
}
