import { KEPT_UPDATES, leastMissed } from '../runs/keptUpdates.ts';

/** Bytes a log may take. */
const MOST_BYTES = 32 * 2 ** 20;

/** What there was before and after the updates whose batches the page keeps, for questions about them. */
export class UpdateLog<T> {
  readonly #entries = new Map<number, T>();
  readonly #bytesOf: (entry: T) => number;
  #updates: readonly number[] = []; // ascending: those with a batch, which has an entry before and after it

  /** `bytesOf` says what an entry takes; the entries of a log are of one size, about. */
  constructor(bytesOf: (entry: T) => number) {
    this.#bytesOf = bytesOf;
  }

  /** Keeps what there is after `update`; it must not change any more. What does not fit at all is not kept. */
  keep(update: number, entry: T): void {
    const most = Math.floor(MOST_BYTES / this.#bytesOf(entry));
    this.#entries.set(update, entry);
    if (update > 0) this.#updates = [...this.#updates.filter((kept) => kept < update), update];
    while (this.#updates.length > KEPT_UPDATES || (this.#entries.size > most && this.#updates.length > 0)) {
      const missed = leastMissed(this.#updates);
      this.#updates = this.#updates.filter((kept) => kept !== missed);
      this.#prune(update);
    }
    if (this.#entries.size > most) this.#entries.clear();
  }

  /** What there was after `update`; undefined when it was forgotten. */
  at(update: number): T | undefined {
    return this.#entries.get(update);
  }

  /** Forgets what no kept update needs; the newest are the next one’s. */
  #prune(newest: number): void {
    const needed = new Set(this.#updates.flatMap((update) => [update - 1, update]));
    for (const at of this.#entries.keys()) if (!needed.has(at) && at !== newest) this.#entries.delete(at);
  }
}
