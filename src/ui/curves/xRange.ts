/** Updates in view, both ends included. */
export interface XRange {
  readonly from: number;
  readonly to: number;
}

const MIN_WIDTH = 4; // updates; zooming in further would show nothing more

/** Moves a range into 0 … `end` and widens it to at least `MIN_WIDTH`. Null if it covers everything. */
function clampRange(from: number, to: number, end: number): XRange | null {
  const width = Math.max(MIN_WIDTH, to - from);
  if (width >= end) return null;
  const left = Math.min(Math.max(0, (from + to - width) / 2), end - width);
  return { from: left, to: left + width };
}

/** The range that shows `factor` times as many updates and keeps update `fixedUpdate` in its place. */
export function zoomedRange({ from, to }: XRange, factor: number, fixedUpdate: number, end: number): XRange | null {
  const scale = Math.max(factor, MIN_WIDTH / (to - from));
  return clampRange(fixedUpdate - scale * (fixedUpdate - from), fixedUpdate + scale * (to - fixedUpdate), end);
}

/** The range moved by so many `updates`, no further than the ends. */
export function shiftedRange({ from, to }: XRange, updates: number, end: number): XRange | null {
  return clampRange(from + updates, to + updates, end);
}

/** The range between two updates, given in any order. */
export function rangeBetween(a: number, b: number, end: number): XRange | null {
  return clampRange(Math.min(a, b), Math.max(a, b), end);
}

/**
 * The range that puts updates `a` and `b` at two places of the plot (0: left edge, 1: right edge), as in a pinch with
 * two fingers.
 */
export function pinchRange(
  [a, b]: readonly [number, number],
  [left, right]: readonly [number, number],
  end: number,
): XRange | null {
  const distance = Math.abs(right - left) < 0.02 ? 0.02 * (right < left ? -1 : 1) : right - left;
  const width = Math.min(end, Math.max(MIN_WIDTH, Math.abs((b - a) / distance)));
  const from = a - left * width;
  return clampRange(from, from + width, end);
}
