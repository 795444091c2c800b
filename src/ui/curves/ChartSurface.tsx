import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import { lastUpdate, newestUpdate } from './chartClock.ts';
import { bindGestures, type Ends, PLOT } from './gestures.ts';
import { useLive } from '../run/liveStore.ts';
import { registerSurface, showRange, pointAt, useView } from './view.ts';
import { movedBy, type XRange, zoomedBy } from './xRange.ts';

const LIVE: Ends = { axis: lastUpdate, curves: newestUpdate };
const STEPS_IN_VIEW = 100; // arrow-key steps across the updates in view
const PAGE_STEPS = 10; // steps of Page Up and Page Down
const ZOOM_FACTOR = 1.5;

interface Props {
  readonly className: string;
  readonly label: string; // names the charts for screen readers: "all charts"
  readonly words: (update: number) => string; // the charts' values at an update, in words
  readonly ends?: Ends; // absent: the ends of the live run
  readonly children: ReactNode;
}

/**
 * Charts that are read and moved together, by mouse, touch and keys. An invisible slider over the updates takes the
 * keys, so that screen readers say what each chart shows at an update.
 */
export function ChartSurface({ className, label, words, ends = LIVE, children }: Props) {
  const surface = useRef<HTMLDivElement>(null);
  const slider = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const element = surface.current;
    if (!element) return;
    const endLooking = registerSurface();
    const stop = bindGestures(element, ends);
    const focus = ({ target }: MouseEvent) => {
      // after a click on a chart, keys act on it
      if (target instanceof Element && target.closest(PLOT)) slider.current?.focus({ preventScroll: true });
    };
    element.addEventListener('click', focus);
    return () => {
      stop();
      element.removeEventListener('click', focus);
      endLooking();
    };
  }, [ends]);
  return (
    <div className={`chart-surface ${className}`} ref={surface}>
      <UpdateSlider {...{ label, words, ends, slider }} />
      {children}
    </div>
  );
}

type UpdateSliderProps = Pick<Props, 'label' | 'words'> & {
  readonly ends: Ends;
  readonly slider: { current: HTMLInputElement | null };
};

/** The invisible slider: its value is the update at the crosshair. */
function UpdateSlider({ label, words, ends, slider }: UpdateSliderProps) {
  useLive((s) => s.metricsVersion);
  useLive((s) => s.curvesVersion);
  const at = useView((s) => s.at);
  const range = useView((s) => s.range) ?? { from: 0, to: ends.axis() };
  const first = Math.ceil(range.from);
  const last = Math.max(first, Math.min(ends.curves(), Math.floor(range.to)));
  return (
    <input
      ref={slider}
      type="range"
      className="chart-steer"
      aria-label={`Update read in ${label}`}
      aria-valuetext={at === null ? 'no update chosen; arrow keys choose one' : `update ${at}: ${words(at)}`}
      min={first}
      max={last}
      value={at === null ? last : Math.min(last, Math.max(first, at))}
      onChange={(event) => pointAt(Number(event.target.value))}
      onKeyDown={(event) => onKey(event, range, ends)}
    />
  );
}

/**
 * Handles a key. Arrows move the crosshair by a hundredth of the view, with Shift by one update; + and − zoom; < and >
 * move; Escape shows all.
 */
function onKey(event: KeyboardEvent, range: XRange, ends: Ends): void {
  const end = ends.axis();
  const last = Math.min(ends.curves(), Math.floor(range.to));
  const { at, range: zoomed } = useView.getState();
  const step = event.shiftKey ? 1 : Math.max(1, Math.round((range.to - range.from) / STEPS_IN_VIEW));
  const from = at ?? last;
  const to = (update: number) => pointAt(Math.max(Math.ceil(range.from), Math.min(last, update)));
  const keys: Readonly<Record<string, () => void>> = {
    ArrowRight: () => to(from + step),
    ArrowUp: () => to(from + step),
    ArrowLeft: () => to(from - step),
    ArrowDown: () => to(from - step),
    PageUp: () => to(from + PAGE_STEPS * step),
    PageDown: () => to(from - PAGE_STEPS * step),
    Home: () => to(range.from),
    End: () => to(range.to),
    '+': () => showRange(zoomedBy(range, 1 / ZOOM_FACTOR, from, end)),
    '=': () => showRange(zoomedBy(range, 1 / ZOOM_FACTOR, from, end)),
    '-': () => showRange(zoomedBy(range, ZOOM_FACTOR, from, end)),
    '>': () => showRange(movedBy(range, (range.to - range.from) / PAGE_STEPS, end)),
    '<': () => showRange(movedBy(range, (range.from - range.to) / PAGE_STEPS, end)),
    Escape: () => (zoomed ? showRange(null) : pointAt(null)),
  };
  const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
  // without zoom and crosshair, Escape is left to a dialog, which it closes
  if (!act || (event.key === 'Escape' && !zoomed && at === null)) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}
