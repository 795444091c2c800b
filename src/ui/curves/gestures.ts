import { showRange, pointAt, useView } from './view.ts';
import { between, pinchRange, movedBy, type XRange, zoomedBy } from './xRange.ts';

/** The updates where the charts' axes and curves end. */
export interface Ends {
  readonly axis: () => number;
  readonly curves: () => number;
}

/** Selector of the chart element that gestures act on. Its data attributes are the edges of the plot. */
export const PLOT = '.plot';
const CLICK_PX = 6; // a shorter drag selects nothing
// change per px of the wheel: of the zoom's logarithm, or as a share of the view that is moved
const WHEEL_RATE = 0.0016;
const MAX_WHEEL_PX = 240; // px that one event of the wheel counts for at most

/**
 * The gesture in progress: selecting a range to zoom into, moving the view, pointing, or holding two updates with two
 * fingers.
 */
type Gesture =
  | { readonly kind: 'choose' | 'move'; readonly plot: HTMLElement; readonly startX: number; readonly range: XRange }
  | { readonly kind: 'point'; readonly plot: HTMLElement }
  | { readonly kind: 'hold'; readonly plot: HTMLElement; readonly heldUpdates: readonly [number, number] }
  | null;

/**
 * Binds mouse and touch gestures to the charts in an element. Mouse: pointing shows the crosshair; a drag selects a
 * range to zoom into; a drag with Shift, or along the axis, moves the view; the wheel zooms, and sideways or with Shift
 * it moves; a double click shows all. Touch: one finger points, two zoom and move. Returns a function that removes the
 * gestures.
 */
export function bindGestures(element: HTMLElement, { axis: end, curves: newest }: Ends): () => void {
  let gesture: Gesture = null;
  const pointers = new Map<number, number>(); // x of each pressed pointer, px
  const stop = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(name: K, act: (event: HTMLElementEventMap[K]) => void) =>
    element.addEventListener(name, act, { signal: stop.signal, passive: false });
  const rangeNow = () => useView.getState().range ?? { from: 0, to: end() };
  const plotUnder = ({ target }: Event) => (target instanceof Element ? target.closest<HTMLElement>(PLOT) : null);
  const edge = (plot: HTMLElement, name: 'left' | 'right' | 'bottom') => Number(plot.dataset[name] ?? 0);
  /** Horizontal position in the plot: 0 at its left edge, 1 at its right edge. */
  const shareAt = (plot: HTMLElement, clientX: number) => {
    const { left, right } = plot.getBoundingClientRect();
    const from = left + edge(plot, 'left');
    return (clientX - from) / Math.max(1, right - edge(plot, 'right') - from);
  };
  const updateAt = (plot: HTMLElement, clientX: number, { from, to } = rangeNow()) =>
    from + Math.min(1, Math.max(0, shareAt(plot, clientX))) * (to - from);
  const point = (plot: HTMLElement, clientX: number) =>
    pointAt(Math.min(newest(), Math.round(updateAt(plot, clientX))));
  const onAxis = (plot: HTMLElement, clientY: number) =>
    plot.getBoundingClientRect().bottom - clientY < edge(plot, 'bottom');

  on('pointerdown', (event) => {
    const plot = plotUnder(event);
    if (!plot || (event.pointerType === 'mouse' && event.button !== 0)) return;
    pointers.set(event.pointerId, event.clientX);
    const [a, b] = [...pointers.values()];
    if (a !== undefined && b !== undefined) {
      gesture = { kind: 'hold', plot, heldUpdates: [updateAt(plot, a), updateAt(plot, b)] };
    } else if (event.pointerType === 'touch') {
      gesture = { kind: 'point', plot };
      point(plot, event.clientX);
    } else {
      const kind = event.shiftKey || onAxis(plot, event.clientY) ? 'move' : 'choose';
      gesture = { kind, plot, startX: event.clientX, range: rangeNow() };
    }
  });
  on('pointermove', (event) => {
    if (pointers.has(event.pointerId)) pointers.set(event.pointerId, event.clientX);
    const plot = gesture?.plot ?? plotUnder(event);
    if (!plot) {
      if (event.pointerType === 'mouse') pointAt(null);
      return;
    }
    if (gesture?.kind === 'hold') {
      const [a, b] = [...pointers.values()].map((x) => shareAt(plot, x));
      if (a !== undefined && b !== undefined) showRange(pinchRange(gesture.heldUpdates, [a, b], end()));
    } else if (gesture?.kind === 'move') {
      // follow the drag beyond the chart; capturing on pointerdown would take clicks from the chart
      element.setPointerCapture(event.pointerId);
      const { from, to } = gesture.range;
      const moved = (shareAt(plot, gesture.startX) - shareAt(plot, event.clientX)) * (to - from);
      showRange(movedBy(gesture.range, moved, end()));
    } else {
      point(plot, event.clientX);
      if (gesture?.kind !== 'choose') return;
      const chosen = draggedRange(gesture, event.clientX);
      if (chosen) element.setPointerCapture(event.pointerId);
      useView.setState({ chosen });
    }
  });
  const draggedRange = ({ plot, startX }: { readonly plot: HTMLElement; readonly startX: number }, clientX: number) => {
    if (Math.abs(clientX - startX) < CLICK_PX) return null;
    const [a, b] = [updateAt(plot, startX), updateAt(plot, clientX)];
    return { from: Math.min(a, b), to: Math.max(a, b) };
  };
  const release = (event: PointerEvent, confirmed: boolean) => {
    if (!pointers.delete(event.pointerId)) return;
    const { chosen } = useView.getState();
    if (gesture?.kind === 'choose' && chosen) {
      if (confirmed) showRange(between(chosen.from, chosen.to, end()));
      else useView.setState({ chosen: null });
    }
    if (pointers.size === 0) gesture = null;
  };
  on('pointerup', (event) => release(event, true));
  on('pointercancel', (event) => release(event, false));
  on('pointerleave', (event) => {
    if (event.pointerType !== 'mouse') return;
    pointers.delete(event.pointerId); // the press may end outside
    gesture = null;
    pointAt(null);
  });
  on('dblclick', (event) => {
    if (plotUnder(event)) showRange(null);
  });
  on('wheel', (event) => {
    const plot = plotUnder(event);
    const scrolls = element.scrollHeight > element.clientHeight + 1 && !event.ctrlKey;
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!plot || (scrolls && !sideways)) return;
    event.preventDefault();
    const range = rangeNow();
    const delta = Math.min(MAX_WHEEL_PX, Math.max(-MAX_WHEEL_PX, event.deltaX || event.deltaY));
    if (sideways) showRange(movedBy(range, delta * WHEEL_RATE * (range.to - range.from), end()));
    else {
      showRange(
        zoomedBy(range, Math.exp(delta * WHEEL_RATE * (event.ctrlKey ? 4 : 1)), updateAt(plot, event.clientX), end()),
      );
      point(plot, event.clientX);
    }
  });
  return () => stop.abort();
}
