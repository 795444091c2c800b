import { type PointerEvent, useEffect, useState } from 'react';
import '../styles/resume.css';
import { runProgressText } from '../../runs/progressText.ts';
import { bringBack } from './resumeRun.ts';
import { useRuns } from '../runs/runStore.ts';
import { endReplacedOffer } from './resumeOffers.ts';

const UNDO_MS = 8000;

/** Where a run that was just replaced is offered back. */
export function UndoReset() {
  const replaced = useRuns((s) => s.replaced);
  return (
    <div role="status" className="float undo-toast">
      {replaced && <Offer key={`${replaced.id} ${runProgressText(replaced)}`} standing={runProgressText(replaced)} />}
    </div>
  );
}

/** An offer of eight seconds; pointing at it keeps it. */
function Offer({ standing }: { readonly standing: string }) {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (held) return;
    const timer = setTimeout(endReplacedOffer, UNDO_MS);
    return () => clearTimeout(timer);
  }, [held]);
  const hold = (event: PointerEvent) => setHeld(event.type === 'pointerenter');
  return (
    <p className="line" onPointerEnter={hold} onPointerLeave={hold}>
      A new run replaced {standing}.{' '}
      <button type="button" onFocus={() => setHeld(true)} onBlur={() => setHeld(false)} onClick={bringBack}>
        Undo
      </button>
    </p>
  );
}
