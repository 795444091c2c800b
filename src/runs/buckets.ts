/** One plotted position of a curve. It summarizes the points of updates `first` to `last`. */
export interface Bucket {
  readonly first: number;
  readonly last: number;
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  readonly count: number;
  readonly smooth: number; // the smoothed curve at `last`
}

/** Merges two neighbouring buckets; `a` comes first. */
export function mergeBuckets(a: Bucket, b: Bucket): Bucket {
  return {
    first: a.first,
    last: b.last,
    min: Math.min(a.min, b.min),
    max: Math.max(a.max, b.max),
    sum: a.sum + b.sum,
    count: a.count + b.count,
    smooth: b.smooth,
  };
}

/**
 * Merges neighbours in pairs, again and again, until at most `maxCount` buckets are left. Minimum and maximum are kept.
 * Because each bucket covers a power of two of the original ones, the plotted positions stay in place while a curve
 * grows.
 */
export function mergeToCount(buckets: readonly Bucket[], maxCount: number): readonly Bucket[] {
  if (buckets.length <= Math.max(1, maxCount)) return buckets;
  const merged: Bucket[] = [];
  for (let i = 0; i < buckets.length; i += 2) {
    const [a, b] = [buckets[i], buckets[i + 1]];
    if (a) merged.push(b ? mergeBuckets(a, b) : a);
  }
  return mergeToCount(merged, maxCount);
}

/** A curve and its smoothed form. All arrays have one entry per point; `x` holds ascending updates. */
export interface SmoothedCurve {
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
  readonly smooth: ArrayLike<number>;
}

/**
 * The plotted positions of a curve from update `from` to update `to`: about `maxCount` of them, plus one on either
 * side, so that lines reach the edge. Each position covers a power of two of points, counted from the curve's
 * beginning, so panning doesn't shift the positions. Each keeps the minimum and maximum of its points.
 */
export function bucketsInRange(trace: SmoothedCurve, from: number, to: number, maxCount: number): readonly Bucket[] {
  const { x } = trace;
  const [low, high] = [firstIndexFrom(x, from), firstIndexFrom(x, to + 1)];
  let width = 1;
  while (Math.ceil(high / width) - Math.floor(low / width) > Math.max(1, maxCount)) width *= 2;
  const begin = Math.max(0, (Math.floor(low / width) - 1) * width);
  const end = Math.min(x.length, (Math.ceil(high / width) + 1) * width);
  const buckets: Bucket[] = [];
  for (let at = begin; at < end; at += width) buckets.push(bucketOf(trace, at, Math.min(at + width, x.length)));
  return buckets;
}

/** The index of the first point at or after an update; the number of points if there is none. */
export function firstIndexFrom(x: ArrayLike<number>, update: number): number {
  let [low, high] = [0, x.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle]! < update) low = middle + 1;
    else high = middle;
  }
  return low;
}

function bucketOf({ x, y, smooth }: SmoothedCurve, begin: number, end: number): Bucket {
  let [min, max, sum] = [Infinity, -Infinity, 0];
  for (let i = begin; i < end; i++) {
    const value = y[i]!;
    if (value < min) min = value;
    if (value > max) max = value;
    sum += value;
  }
  return { first: x[begin]!, last: x[end - 1]!, min, max, sum, count: end - begin, smooth: smooth[end - 1]! };
}
