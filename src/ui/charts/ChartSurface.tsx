import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import { updateAxis, newestUpdate } from '../../page/view/chartClock.ts';
import { bindGestures, type UpdateEnds, PLOT_SELECTOR } from '../../page/curves/gestures.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { registerSurface, showRange, moveCrosshair, useChartView } from '../../page/curves/view.ts';
import { shiftedRange, type XRange, zoomedRange } from '../../page/curves/xRange.ts';

const LIVE_ENDS: UpdateEnds = { axis: updateAxis, newestUpdate };
const STEPS_IN_VIEW = 100; // arrow-key steps across the updates in view
const PAGE_STEPS = 10; // steps of Page Up and Page Down
const ZOOM_FACTOR = 1.5;

interface Props {
  readonly className: string;
  readonly label: string; // names the charts for screen readers: "all charts"
  readonly valueText: (update: number) => string; // the charts' values at an update, in words
  readonly updateEnds?: UpdateEnds; // absent: the ends of the live run
  readonly children: ReactNode;
}

/**
 * Charts that are read and moved together, by mouse, touch and keys. An invisible slider over the updates takes the
 * keys, so that screen readers say what each chart shows at an update.
 */
export function ChartSurface({ className, label, valueText, updateEnds = LIVE_ENDS, children }: Props) {
  const surface = useRef<HTMLDivElement>(null);
  const slider = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const element = surface.current;
    if (!element) return;
    const unregister = registerSurface();
    const stop = bindGestures(element, updateEnds);
    const focus = ({ target }: MouseEvent) => {
      // after a click on a chart, keys act on it
      if (target instanceof Element && target.closest(PLOT_SELECTOR)) slider.current?.focus({ preventScroll: true });
    };
    element.addEventListener('click', focus);
    return () => {
      stop();
      element.removeEventListener('click', focus);
      unregister();
    };
  }, [updateEnds]);
  return (
    <div className={`chart-surface ${className}`} ref={surface}>
      <UpdateSlider {...{ label, valueText, ends: updateEnds, slider }} />
      {children}
    </div>
  );
}

type UpdateSliderProps = Pick<Props, 'label' | 'valueText'> & {
  readonly ends: UpdateEnds;
  readonly slider: { current: HTMLInputElement | null };
};

function UpdateSlider({ label, valueText, ends, slider }: UpdateSliderProps) {
  useLive((s) => s.metricsVersion);
  useLive((s) => s.curvesVersion);
  const at = useChartView((s) => s.crosshairUpdate);
  const range = useChartView((s) => s.visibleRange) ?? ends.axis();
  const first = Math.ceil(range.from);
  const last = Math.max(first, Math.min(ends.newestUpdate(), Math.floor(range.to)));
  return (
    <input
      ref={slider}
      type="range"
      className="chart-steer"
      aria-label={`Update read in ${label}`}
      aria-valuetext={at === null ? 'no update chosen; arrow keys choose one' : `update ${at}: ${valueText(at)}`}
      min={first}
      max={last}
      value={at === null ? last : Math.min(last, Math.max(first, at))}
      onChange={(event) => moveCrosshair(Number(event.target.value))}
      onKeyDown={(event) => onKey(event, range, ends)}
    />
  );
}

/** Arrows move the crosshair by a hundredth of the view, with Shift by one update; + and − zoom; < and > move; Escape shows all. */
function onKey(event: KeyboardEvent, range: XRange, ends: UpdateEnds): void {
  const whole = ends.axis();
  const last = Math.min(ends.newestUpdate(), Math.floor(range.to));
  const { crosshairUpdate, visibleRange: zoomed } = useChartView.getState();
  const step = event.shiftKey ? 1 : Math.max(1, Math.round((range.to - range.from) / STEPS_IN_VIEW));
  const start = crosshairUpdate ?? last;
  const moveTo = (update: number) => moveCrosshair(Math.max(Math.ceil(range.from), Math.min(last, update)));
  const keys: Readonly<Record<string, () => void>> = {
    ArrowRight: () => moveTo(start + step),
    ArrowUp: () => moveTo(start + step),
    ArrowLeft: () => moveTo(start - step),
    ArrowDown: () => moveTo(start - step),
    PageUp: () => moveTo(start + PAGE_STEPS * step),
    PageDown: () => moveTo(start - PAGE_STEPS * step),
    Home: () => moveTo(range.from),
    End: () => moveTo(range.to),
    '+': () => showRange(zoomedRange(range, 1 / ZOOM_FACTOR, start, whole)),
    '=': () => showRange(zoomedRange(range, 1 / ZOOM_FACTOR, start, whole)),
    '-': () => showRange(zoomedRange(range, ZOOM_FACTOR, start, whole)),
    '>': () => showRange(shiftedRange(range, (range.to - range.from) / PAGE_STEPS, whole)),
    '<': () => showRange(shiftedRange(range, (range.from - range.to) / PAGE_STEPS, whole)),
    Escape: () => (zoomed ? showRange(null) : moveCrosshair(null)),
  };
  const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
  // without zoom and crosshair, Escape is left to a dialog, which it closes
  if (!action || (event.key === 'Escape' && !zoomed && crosshairUpdate === null)) return;
  event.preventDefault();
  event.stopPropagation();
  action();
}
