import { lazy, Suspense, useEffect, useState } from 'react';
import type { Health } from '../../domain/health.ts';
import { summarizeRun } from '../../page/words/runSummary.ts';
import { live, useLive } from '../../page/view/liveStore.ts';
import { UndoReset } from './UndoReset.tsx';
import { useSelection } from '../../page/view/selectionStore.ts';
import { summarySentence } from '../../page/words/sentences.ts';

const ShareDialog = lazy(() => import('../share/ShareDialog.tsx').then((m) => ({ default: m.ShareDialog })));

const MIN_GAP_MS = 5000;

/**
 * Announces milestones to screen readers, at most one every five seconds and never single steps or tokens. Also holds
 * the offer to undo a reset, and the share dialog.
 */
export function Announcer() {
  const [announcement, setAnnouncement] = useState('');
  const sharing = useSelection((s) => s.sharing);
  useEffect(() => {
    let lastSpoken = -MIN_GAP_MS;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const say = (words: string, important: boolean) => {
      const wait = lastSpoken + MIN_GAP_MS - performance.now();
      if (wait > 0 && !important) return;
      clearTimeout(timer);
      const speak = () => {
        // screen readers skip a hidden page, so wait until it is visible
        if (document.hidden) timer = setTimeout(speak, MIN_GAP_MS);
        else {
          lastSpoken = performance.now();
          setAnnouncement(words);
        }
      };
      timer = setTimeout(speak, Math.max(0, wait));
    };
    const stop = useLive.subscribe((state, before) => {
      if (live.shownRecording) return; // a recording is shown, not a run of this page
      const { health } = state;
      // a change of health is never dropped, only delayed
      if (health && health.state !== (before.health?.state ?? 'ok')) say(healthWords(health), true);
      else if (state.running !== before.running || state.finished !== before.finished) {
        const words = state.finished
          ? 'Training finished.'
          : state.running
            ? 'Training.'
            : `Paused at update ${state.update}.`;
        const summary = state.running ? null : summarizeRun(live.series, health, live.config);
        say(`${words} ${summary ? summarySentence(summary, health, state.finished) : ''}`, false);
      }
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
  return (
    <>
      <p className="visually-hidden" role="status">
        {announcement}
      </p>
      <UndoReset />
      <Suspense>{sharing && <ShareDialog />}</Suspense>
    </>
  );
}

/** The announcement of a new health state. */
function healthWords({ state, since, evidence }: Health): string {
  const reasons = evidence.map(({ text }) => text).join(' ');
  return `Run health: ${state} since update ${since}. ${reasons}`.trim();
}
