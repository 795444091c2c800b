import { KEPT_UPDATES, leastMissed } from './keptUpdates.ts';
import type { Weights } from './model/architecture.ts';

/** Bytes they may take. */
const MOST_BYTES = 32 * 2 ** 20;

/** The weights before and after the updates whose batches the page keeps, for questions about them. */
export class WeightLog {
  readonly #weights = new Map<number, Weights>();
  #updates: readonly number[] = []; // ascending: those with a batch, which has weights before and after it

  /** Keeps the weights after `update`; they must not change any more. What does not fit at all is not kept. */
  keep(update: number, weights: Weights): void {
    const bytes = [...weights.values()].reduce((sum, tensor) => sum + tensor.byteLength, 0);
    const most = Math.floor(MOST_BYTES / bytes);
    this.#weights.set(update, weights);
    if (update > 0) this.#updates = [...this.#updates.filter((kept) => kept < update), update];
    while (this.#updates.length > KEPT_UPDATES || (this.#weights.size > most && this.#updates.length > 0)) {
      const missed = leastMissed(this.#updates);
      this.#updates = this.#updates.filter((kept) => kept !== missed);
      this.#prune(update);
    }
    if (this.#weights.size > most) this.#weights.clear();
  }

  /** The weights after `update`; undefined when they were forgotten. */
  at(update: number): Weights | undefined {
    return this.#weights.get(update);
  }

  /** Forgets what no kept update needs; the newest are the next one’s. */
  #prune(newest: number): void {
    const needed = new Set(this.#updates.flatMap((update) => [update - 1, update]));
    for (const at of this.#weights.keys()) if (!needed.has(at) && at !== newest) this.#weights.delete(at);
  }
}
