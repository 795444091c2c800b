import type { Batch } from '../../cpu/batchArrays.ts';
import type { Real } from '../../cpu/real.ts';
import { longestShared, sharedBeginnings } from '../../sharedBeginnings.ts';
import { write } from '../../../gpu/tensor.ts';
import type { Gpu } from '../../../gpu/device.ts';
import { CachePlaces } from '../text/places.ts';
import type { Runner, SeatToken } from '../text/runner.ts';
import type { TextTensors } from '../text/textTensors.ts';

/**
 * Computes logits after rows of a batch, on the device, with a key-value cache. A beginning that rows share is computed
 * and cached once. The logits are read back, because the CPU draws the tokens.
 */
export class DeviceRowReader {
  readonly #gpu: Gpu;
  readonly #batch: Batch;
  readonly #tensors: TextTensors;
  readonly #runner: Runner;
  readonly #places: CachePlaces;

  constructor(gpu: Gpu, batch: Batch, tensors: TextTensors, runner: Runner) {
    this.#gpu = gpu;
    this.#batch = batch;
    this.#tensors = tensors;
    this.#runner = runner;
    this.#places = new CachePlaces(batch.rows, batch.length, tensors.cachePlaces);
  }

  /** Empties the cache of all rows. Call it when the weights or the record have changed. */
  clearCache(): void {
    for (let row = 0; row < this.#batch.rows; row++) this.clearRowCache(row);
  }

  /** Empties the cache of one row. */
  clearRowCache(row: number): void {
    this.#places.release(row, 0);
  }

  /** Caches the new tokens of these rows, and writes the logits (active.length, V) after each row's last token. */
  async read(active: readonly number[], logits: Real): Promise<void> {
    const { lengths } = this.#batch;
    await this.#runner.prefill(this.#seatsBeforeLast(active));
    const lastSeats = active.map((row) => {
      const position = lengths[row]! - 1;
      this.#reserve(row, position + 1);
      return { token: this.#text(row)[position]!, position, row, toDraw: 0 };
    });
    let at = 0;
    for (let from = 0; from < lastSeats.length; from += this.#runner.maxLogitSeats) {
      const chunk = await this.#runner.logits(lastSeats.slice(from, from + this.#runner.maxLogitSeats));
      logits.set(chunk, at);
      at += chunk.length;
    }
  }

  /**
   * Seats for the uncached tokens of each row except its last one. Rows that begin alike share the places of their
   * beginning.
   */
  #seatsBeforeLast(active: readonly number[]): SeatToken[] {
    const { lengths } = this.#batch;
    const emptyRows = active.filter((row) => this.#places.count(row) === 0);
    const cachedRows = Array.from(lengths.keys()).filter((row) => this.#places.count(row) > 0);
    const cachedTexts = cachedRows.map((row) => this.#text(row).subarray(0, this.#places.count(row)));
    const texts = emptyRows.map((row) => this.#text(row).subarray(0, -1));
    const seats = sharedBeginnings(texts.map((text) => Array.from(text))).map(({ row, likeRow, shared }) => {
      const target = emptyRows[row]!;
      const cached = longestShared(texts[row]!, cachedTexts);
      const count = Math.max(cached.shared, shared);
      this.#places.share(target, cached.shared > shared ? cachedRows[cached.index]! : emptyRows[likeRow]!, count);
      return this.#reservedSeats(target, lengths[target]! - 1, 0, count);
    });
    const rowsWithCache = active.filter((row) => !emptyRows.includes(row));
    for (const row of rowsWithCache) {
      const count = this.#places.count(row);
      seats.push(this.#reservedSeats(row, lengths[row]! - 1, count, count));
    }
    return seats.flat();
  }

  /**
   * Reserves places for a row up to position `to` and uploads those from `uploadFrom` on. Returns the seats from `from`
   * on.
   */
  #reservedSeats(row: number, to: number, uploadFrom: number, from: number): SeatToken[] {
    this.#reserve(row, to, uploadFrom);
    const text = this.#text(row);
    return Array.from({ length: Math.max(0, to - from) }, (_, i) => {
      return { token: text[from + i]!, position: from + i, row, toDraw: 0 };
    });
  }

  /** Reserves places for a row up to position `to`, and uploads its places from `from` on, by default the new ones. */
  #reserve(row: number, to: number, from = this.#places.count(row)): void {
    this.#places.extend(row, to);
    const at = row * this.#batch.length;
    if (to > from)
      write(this.#gpu, this.#tensors.placeTable, this.#places.table.subarray(at + from, at + to), at + from);
  }

  #text(row: number): Int32Array {
    const { length, lengths, tokens } = this.#batch;
    return tokens.subarray(row * length, row * length + lengths[row]!);
  }
}
