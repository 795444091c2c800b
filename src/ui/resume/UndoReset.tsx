import { type PointerEvent, useEffect, useState } from 'react';
import '../styles/resume.css';
import { standingOf } from '../../runs/standing.ts';
import { bringBack } from './resumeRun.ts';
import { useRuns } from '../runs/runStore.ts';
import { letGo } from './resumeOffers.ts';

const UNDO_MS = 8000;

/** Where a run that was just replaced is offered back. */
export function UndoReset() {
  const replaced = useRuns((s) => s.replaced);
  return (
    <div role="status" className="float undo-toast">
      {replaced && <Offer key={`${replaced.id} ${standingOf(replaced)}`} standing={standingOf(replaced)} />}
    </div>
  );
}

/** An offer of eight seconds; pointing at it keeps it. */
function Offer({ standing }: { readonly standing: string }) {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (held) return;
    const timer = setTimeout(letGo, UNDO_MS);
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
