import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { fill } from '../../page/learn/fill.ts';
import { TOUR } from '../../page/learn/tourTexts.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { BREAKPOINTS } from '../../page/browser/breakpoints.ts';
import { Icon } from '../parts/Icon.tsx';
import { useRoute } from '../../page/address/route.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { noteTourBegun } from '../../page/learn/offer.ts';
import { STOPS, MIN_UPDATES } from '../../page/learn/stops.ts';
import './tour.css';

/** A stop ends when its task is done in the lab. Esc ends the tour, and the focus returns to where it was. */
export function Tour() {
  const [stopIndex, setAt] = useState(0);
  const [result, setResult] = useState<Readonly<Record<string, number | string>> | null>(null); // of the previous stop
  const card = useRef<HTMLElement>(null);
  const [focusBefore] = useState(() => document.activeElement);
  // a layout effect, so that the focus returns as soon as the card is removed and no key is lost in between
  useLayoutEffect(() => {
    noteTourBegun();
    card.current?.focus();
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || document.querySelector('dialog[open]')) return;
      event.stopPropagation(); // elsewhere Esc deselects the token
      close();
    };
    addEventListener('keydown', onKey, true);
    return () => {
      removeEventListener('keydown', onKey, true);
      if (focusBefore instanceof HTMLElement && focusBefore.isConnected) focusBefore.focus();
    };
  }, [focusBefore]);

  const stop = STOPS[stopIndex];
  // runs before the check whether the stop is done, which may depend on it
  useEffect(() => stop?.enter?.(), [stop]);

  const route = useRoute();
  useEffect(() => {
    let isOver = false;
    const checkStop = () => {
      if (isOver || !STOPS[stopIndex]?.done()) return;
      isOver = true; // result() may change the selection, which calls this again
      setResult(STOPS[stopIndex].result(TOUR));
      setAt(stopIndex + 1);
    };
    checkStop();
    const stops = [useLive.subscribe(checkStop), useSelection.subscribe(checkStop), useConfig.subscribe(checkStop)];
    return () => stops.forEach((stop) => stop());
  }, [stopIndex, route]);

  const target = stop?.target;
  const version = useLive((s) => s.batch);
  const token = useSelection((s) => s.token);
  useEffect(() => {
    if (!target) return;
    const marked = [...document.querySelectorAll(target)].find((e) => e.getClientRects().length > 0);
    marked?.setAttribute('data-tour', '');
    // on a phone the target may be out of view
    if (matchMedia(BREAKPOINTS.phone).matches) marked?.scrollIntoView({ block: 'nearest' });
    return () => marked?.removeAttribute('data-tour');
  }, [target, route, version, token]); // the target may appear later

  const words = stop && TOUR.stops[stop.id];
  const lastStop = STOPS[stopIndex - 1];
  return (
    <aside ref={card} className="stack float tour" tabIndex={-1} aria-label={TOUR.name} data-testid="tour">
      <div className="panel-head">
        <span className="faint">{stop ? fill(TOUR.at, { at: stopIndex + 1, all: STOPS.length }) : TOUR.over}</span>
        <button type="button" className="quiet icon-button small" aria-label={TOUR.end} title="Esc" onClick={close}>
          <Icon name="cross" />
        </button>
      </div>
      <div role="status">
        {result && lastStop && <p className="tour-result strong">{fill(TOUR.stops[lastStop.id].result, result)}</p>}
        <h2>{words?.title ?? TOUR.finale.title}</h2>
        <p>{fill(words?.text ?? TOUR.finale.text, { least: MIN_UPDATES })}</p>
      </div>
      <progress value={stopIndex} max={STOPS.length} aria-label={TOUR.progress} />
    </aside>
  );
}

function close(): void {
  useSelection.setState({ touring: false });
}
