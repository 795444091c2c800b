import { showRange, moveCrosshair, useChartView } from './view.ts';
import { rangeBetween, pinchRange, shiftedRange, type XRange, zoomedRange } from './xRange.ts';

/** The updates that the charts' axes cover without zoom, and the update where the curves end. */
export interface UpdateEnds {
  readonly axis: () => XRange;
  readonly newestUpdate: () => number;
}

/** Selector of the chart element that gestures act on. Its data attributes are the edges of the plot. */
export const PLOT_SELECTOR = '.plot';
const CLICK_PX = 6; // a shorter drag selects nothing
// change per px of the wheel: of the zoom's logarithm, or as a share of the view that is moved
const WHEEL_RATE = 0.0016;
const MAX_WHEEL_PX = 240; // px that one event of the wheel counts for at most

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
export function bindGestures(element: HTMLElement, { axis, newestUpdate: newest }: UpdateEnds): () => void {
  let gesture: Gesture = null;
  const pointers = new Map<number, number>(); // x of each pressed pointer, px
  const stop = new AbortController();
  const listen = <K extends keyof HTMLElementEventMap>(name: K, act: (event: HTMLElementEventMap[K]) => void) =>
    element.addEventListener(name, act, { signal: stop.signal, passive: false });
  const visibleRange = () => useChartView.getState().visibleRange ?? axis();
  const plotUnder = ({ target }: Event) =>
    target instanceof Element ? target.closest<HTMLElement>(PLOT_SELECTOR) : null;
  const edge = (plot: HTMLElement, name: 'left' | 'right' | 'bottom') => Number(plot.dataset[name] ?? 0);
  /** Horizontal position in the plot: 0 at its left edge, 1 at its right edge. */
  const shareAt = (plot: HTMLElement, clientX: number) => {
    const { left, right } = plot.getBoundingClientRect();
    const from = left + edge(plot, 'left');
    return (clientX - from) / Math.max(1, right - edge(plot, 'right') - from);
  };
  const updateAt = (plot: HTMLElement, clientX: number, { from, to } = visibleRange()) =>
    from + Math.min(1, Math.max(0, shareAt(plot, clientX))) * (to - from);
  const pointTo = (plot: HTMLElement, clientX: number) =>
    moveCrosshair(Math.min(newest(), Math.round(updateAt(plot, clientX))));
  const isOnAxis = (plot: HTMLElement, clientY: number) =>
    plot.getBoundingClientRect().bottom - clientY < edge(plot, 'bottom');

  listen('pointerdown', (event) => {
    const plot = plotUnder(event);
    if (!plot || (event.pointerType === 'mouse' && event.button !== 0)) return;
    pointers.set(event.pointerId, event.clientX);
    const [a, b] = [...pointers.values()];
    if (a !== undefined && b !== undefined) {
      gesture = { kind: 'hold', plot, heldUpdates: [updateAt(plot, a), updateAt(plot, b)] };
    } else if (event.pointerType === 'touch') {
      gesture = { kind: 'point', plot };
      pointTo(plot, event.clientX);
    } else {
      const kind = event.shiftKey || isOnAxis(plot, event.clientY) ? 'move' : 'choose';
      gesture = { kind, plot, startX: event.clientX, range: visibleRange() };
    }
  });
  listen('pointermove', (event) => {
    if (pointers.has(event.pointerId)) pointers.set(event.pointerId, event.clientX);
    const plot = gesture?.plot ?? plotUnder(event);
    if (!plot) {
      if (event.pointerType === 'mouse') moveCrosshair(null);
      return;
    }
    if (gesture?.kind === 'hold') {
      const [a, b] = [...pointers.values()].map((x) => shareAt(plot, x));
      if (a !== undefined && b !== undefined) showRange(pinchRange(gesture.heldUpdates, [a, b], axis()));
    } else if (gesture?.kind === 'move') {
      // follow the drag beyond the chart; capturing on pointerdown would take clicks from the chart
      element.setPointerCapture(event.pointerId);
      const { from, to } = gesture.range;
      const movedUpdates = (shareAt(plot, gesture.startX) - shareAt(plot, event.clientX)) * (to - from);
      showRange(shiftedRange(gesture.range, movedUpdates, axis()));
    } else {
      pointTo(plot, event.clientX);
      if (gesture?.kind !== 'choose') return;
      const draggedNow = rangeOfDrag(gesture, event.clientX);
      if (draggedNow) element.setPointerCapture(event.pointerId);
      useChartView.setState({ draggedRange: draggedNow });
    }
  });
  const rangeOfDrag = ({ plot, startX }: { readonly plot: HTMLElement; readonly startX: number }, clientX: number) => {
    if (Math.abs(clientX - startX) < CLICK_PX) return null;
    const [a, b] = [updateAt(plot, startX), updateAt(plot, clientX)];
    return { from: Math.min(a, b), to: Math.max(a, b) };
  };
  const release = (event: PointerEvent, confirmed: boolean) => {
    if (!pointers.delete(event.pointerId)) return;
    const { draggedRange } = useChartView.getState();
    if (gesture?.kind === 'choose' && draggedRange) {
      if (confirmed) showRange(rangeBetween(draggedRange.from, draggedRange.to, axis()));
      else useChartView.setState({ draggedRange: null });
    }
    if (pointers.size === 0) gesture = null;
  };
  listen('pointerup', (event) => release(event, true));
  listen('pointercancel', (event) => release(event, false));
  listen('pointerleave', (event) => {
    if (event.pointerType !== 'mouse') return;
    pointers.delete(event.pointerId); // the press may end outside
    gesture = null;
    moveCrosshair(null);
  });
  listen('dblclick', (event) => {
    if (plotUnder(event)) showRange(null);
  });
  listen('wheel', (event) => {
    const plot = plotUnder(event);
    const scrolls = element.scrollHeight > element.clientHeight + 1 && !event.ctrlKey;
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!plot || (scrolls && !sideways)) return;
    event.preventDefault();
    const range = visibleRange();
    const delta = Math.min(MAX_WHEEL_PX, Math.max(-MAX_WHEEL_PX, event.deltaX || event.deltaY));
    if (sideways) showRange(shiftedRange(range, delta * WHEEL_RATE * (range.to - range.from), axis()));
    else {
      showRange(
        zoomedRange(
          range,
          Math.exp(delta * WHEEL_RATE * (event.ctrlKey ? 4 : 1)),
          updateAt(plot, event.clientX),
          axis(),
        ),
      );
      pointTo(plot, event.clientX);
    }
  });
  return () => stop.abort();
}
