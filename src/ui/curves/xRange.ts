/** Updates in view, both ends included. */
export interface XRange {
  readonly from: number;
  readonly to: number;
}

const FEWEST = 4; // updates between the ends: closer there is nothing more to see

/** A part of 0 … `end` that is wide enough and lies within, of the width asked for where that can be; null: all of it. */
function within(from: number, to: number, end: number): XRange | null {
  const width = Math.max(FEWEST, to - from);
  if (width >= end) return null;
  const left = Math.min(Math.max(0, (from + to - width) / 2), end - width);
  return { from: left, to: left + width };
}

/** What is in view once `factor` times as much is, with update `about` where it was. */
export function zoomedBy({ from, to }: XRange, factor: number, about: number, end: number): XRange | null {
  const most = Math.max(factor, FEWEST / (to - from));
  return within(about - most * (about - from), about + most * (to - about), end);
}

/** What is in view once it is moved by so many updates, no further than the ends. */
export function movedBy({ from, to }: XRange, by: number, end: number): XRange | null {
  return within(from + by, to + by, end);
}

/** What lies between two updates, in whichever order. */
export function between(a: number, b: number, end: number): XRange | null {
  return within(Math.min(a, b), Math.max(a, b), end);
}

/** Two updates brought to two places of the plot (0: its left edge, 1: its right edge), as two fingers do that hold them. */
export function heldAt(
  [a, b]: readonly [number, number],
  [left, right]: readonly [number, number],
  end: number,
): XRange | null {
  const apart = Math.abs(right - left) < 0.02 ? 0.02 * (right < left ? -1 : 1) : right - left;
  const width = Math.min(end, Math.max(FEWEST, Math.abs((b - a) / apart)));
  const from = a - left * width;
  return within(from, from + width, end);
}
