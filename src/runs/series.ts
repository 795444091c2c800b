import { type Bucket, mergeBuckets } from './buckets.ts';
import { type SmootherState, Smoother } from './smoothing.ts';

/** The points of a curve. Both arrays have one entry per point. */
export interface Points {
  readonly x: Uint32Array; // updates
  readonly y: Float64Array; // values
}

/** Each plotted position's last update, the mean of its points, and the smoothed curve at that update. */
export interface PlottedCurve {
  readonly x: readonly number[];
  readonly mean: readonly number[];
  readonly smooth: readonly number[];
}

/** A curve as plain data: its points, its buckets, and the state of the smoother. */
export interface SeriesState {
  readonly points: { readonly x: Uint32Array<ArrayBuffer>; readonly y: Float64Array<ArrayBuffer> };
  readonly buckets: readonly Bucket[];
  readonly bucketSize: number; // points in a closed bucket
  readonly smoothed: SmootherState;
}

/** Maximum number of positions that a chart plots. */
export const MAX_BUCKETS = 300;

/**
 * A curve: all its points, and the buckets that charts plot. A bucket summarizes neighbouring points, and buckets are
 * merged as the curve grows. A bucket keeps the minimum and maximum of its points, so a spike of one point always stays
 * visible. All buckets but the last are closed: they change only by merging with a neighbour, so the plotted past of a
 * curve doesn't flicker.
 */
export class Series {
  #x = new Uint32Array(64);
  #y = new Float64Array(64);
  #buckets: Bucket[] = [];
  #bucketSize = 1; // points in a closed bucket
  #smoother = new Smoother();
  #length = 0;
  #firstValue = 0;
  #lastValue = 0;
  version = 0;

  /** Adds a point; points that are not finite are left out. */
  push(x: number, y: number): void {
    if (!Number.isFinite(y)) return;
    const point = { first: x, last: x, min: y, max: y, sum: y, count: 1, smooth: this.#smoother.push(y) };
    const open = this.#buckets.at(-1);
    if (open && open.count < this.#bucketSize) this.#buckets[this.#buckets.length - 1] = mergeBuckets(open, point);
    else this.#buckets.push(point);
    if (this.#buckets.length > MAX_BUCKETS) this.#mergePairs();
    this.#appendPoint(x, y);
    if (this.#length === 0) this.#firstValue = y;
    this.#lastValue = y;
    this.#length++;
    this.version++;
  }

  /** The curve with these points. Throws RangeError unless updates ascend and all values are finite. */
  static of({ x, y }: Points): Series {
    const series = new Series();
    x.forEach((update, i) => {
      const value = y[i];
      if (value === undefined || !Number.isFinite(value) || (i > 0 && update <= (x[i - 1] ?? 0))) {
        throw new RangeError(
          `point ${i} is ${value ?? 'no value'} at update ${update}. Updates must rise and values be finite.`,
        );
      }
      series.push(update, value);
    });
    return series;
  }

  /** The whole curve as plain data that a worker can send. The receiver doesn't have to compute the buckets again. */
  get state(): SeriesState {
    const { state } = this.#smoother;
    return { points: this.points, buckets: this.#buckets, bucketSize: this.#bucketSize, smoothed: state };
  }

  /** The curve with this state, which another thread sent. */
  static fromState({ points: { x, y }, buckets, bucketSize, smoothed }: SeriesState): Series {
    const series = new Series();
    [series.#x, series.#y, series.#buckets, series.#bucketSize] = [x, y, [...buckets], bucketSize];
    series.#smoother = new Smoother(undefined, smoothed);
    series.#length = y.length;
    [series.#firstValue, series.#lastValue] = [y[0] ?? 0, y.at(-1) ?? 0];
    series.version = y.length;
    return series;
  }

  /** A curve of which only the plotted positions are known. Throws RangeError as `of` does. */
  static fromPlotted({ x, mean, smooth }: PlottedCurve): Series {
    const series = Series.of({ x: Uint32Array.from(x), y: Float64Array.from(mean) });
    series.#buckets = x.map((last, i) => {
      const [value, first] = [mean[i] ?? 0, (x[i - 1] ?? last - 1) + 1];
      return { first, last, min: value, max: value, sum: value, count: 1, smooth: smooth[i] ?? value };
    });
    return series;
  }

  /** The curve's plotted positions, at most MAX_BUCKETS, with numbers of five digits. `fromPlotted` reads them back. */
  get plotted(): PlottedCurve {
    const digits = (value: number) => Number(value.toPrecision(5));
    return {
      x: this.#buckets.map(({ last }) => last),
      mean: this.#buckets.map(({ sum, count }) => digits(sum / count)),
      smooth: this.#buckets.map(({ smooth }) => digits(smooth)),
    };
  }

  get points(): SeriesState['points'] {
    return this.upTo(Infinity);
  }
  /** A copy of the points up to `update`, inclusive. */
  upTo(update: number): SeriesState['points'] {
    let end = this.#length;
    while (end > 0 && (this.#x[end - 1] ?? 0) > update) end--;
    return { x: this.#x.slice(0, end), y: this.#y.slice(0, end) };
  }
  get buckets(): readonly Bucket[] {
    return this.#buckets;
  }
  get length(): number {
    return this.#length;
  }
  get firstValue(): number | undefined {
    return this.#length > 0 ? this.#firstValue : undefined;
  }
  get lastUpdate(): number | undefined {
    return this.#length > 0 ? this.#x[this.#length - 1] : undefined;
  }
  get lastValue(): number | undefined {
    return this.#length > 0 ? this.#lastValue : undefined;
  }
  /** The smoothed curve at the newest point. Sentences about the curve quote this value. */
  get lastSmoothed(): number | undefined {
    return this.#buckets.at(-1)?.smooth;
  }
  /** The mean of the first few points, for comparisons of before and after. */
  get openingMean(): number | undefined {
    const firstBuckets = this.#buckets.slice(0, Math.max(1, Math.ceil(3 / this.#bucketSize)));
    const points = firstBuckets.reduce((n, b) => n + b.count, 0);
    return points > 0 ? firstBuckets.reduce((sum, b) => sum + b.sum, 0) / points : undefined;
  }

  #appendPoint(x: number, y: number): void {
    if (this.#length === this.#x.length) {
      const [oldX, oldY] = [this.#x, this.#y];
      this.#x = new Uint32Array(Math.max(64, 2 * oldX.length));
      this.#y = new Float64Array(Math.max(64, 2 * oldY.length));
      this.#x.set(oldX);
      this.#y.set(oldY);
    }
    this.#x[this.#length] = x;
    this.#y[this.#length] = y;
  }

  #mergePairs(): void {
    const old = this.#buckets;
    this.#buckets = [];
    for (let i = 0; i < old.length; i += 2) {
      const [a, b] = [old[i], old[i + 1]];
      if (a) this.#buckets.push(b ? mergeBuckets(a, b) : a);
    }
    this.#bucketSize *= 2;
  }
}
