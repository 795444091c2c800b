import { CachedContexts, lastStart, type ContextRows } from '../../contexts.ts';
import type { Sampling } from '../../decoding.ts';
import type { DrawingRows, RowDrawer, TakeToken } from '../../learning/decoder.ts';
import type { CachedRows } from '../text/cachedRows.ts';
import type { Runner } from '../text/runner.ts';

/** Draws on the device: a row's tokens of a chunk with one read-back, as long as its grammar state stays the same. A row's text is its last context. */
export class DeviceRowDrawer implements RowDrawer {
  readonly #runner: Runner;
  readonly #rows: CachedRows;
  readonly #batch: ContextRows;
  readonly #contexts: CachedContexts;

  constructor(runner: Runner, rows: CachedRows, batch: ContextRows) {
    this.#runner = runner;
    this.#rows = rows;
    this.#batch = batch;
    this.#contexts = new CachedContexts(batch);
  }

  clearCache(): void {
    this.#rows.clear();
  }

  clearRowCache(row: number): void {
    this.#rows.release(row, 0);
  }

  async draw(
    active: readonly number[],
    { states, remaining, counters }: DrawingRows,
    sampling: Sampling,
    take: TakeToken,
  ): Promise<void> {
    this.#runner.configure(sampling, 0);
    // also of rows that don't draw: others may share their beginnings
    for (const [row, length] of this.#batch.lengths.entries())
      if (length > 0) this.#rows.release(row, this.#contexts.moveOn(row, this.#rows.count(row)));
    this.#rows.cache(active);
    const drawingRows = active.map((row) => {
      const start = lastStart(this.#batch, row);
      return { row, limit: remaining[row]!, state: states[row]!, start, counters: counters[row]! };
    });
    for (const [i, { ids, logprobs, logMass }] of (await this.#rows.draw(drawingRows)).entries()) {
      for (const [k, id] of ids.entries()) take(active[i]!, id, logprobs[k]!, logMass[k]!);
    }
  }
}
