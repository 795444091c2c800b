import type { Weights } from './model/architecture.ts';

/** Updates whose weights are kept: one more than the page keeps batches, for a batch has weights before and after it. */
const MOST = 65;
/** Bytes they may take. */
const MOST_BYTES = 32 * 2 ** 20;

/** The weights after the last updates, for questions about them; the oldest are forgotten. */
export class WeightLog {
  readonly #kept = new Map<number, Weights>();

  /** Keeps the weights after `update`; they must not change any more. What does not fit at all is not kept. */
  keep(update: number, weights: Weights): void {
    const bytes = [...weights.values()].reduce((sum, tensor) => sum + tensor.byteLength, 0);
    this.#kept.delete(update);
    this.#kept.set(update, weights);
    const most = Math.min(MOST, Math.floor(MOST_BYTES / bytes));
    for (const old of this.#kept.keys()) if (this.#kept.size > most) this.#kept.delete(old);
  }

  /** The weights after `update`; undefined when they were forgotten. */
  at(update: number): Weights | undefined {
    return this.#kept.get(update);
  }
}
