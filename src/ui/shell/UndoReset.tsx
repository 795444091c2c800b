import { type PointerEvent, useEffect, useState } from 'react';
import '../styles/resume.css';
import { runProgressText } from '../../runs/progressText.ts';
import { restoreReplacedRun } from '../../page/training/resumeRun.ts';
import { useRuns } from '../../page/runs/runStore.ts';
import { endUndoOffer } from '../../page/runs/resumeOffers.ts';

const UNDO_MS = 8000;

/** Offers to bring back a run that was just replaced. */
export function UndoReset() {
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
