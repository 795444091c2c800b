import { lazy, Suspense, useEffect, useState } from 'react';
import type { Health } from '../../domain/health.ts';
import { courseOf } from '../run/course.ts';
import { live, useLive } from '../run/liveStore.ts';
import { UndoReset } from '../resume/UndoReset.tsx';
import { useSelection } from './selectionStore.ts';
import { courseSentence } from '../run/sentences.ts';

const ShareDialog = lazy(() => import('../share/ShareDialog.tsx').then((m) => ({ default: m.ShareDialog })));

const QUIET_MS = 5000;

/** Speaks milestones to screen readers, at most one every five seconds, never a step or a token; offers to undo a reset, and the link. */
export function Announcer() {
  const [said, setSaid] = useState('');
  const sharing = useSelection((s) => s.sharing);
  useEffect(() => {
    let last = -QUIET_MS;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const say = (words: string, important: boolean) => {
      const wait = last + QUIET_MS - performance.now();
      if (wait > 0 && !important) return;
      clearTimeout(timer);
      const speak = () => {
        // a hidden page is not heard: it keeps its words until it is shown
        if (document.hidden) timer = setTimeout(speak, QUIET_MS);
        else {
          last = performance.now();
          setSaid(words);
        }
      };
      timer = setTimeout(speak, Math.max(0, wait));
    };
    const stop = useLive.subscribe((state, before) => {
      if (live.recorded) return; // it is of no run of this page
      const { health } = state;
      // an alarm is not dropped, only put off
      if (health && health.state !== (before.health?.state ?? 'ok')) say(healthWords(health), true);
      else if (state.running !== before.running || state.finished !== before.finished) {
        const words = state.finished
          ? 'Training finished.'
          : state.running
            ? 'Training.'
            : `Paused at update ${state.update}.`;
        const course = state.running ? null : courseOf(live.series, health, live.config);
        say(`${words} ${course ? courseSentence(course, health, state.finished) : ''}`, false);
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
        {said}
      </p>
      <UndoReset />
      <Suspense>{sharing && <ShareDialog />}</Suspense>
    </>
  );
}

/** A change of state as it is spoken. */
function healthWords({ state, since, evidence }: Health): string {
  const reasons = evidence.map(({ text }) => text).join(' ');
  return `Run health: ${state} since update ${since}. ${reasons}`.trim();
}
