/** A drawn position: everything that fell between `first` and `last`, its extremes kept. */
export interface Bucket {
  readonly first: number;
  readonly last: number;
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  readonly count: number;
  readonly smooth: number; // the smoothed curve at `last`
}

/** Two neighbours as one. */
export function merge(a: Bucket, b: Bucket): Bucket {
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

/** Neighbours taken together, by powers of two so that what is drawn stays where it is, until at most `most` are left; extremes are kept. */
export function atMost(buckets: readonly Bucket[], most: number): readonly Bucket[] {
  if (buckets.length <= Math.max(1, most)) return buckets;
  const half: Bucket[] = [];
  for (let i = 0; i < buckets.length; i += 2) {
    const [a, b] = [buckets[i], buckets[i + 1]];
    if (a) half.push(b ? merge(a, b) : a);
  }
  return atMost(half, most);
}

/** A curve with its smoothed course: updates that rise, values, both (points). */
export interface Trace {
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
  readonly smooth: ArrayLike<number>;
}

/**
 * The drawn positions of a curve from update `from` to update `to`: about `most` of them, and one more on either side, so that lines
 * run on to the edge. Points are taken together by powers of two, counted from the curve's beginning: moving the edges moves no
 * position, and of what a position holds the lowest and the highest are kept.
 */
export function bucketsBetween(trace: Trace, from: number, to: number, most: number): readonly Bucket[] {
  const { x } = trace;
  const [low, high] = [firstFrom(x, from), firstFrom(x, to + 1)];
  let width = 1;
  while (Math.ceil(high / width) - Math.floor(low / width) > Math.max(1, most)) width *= 2;
  const begin = Math.max(0, (Math.floor(low / width) - 1) * width);
  const end = Math.min(x.length, (Math.ceil(high / width) + 1) * width);
  const buckets: Bucket[] = [];
  for (let at = begin; at < end; at += width) buckets.push(bucketOf(trace, at, Math.min(at + width, x.length)));
  return buckets;
}

/** The place of the first point at or after an update; as many as there are points where there is none. */
export function firstFrom(x: ArrayLike<number>, update: number): number {
  let [low, high] = [0, x.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle]! < update) low = middle + 1;
    else high = middle;
  }
  return low;
}

function bucketOf({ x, y, smooth }: Trace, begin: number, end: number): Bucket {
  let [min, max, sum] = [Infinity, -Infinity, 0];
  for (let i = begin; i < end; i++) {
    const value = y[i]!;
    if (value < min) min = value;
    if (value > max) max = value;
    sum += value;
  }
  return { first: x[begin]!, last: x[end - 1]!, min, max, sum, count: end - begin, smooth: smooth[end - 1]! };
}
