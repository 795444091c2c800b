import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import { lastUpdate, newestUpdate } from './chartClock.ts';
import { bindGestures, type Ends, PLOT } from './gestures.ts';
import { useLive } from '../run/liveStore.ts';
import { beginLooking, look, pointAt, useView } from './view.ts';
import { movedBy, type XRange, zoomedBy } from './xRange.ts';

const LIVE: Ends = { axis: lastUpdate, curves: newestUpdate };
const STEPS = 100; // of what is in view
const LEAP = 10; // steps
const ZOOM = 1.5;

interface Props {
  readonly className: string;
  readonly label: string; // what is read off: "all charts"
  readonly words: (update: number) => string; // what the charts say at an update
  readonly ends?: Ends; // absent: those of the live run
  readonly children: ReactNode;
}

/**
 * Charts that are read and moved together, by mouse, touch and keys. The keys belong to a slider over the updates that lies unseen
 * over the charts: so screen readers say what each chart shows there.
 */
export function ChartSurface({ className, label, words, ends = LIVE, children }: Props) {
  const surface = useRef<HTMLDivElement>(null);
  const slider = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const element = surface.current;
    if (!element) return;
    const lookAway = beginLooking();
    const stop = bindGestures(element, ends);
    const focus = ({ target }: MouseEvent) => {
      // a click on a chart gives it the keys
      if (target instanceof Element && target.closest(PLOT)) slider.current?.focus({ preventScroll: true });
    };
    element.addEventListener('click', focus);
    return () => {
      stop();
      element.removeEventListener('click', focus);
      lookAway();
    };
  }, [ends]);
  return (
    <div className={`chart-surface ${className}`} ref={surface}>
      <Steer {...{ label, words, ends, slider }} />
      {children}
    </div>
  );
}

type SteerProps = Pick<Props, 'label' | 'words'> & {
  readonly ends: Ends;
  readonly slider: { current: HTMLInputElement | null };
};

/** The update that is looked at, as a slider. */
function Steer({ label, words, ends, slider }: SteerProps) {
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

/** Arrows move the crosshair by a hundredth of what is in view, with Shift by one update; + and − zoom; < and > move; Escape shows all. */
function onKey(event: KeyboardEvent, range: XRange, ends: Ends): void {
  const end = ends.axis();
  const last = Math.min(ends.curves(), Math.floor(range.to));
  const { at, range: zoomed } = useView.getState();
  const step = event.shiftKey ? 1 : Math.max(1, Math.round((range.to - range.from) / STEPS));
  const from = at ?? last;
  const to = (update: number) => pointAt(Math.max(Math.ceil(range.from), Math.min(last, update)));
  const keys: Readonly<Record<string, () => void>> = {
    ArrowRight: () => to(from + step),
    ArrowUp: () => to(from + step),
    ArrowLeft: () => to(from - step),
    ArrowDown: () => to(from - step),
    PageUp: () => to(from + LEAP * step),
    PageDown: () => to(from - LEAP * step),
    Home: () => to(range.from),
    End: () => to(range.to),
    '+': () => look(zoomedBy(range, 1 / ZOOM, from, end)),
    '=': () => look(zoomedBy(range, 1 / ZOOM, from, end)),
    '-': () => look(zoomedBy(range, ZOOM, from, end)),
    '>': () => look(movedBy(range, (range.to - range.from) / LEAP, end)),
    '<': () => look(movedBy(range, (range.from - range.to) / LEAP, end)),
    Escape: () => (zoomed ? look(null) : pointAt(null)),
  };
  const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
  // in a dialog Escape closes once there is nothing left to let go of
  if (!act || (event.key === 'Escape' && !zoomed && at === null)) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}
