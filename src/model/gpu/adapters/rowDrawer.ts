import type { Sampling } from '../../decoding.ts';
import type { DrawingRows, RowDrawer, TakeToken } from '../../learning/decoder.ts';
import type { CachedRows } from '../text/cachedRows.ts';
import type { Runner } from '../text/runner.ts';

/** Draws on the device: a row's tokens of a chunk with one read-back, as long as its grammar state stays the same. */
export class DeviceRowDrawer implements RowDrawer {
  readonly #runner: Runner;
  readonly #rows: CachedRows;

  constructor(runner: Runner, rows: CachedRows) {
    this.#runner = runner;
    this.#rows = rows;
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
    this.#rows.cache(active);
    const drawingRows = active.map((row) => {
      return { row, limit: remaining[row]!, state: states[row]!, counters: counters[row]! };
    });
    for (const [i, { ids, logprobs, logMass }] of (await this.#rows.draw(drawingRows)).entries()) {
      for (const [k, id] of ids.entries()) take(active[i]!, id, logprobs[k]!, logMass[k]!);
    }
  }
}
