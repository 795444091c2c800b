/** How much of a smoothed curve is carried over from update to update, unless the reader says otherwise. */
export const SMOOTHING = 0.8;
/** The most that can be carried over: more would no longer follow the curve. */
export const MOST_SMOOTHING = 0.99;

/** Where a smoother stands. */
export interface Smoothed {
  readonly average: number;
  readonly gathered: number;
}

/**
 * An exponential moving average whose first points are not pulled towards 0: the average is divided by the sum of its weights so far, as
 * in TensorBoard. A constant curve stays unchanged from its first point on. With `weight` 0 every point stays unchanged.
 */
export class Smoother {
  readonly #weight: number;
  #average: number; // biased towards 0 …
  #gathered: number; // … by this much

  constructor(weight = SMOOTHING, { average, gathered }: Smoothed = { average: 0, gathered: 0 }) {
    this.#weight = weight;
    [this.#average, this.#gathered] = [average, gathered];
  }

  /** What it takes to go on from here. */
  get state(): Smoothed {
    return { average: this.#average, gathered: this.#gathered };
  }

  /** Takes the next point; the smoothed curve there. */
  push(y: number): number {
    this.#average = this.#weight * this.#average + (1 - this.#weight) * y;
    this.#gathered = this.#weight * this.#gathered + (1 - this.#weight);
    return this.#average / this.#gathered;
  }
}

/** A curve (points) smoothed: as many values. */
export function smoothed(y: ArrayLike<number>, weight: number): Float64Array {
  const smoother = new Smoother(weight);
  return Float64Array.from(y, (value) => smoother.push(value));
}
