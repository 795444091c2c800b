/** The default weight of the previous average in a smoothed curve. */
export const SMOOTHING = 0.8;
/** The largest weight that can be set. With more, the smoothed curve would no longer follow the points. */
export const MOST_SMOOTHING = 0.99;

/** The state of a smoother. */
export interface Smoothed {
  readonly average: number; // not yet divided by `gathered`
  readonly gathered: number; // sum of the points' weights so far
}

/**
 * An exponential moving average whose first points are not pulled towards 0: the average is divided by the sum of its
 * weights so far, as in TensorBoard. A constant curve stays unchanged from its first point on. With `weight` 0 every
 * point stays unchanged.
 */
export class Smoother {
  readonly #weight: number;
  #average: number; // biased towards 0, because the weights sum to less than 1
  #gathered: number; // sum of the weights

  constructor(weight = SMOOTHING, { average, gathered }: Smoothed = { average: 0, gathered: 0 }) {
    this.#weight = weight;
    [this.#average, this.#gathered] = [average, gathered];
  }

  /** The state, from which another smoother can continue. */
  get state(): Smoothed {
    return { average: this.#average, gathered: this.#gathered };
  }

  /** Adds a point and returns the smoothed curve there. */
  push(y: number): number {
    this.#average = this.#weight * this.#average + (1 - this.#weight) * y;
    this.#gathered = this.#weight * this.#gathered + (1 - this.#weight);
    return this.#average / this.#gathered;
  }
}

/** The smoothed curve at each point. */
export function smoothed(y: ArrayLike<number>, weight: number): Float64Array {
  const smoother = new Smoother(weight);
  return Float64Array.from(y, (value) => smoother.push(value));
}
