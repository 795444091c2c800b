/** Updates in view, both ends included. */
export interface XRange {
  readonly from: number;
  readonly to: number;
}

const MIN_WIDTH = 4; // updates; zooming in further would show nothing more

/** Moves a range into the `whole` axis and widens it to at least `MIN_WIDTH`. Null if it covers everything. */
function clampRange(from: number, to: number, whole: XRange): XRange | null {
  const width = Math.max(MIN_WIDTH, to - from);
  if (width >= whole.to - whole.from) return null;
  const left = Math.min(Math.max(whole.from, (from + to - width) / 2), whole.to - width);
  return { from: left, to: left + width };
}

/** The range that shows `factor` times as many updates and keeps update `fixedUpdate` in its place. */
export function zoomedRange({ from, to }: XRange, factor: number, fixedUpdate: number, whole: XRange): XRange | null {
  const scale = Math.max(factor, MIN_WIDTH / (to - from));
  return clampRange(fixedUpdate - scale * (fixedUpdate - from), fixedUpdate + scale * (to - fixedUpdate), whole);
}

/** The range moved by so many `updates`, no further than the ends. */
export function shiftedRange({ from, to }: XRange, updates: number, whole: XRange): XRange | null {
  return clampRange(from + updates, to + updates, whole);
}

/** The range between two updates, given in any order. */
export function rangeBetween(a: number, b: number, whole: XRange): XRange | null {
  return clampRange(Math.min(a, b), Math.max(a, b), whole);
}

/** Puts updates `a` and `b` at two places of the plot (0: left edge, 1: right edge), as in a pinch with two fingers. */
export function pinchRange(
  [a, b]: readonly [number, number],
  [left, right]: readonly [number, number],
  whole: XRange,
): XRange | null {
  const distance = Math.abs(right - left) < 0.02 ? 0.02 * (right < left ? -1 : 1) : right - left;
  const width = Math.min(whole.to - whole.from, Math.max(MIN_WIDTH, Math.abs((b - a) / distance)));
  const from = a - left * width;
  return clampRange(from, from + width, whole);
}
