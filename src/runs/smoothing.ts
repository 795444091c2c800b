/** The default weight of the previous average in a smoothed curve. */
export const SMOOTHING = 0.8;
/** The largest weight that can be set. With more, the smoothed curve would no longer follow the points. */
export const MAX_SMOOTHING = 0.99;

export interface SmootherState {
  readonly average: number; // not yet divided by `weightSum`
  readonly weightSum: number; // sum of the points' weights so far
}

/**
 * An exponential moving average whose first points are not pulled towards 0: the average is divided by the sum of its
 * weights so far, as in TensorBoard. A constant curve stays unchanged from its first point on. With `weight` 0 every
 * point stays unchanged.
 */
export class Smoother {
  readonly #weight: number;
  #average: number; // biased towards 0, because the weights sum to less than 1
  #weightSum: number; // sum of the weights

  constructor(weight = SMOOTHING, { average, weightSum }: SmootherState = { average: 0, weightSum: 0 }) {
    this.#weight = weight;
    [this.#average, this.#weightSum] = [average, weightSum];
  }

  get state(): SmootherState {
    return { average: this.#average, weightSum: this.#weightSum };
  }

  push(y: number): number {
    this.#average = this.#weight * this.#average + (1 - this.#weight) * y;
    this.#weightSum = this.#weight * this.#weightSum + (1 - this.#weight);
    return this.#average / this.#weightSum;
  }
}

/** Smooths a whole curve: the smoothed value at each point. */
export function smoothCurve(y: ArrayLike<number>, weight: number): Float64Array {
  const smoother = new Smoother(weight);
  return Float64Array.from(y, (value) => smoother.push(value));
}
