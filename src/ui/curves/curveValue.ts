import { firstFrom, type Trace } from '../../runs/buckets.ts';

/** What was measured closest to an update, and the smoothed curve there. */
export interface ReadAt {
  readonly update: number;
  readonly value: number;
  readonly smooth: number;
}

/** A curve read at an update: of two points equally close the earlier; undefined of a curve without points. */
export function readAt({ x, y, smooth }: Trace, update: number): ReadAt | undefined {
  const after = firstFrom(x, update);
  const nearer = after > 0 && (after === x.length || update - x[after - 1]! <= x[after]! - update) ? after - 1 : after;
  if (nearer >= x.length) return undefined;
  return { update: x[nearer]!, value: y[nearer]!, smooth: smooth[nearer]! };
}
