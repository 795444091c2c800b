import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useConfig } from '../knobs/configStore.ts';
import { useLive } from '../run/liveStore.ts';
import { Icon } from '../parts/Icon.tsx';
import { useRoute } from '../address/route.ts';
import { useSelection } from '../shell/selectionStore.ts';
import '../styles/tour.css';
import { forgetOffer } from './offer.ts';
import { STOPS } from './stops.ts';

/** Eight stops, each over when its task was done in the lab. Esc ends it, and focus goes back to where it came from. */
export function Tour() {
  const [at, setAt] = useState(0);
  const [result, setResult] = useState(''); // of the stop before
  const card = useRef<HTMLElement>(null);
  const [from] = useState(() => document.activeElement);
  // in the same breath as the card goes: later, a key pressed in between would go nowhere
  useLayoutEffect(() => {
    forgetOffer();
    card.current?.focus();
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || document.querySelector('dialog[open]')) return;
      event.stopPropagation(); // Esc lets go of a token elsewhere
      close();
    };
    addEventListener('keydown', onKey, true);
    return () => {
      removeEventListener('keydown', onKey, true);
      if (from instanceof HTMLElement && from.isConnected) from.focus();
    };
  }, [from]);

  const stop = STOPS[at];
  // before it is looked whether the stop is over, which may hang on how it began
  useEffect(() => stop?.enter?.(), [stop]);

  const route = useRoute();
  useEffect(() => {
    let over = false;
    const look = () => {
      if (over || !STOPS[at]?.done()) return;
      over = true; // what a result points at changes what is looked at here
      setResult(STOPS[at].result());
      setAt(at + 1);
    };
    look();
    const stops = [useLive.subscribe(look), useSelection.subscribe(look), useConfig.subscribe(look)];
    return () => stops.forEach((stop) => stop());
  }, [at, route]);

  const target = stop?.target;
  const version = useLive((s) => s.batchVersion);
  const token = useSelection((s) => s.token);
  useEffect(() => {
    if (!target) return;
    const marked = [...document.querySelectorAll(target)].find((e) => e.getClientRects().length > 0);
    marked?.setAttribute('data-tour', '');
    // a phone shows little at a time
    if (matchMedia('(max-width: 860px)').matches) marked?.scrollIntoView({ block: 'nearest' });
    return () => marked?.removeAttribute('data-tour');
  }, [target, route, version, token]); // what it names may come later

  return (
    <aside ref={card} className="stack float tour" tabIndex={-1} aria-label="Tour" data-testid="tour">
      <div className="panel-head">
        <span className="faint">{stop ? `Stop ${at + 1} of ${STOPS.length}` : 'The tour is over'}</span>
        <button type="button" className="quiet icon-button small" aria-label="End the tour" title="Esc" onClick={close}>
          <Icon name="cross" />
        </button>
      </div>
      <div role="status">
        {result && <p className="tour-result strong">{result}</p>}
        <h2>{stop ? stop.title : 'That was the tour'}</h2>
        <p>{stop ? stop.text : 'The chapters under Learn explain more. Each has an exercise.'}</p>
      </div>
      <progress value={at} max={STOPS.length} aria-label="Stops done" />
    </aside>
  );
}

function close(): void {
  useSelection.setState({ touring: false });
}
