import { type Bucket, merge } from './buckets.ts';
import { type Smoothed, Smoother } from './smoothing.ts';

/** The points of a curve. Both arrays have one entry per point. */
export interface Points {
  readonly x: Uint32Array; // updates
  readonly y: Float64Array; // values
}

/**
 * A curve reduced to its drawn positions: each position's last update, the mean of its points, and the smoothed curve
 * there.
 */
export interface Drawn {
  readonly x: readonly number[];
  readonly mean: readonly number[];
  readonly smooth: readonly number[];
}

/** A curve as plain data: its points, the buckets for drawing, and the state of the smoother. */
export interface SeriesState {
  readonly points: { readonly x: Uint32Array<ArrayBuffer>; readonly y: Float64Array<ArrayBuffer> };
  readonly buckets: readonly Bucket[];
  readonly width: number; // points in a closed bucket
  readonly smoothed: Smoothed;
}

/** Maximum number of positions that a chart draws. */
export const MAX_BUCKETS = 300;

/**
 * A curve: all its points, and buckets of points for drawing, which are merged as the curve grows. A bucket keeps the
 * minimum and maximum of its points, so a spike of one point always stays visible. A closed bucket changes only by
 * merging with its neighbour, so the drawn past of a curve doesn't flicker.
 */
export class Series {
  #x = new Uint32Array(64);
  #y = new Float64Array(64);
  #buckets: Bucket[] = [];
  #width = 1; // points in a closed bucket
  #smoother = new Smoother();
  #length = 0;
  #first = 0;
  #latest = 0;
  version = 0;

  /** Adds a point; points that are not finite are left out. */
  push(x: number, y: number): void {
    if (!Number.isFinite(y)) return;
    const point = { first: x, last: x, min: y, max: y, sum: y, count: 1, smooth: this.#smoother.push(y) };
    const open = this.#buckets.at(-1);
    if (open && open.count < this.#width) this.#buckets[this.#buckets.length - 1] = merge(open, point);
    else this.#buckets.push(point);
    if (this.#buckets.length > MAX_BUCKETS) this.#thin();
    this.#append(x, y);
    if (this.#length === 0) this.#first = y;
    this.#latest = y;
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
    return { points: this.points, buckets: this.#buckets, width: this.#width, smoothed: state };
  }

  /** The curve with this state, which another thread sent. */
  static restored({ points: { x, y }, buckets, width, smoothed }: SeriesState): Series {
    const series = new Series();
    [series.#x, series.#y, series.#buckets, series.#width] = [x, y, [...buckets], width];
    series.#smoother = new Smoother(undefined, smoothed);
    series.#length = y.length;
    [series.#first, series.#latest] = [y[0] ?? 0, y.at(-1) ?? 0];
    series.version = y.length;
    return series;
  }

  /** A curve of which only the drawn positions are known. Throws RangeError as `of` does. */
  static drawn({ x, mean, smooth }: Drawn): Series {
    const series = Series.of({ x: Uint32Array.from(x), y: Float64Array.from(mean) });
    series.#buckets = x.map((last, i) => {
      const [value, first] = [mean[i] ?? 0, (x[i - 1] ?? last - 1) + 1];
      return { first, last, min: value, max: value, sum: value, count: 1, smooth: smooth[i] ?? value };
    });
    return series;
  }

  /** The data for drawing the curve again: at most MAX_BUCKETS positions, numbers with five digits. */
  get drawn(): Drawn {
    const digits = (value: number) => Number(value.toPrecision(5));
    return {
      x: this.#buckets.map(({ last }) => last),
      mean: this.#buckets.map(({ sum, count }) => digits(sum / count)),
      smooth: this.#buckets.map(({ smooth }) => digits(smooth)),
    };
  }

  /** A copy of all points. */
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
  /** Number of points. */
  get length(): number {
    return this.#length;
  }
  /** The value of the first point. */
  get first(): number | undefined {
    return this.#length > 0 ? this.#first : undefined;
  }
  /** The update of the newest point. */
  get last(): number | undefined {
    return this.#length > 0 ? this.#x[this.#length - 1] : undefined;
  }
  /** The value of the newest point. */
  get latest(): number | undefined {
    return this.#length > 0 ? this.#latest : undefined;
  }
  /** The last value of the smoothed curve. Sentences about the curve quote this value. */
  get smooth(): number | undefined {
    return this.#buckets.at(-1)?.smooth;
  }
  /** The mean of the first few points, for comparisons of before and after. */
  get opening(): number | undefined {
    const few = this.#buckets.slice(0, Math.max(1, Math.ceil(3 / this.#width)));
    const points = few.reduce((n, b) => n + b.count, 0);
    return points > 0 ? few.reduce((sum, b) => sum + b.sum, 0) / points : undefined;
  }

  #append(x: number, y: number): void {
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

  #thin(): void {
    const old = this.#buckets;
    this.#buckets = [];
    for (let i = 0; i < old.length; i += 2) {
      const [a, b] = [old[i], old[i + 1]];
      if (a) this.#buckets.push(b ? merge(a, b) : a);
    }
    this.#width *= 2;
  }
}
