import { lazy, Suspense, useEffect, useState, type PointerEvent } from 'react';
import type { Health } from '../../domain/health.ts';
import { summarizeRun } from '../../page/words/runSummary.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { summarySentence } from '../../page/words/sentences.ts';
import { runProgressText } from '../../runs/progressText.ts';
import { restoreReplacedRun } from '../../page/training/resumeRun.ts';
import { useRuns } from '../../page/runs/runStore.ts';
import { endUndoOffer } from '../../page/runs/resumeOffers.ts';
import '../run/resume.css';

const UNDO_MS = 8000;

function UndoReset() {
  const replaced = useRuns((s) => s.replaced);
  const staysSaved = useRuns((s) => s.replacedSlot !== null);
  return (
    <div role="status" className="float undo-toast">
      {replaced && (
        <Offer
          key={`${replaced.id} ${runProgressText(replaced)}`}
          progressText={runProgressText(replaced)}
          staysSaved={staysSaved}
        />
      )}
    </div>
  );
}

/** The offer. It ends after eight seconds, but not while the pointer or the focus is on it. */
function Offer({ progressText, staysSaved }: { readonly progressText: string; readonly staysSaved: boolean }) {
  const [isHeld, setIsHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(endUndoOffer, UNDO_MS);
    return () => clearTimeout(timer);
  }, [isHeld]);
  const hold = (event: PointerEvent) => setIsHeld(event.type === 'pointerenter');
  return (
    <p className="line" onPointerEnter={hold} onPointerLeave={hold}>
      A new run replaced {progressText}
      {staysSaved ? ', which stays saved under Runs' : ''}.{' '}
      <button
        type="button"
        onFocus={() => setIsHeld(true)}
        onBlur={() => setIsHeld(false)}
        onClick={restoreReplacedRun}
      >
        Undo
      </button>
    </p>
  );
}

const ShareDialog = lazy(() => import('../share/ShareDialog.tsx').then((m) => ({ default: m.ShareDialog })));

const MIN_GAP_MS = 5000;

/** Announces milestones to screen readers, at most one every five seconds and never single steps or tokens. */
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
      if (useLive.getState().shownRecording) return; // a recording is shown, not a run of this page
      const { health } = state;
      // a change of health is never dropped, only delayed
      if (health && health.state !== (before.health?.state ?? 'ok')) say(healthWords(health), true);
      else if (state.running !== before.running || state.finished !== before.finished) {
        const words = state.finished
          ? 'Training finished.'
          : state.running
            ? 'Training.'
            : `Paused at update ${state.update}.`;
        const summary = state.running
          ? null
          : summarizeRun(useLive.getState().series, health, useLive.getState().config);
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

function healthWords({ state, since, evidence }: Health): string {
  const reasons = evidence.map(({ text }) => text).join(' ');
  return `Run health: ${state} since update ${since}. ${reasons}`.trim();
}
