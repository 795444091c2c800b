import { look, pointAt, useView } from './view.ts';
import { between, heldAt, movedBy, type XRange, zoomedBy } from './xRange.ts';

/** Which updates the axes and the curves of charts end at. */
export interface Ends {
  readonly axis: () => number;
  readonly curves: () => number;
}

/** The element of a chart that is read and moved; its attributes are the edges of its plot. */
export const PLOT = '.plot';
const CLICK_PX = 6; // a mouse that moved less has chosen nothing
const WHEEL = 0.0016; // of what is in view, by a logarithm, per px of the wheel
const MOST_WHEEL = 240; // px that one turn counts for at most

/** What fingers and the mouse are at: choosing updates to look at closer, moving what is in view, pointing, or holding two updates. */
type Doing =
  | { readonly kind: 'choose' | 'move'; readonly plot: HTMLElement; readonly began: number; readonly range: XRange }
  | { readonly kind: 'point'; readonly plot: HTMLElement }
  | { readonly kind: 'hold'; readonly plot: HTMLElement; readonly held: readonly [number, number] }
  | null;

/**
 * Lets charts within an element be read and moved. Mouse: pointing shows the crosshair; a drag chooses the updates to look at; a
 * drag with Shift, or along the axis, moves them; the wheel zooms, sideways or with Shift it moves; a double click shows all. Touch: one
 * finger points, two zoom and move. Returns a function that stops it.
 */
export function bindGestures(element: HTMLElement, { axis: end, curves: newest }: Ends): () => void {
  let doing: Doing = null;
  const fingers = new Map<number, number>(); // x of each, px
  const stop = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(name: K, act: (event: HTMLElementEventMap[K]) => void) =>
    element.addEventListener(name, act, { signal: stop.signal, passive: false });
  const rangeNow = () => useView.getState().range ?? { from: 0, to: end() };
  const plotUnder = ({ target }: Event) => (target instanceof Element ? target.closest<HTMLElement>(PLOT) : null);
  const edge = (plot: HTMLElement, name: 'left' | 'right' | 'bottom') => Number(plot.dataset[name] ?? 0);
  /** Where across the plot a place lies: 0 its left edge, 1 its right one. */
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
    fingers.set(event.pointerId, event.clientX);
    const [a, b] = [...fingers.values()];
    if (a !== undefined && b !== undefined) {
      doing = { kind: 'hold', plot, held: [updateAt(plot, a), updateAt(plot, b)] };
    } else if (event.pointerType === 'touch') {
      doing = { kind: 'point', plot };
      point(plot, event.clientX);
    } else {
      const kind = event.shiftKey || onAxis(plot, event.clientY) ? 'move' : 'choose';
      doing = { kind, plot, began: event.clientX, range: rangeNow() };
    }
  });
  on('pointermove', (event) => {
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, event.clientX);
    const plot = doing?.plot ?? plotUnder(event);
    if (!plot) {
      if (event.pointerType === 'mouse') pointAt(null);
      return;
    }
    if (doing?.kind === 'hold') {
      const [a, b] = [...fingers.values()].map((x) => shareAt(plot, x));
      if (a !== undefined && b !== undefined) look(heldAt(doing.held, [a, b], end()));
    } else if (doing?.kind === 'move') {
      element.setPointerCapture(event.pointerId); // beyond the chart, too; not at once, or a click would not be the chart's
      const { from, to } = doing.range;
      const moved = (shareAt(plot, doing.began) - shareAt(plot, event.clientX)) * (to - from);
      look(movedBy(doing.range, moved, end()));
    } else {
      point(plot, event.clientX);
      if (doing?.kind !== 'choose') return;
      const chosen = chosenBy(doing, event.clientX);
      if (chosen) element.setPointerCapture(event.pointerId);
      useView.setState({ chosen });
    }
  });
  const chosenBy = ({ plot, began }: { readonly plot: HTMLElement; readonly began: number }, clientX: number) => {
    if (Math.abs(clientX - began) < CLICK_PX) return null;
    const [a, b] = [updateAt(plot, began), updateAt(plot, clientX)];
    return { from: Math.min(a, b), to: Math.max(a, b) };
  };
  const release = (event: PointerEvent, kept: boolean) => {
    if (!fingers.delete(event.pointerId)) return;
    const { chosen } = useView.getState();
    if (doing?.kind === 'choose' && chosen) {
      if (kept) look(between(chosen.from, chosen.to, end()));
      else useView.setState({ chosen: null });
    }
    if (fingers.size === 0) doing = null;
  };
  on('pointerup', (event) => release(event, true));
  on('pointercancel', (event) => release(event, false));
  on('pointerleave', (event) => {
    if (event.pointerType !== 'mouse') return;
    fingers.delete(event.pointerId); // a press that ended elsewhere
    doing = null;
    pointAt(null);
  });
  on('dblclick', (event) => {
    if (plotUnder(event)) look(null);
  });
  on('wheel', (event) => {
    const plot = plotUnder(event);
    const scrolls = element.scrollHeight > element.clientHeight + 1 && !event.ctrlKey;
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!plot || (scrolls && !sideways)) return;
    event.preventDefault();
    const range = rangeNow();
    const turned = Math.min(MOST_WHEEL, Math.max(-MOST_WHEEL, event.deltaX || event.deltaY));
    if (sideways) look(movedBy(range, turned * WHEEL * (range.to - range.from), end()));
    else {
      look(zoomedBy(range, Math.exp(turned * WHEEL * (event.ctrlKey ? 4 : 1)), updateAt(plot, event.clientX), end()));
      point(plot, event.clientX);
    }
  });
  return () => stop.abort();
}
