import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useProgress } from '../learn/chapterProgress.ts';
import { fill } from '../learn/texts/fill.ts';
import type { Texts } from '../learn/texts/shape.ts';
import { useLoadedTexts } from '../learn/useTexts.ts';
import { useConfig } from '../knobs/configStore.ts';
import { useLive } from '../run/liveStore.ts';
import { BREAKPOINTS } from '../parts/breakpoints.ts';
import { Icon } from '../parts/Icon.tsx';
import { useRoute } from '../address/route.ts';
import { useSelection } from '../shell/selectionStore.ts';
import '../styles/tour.css';
import { forgetOffer } from './offer.ts';
import { STOPS, UPDATES } from './stops.ts';

/** The tour in the language of Learn, once its words are here. */
export function Tour() {
  const texts = useLoadedTexts(useProgress((s) => s.language));
  return texts && <TourCard texts={texts} />;
}

/** Eight stops, each over when its task was done in the lab. Esc ends it, and focus goes back to where it came from. */
function TourCard({ texts }: { readonly texts: Texts }) {
  const { tour, decimal } = texts;
  const [at, setAt] = useState(0);
  const [result, setResult] = useState<Readonly<Record<string, number | string>> | null>(null); // of the stop before
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
      setResult(STOPS[at].result(tour));
      setAt(at + 1);
    };
    look();
    const stops = [useLive.subscribe(look), useSelection.subscribe(look), useConfig.subscribe(look)];
    return () => stops.forEach((stop) => stop());
  }, [at, route, tour]);

  const target = stop?.target;
  const version = useLive((s) => s.batchVersion);
  const token = useSelection((s) => s.token);
  useEffect(() => {
    if (!target) return;
    const marked = [...document.querySelectorAll(target)].find((e) => e.getClientRects().length > 0);
    marked?.setAttribute('data-tour', '');
    // a phone shows little at a time
    if (matchMedia(BREAKPOINTS.phone).matches) marked?.scrollIntoView({ block: 'nearest' });
    return () => marked?.removeAttribute('data-tour');
  }, [target, route, version, token]); // what it names may come later

  const words = stop && tour.stops[stop.id];
  const ended = STOPS[at - 1];
  return (
    <aside
      ref={card}
      className="stack float tour"
      tabIndex={-1}
      aria-label={tour.name}
      data-testid="tour"
      lang={texts.language}
    >
      <div className="panel-head">
        <span className="faint">{stop ? fill(tour.at, { at: at + 1, all: STOPS.length }) : tour.over}</span>
        <button type="button" className="quiet icon-button small" aria-label={tour.end} title="Esc" onClick={close}>
          <Icon name="cross" />
        </button>
      </div>
      <div role="status">
        {result && ended && <p className="tour-result strong">{fill(tour.stops[ended.id].result, result, decimal)}</p>}
        <h2>{words?.title ?? tour.finale.title}</h2>
        <p>{fill(words?.text ?? tour.finale.text, { least: UPDATES })}</p>
      </div>
      <progress value={at} max={STOPS.length} aria-label={tour.progress} />
    </aside>
  );
}

function close(): void {
  useSelection.setState({ touring: false });
}
