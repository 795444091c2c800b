import type { Batch } from '../../cpu/batchArrays.ts';
import type { Real } from '../../cpu/real.ts';
import { mostInCommon, sharedBeginnings } from '../../sharedBeginnings.ts';
import { write } from '../../../gpu/tensor.ts';
import type { Gpu } from '../../../gpu/device.ts';
import { Places } from '../text/places.ts';
import type { Runner, TokenPlace } from '../text/runner.ts';
import type { TextTensors } from '../text/textTensors.ts';

/**
 * Reads rows of a batch on the device with a cache of keys and values, where what rows begin with in common is computed and kept once. Logits come back to where
 * tokens are drawn.
 */
export class DeviceRowReader {
  readonly #gpu: Gpu;
  readonly #batch: Batch;
  readonly #tensors: TextTensors;
  readonly #runner: Runner;
  readonly #places: Places;

  constructor(gpu: Gpu, batch: Batch, tensors: TextTensors, runner: Runner) {
    this.#gpu = gpu;
    this.#batch = batch;
    this.#tensors = tensors;
    this.#runner = runner;
    this.#places = new Places(batch.rows, batch.length, tensors.places);
  }

  /** Forgets what it read of all rows: the weights or the record changed. */
  forget(): void {
    for (let row = 0; row < this.#batch.rows; row++) this.forgetRow(row);
  }

  /** Forgets what it read of a row. */
  forgetRow(row: number): void {
    this.#places.release(row, 0);
  }

  /** Reads what is new of these rows; writes the logits (active.length, V) after each one's last token. */
  async read(active: readonly number[], logits: Real): Promise<void> {
    const { lengths } = this.#batch;
    await this.#runner.prefill(this.#seatsBeforeLast(active));
    const last = active.map((row) => {
      const position = lengths[row]! - 1;
      this.#hold(row, position + 1);
      return { token: this.#text(row)[position]!, position, row, left: 0 };
    });
    let at = 0;
    for (let from = 0; from < last.length; from += this.#runner.most) {
      const made = await this.#runner.logits(last.slice(from, from + this.#runner.most));
      logits.set(made, at);
      at += made.length;
    }
  }

  /** Tokens that have to be read before each row's last one; rows that begin alike have the places of what they share. */
  #seatsBeforeLast(active: readonly number[]): TokenPlace[] {
    const { lengths } = this.#batch;
    const fresh = active.filter((row) => this.#places.held(row) === 0);
    const held = Array.from(lengths.keys()).filter((row) => this.#places.held(row) > 0);
    const heldTexts = held.map((row) => this.#text(row).subarray(0, this.#places.held(row)));
    const texts = fresh.map((row) => this.#text(row).subarray(0, -1));
    const told = sharedBeginnings(texts.map((text) => Array.from(text))).map(({ row, like, shared }) => {
      const to = fresh[row]!;
      const before = mostInCommon(texts[row]!, heldTexts);
      const count = Math.max(before.shared, shared);
      this.#places.share(to, before.shared > shared ? held[before.like]! : fresh[like]!, count);
      return this.#extended(to, lengths[to]! - 1, 0, count);
    });
    const grown = active.filter((row) => !fresh.includes(row));
    for (const row of grown) {
      const held = this.#places.held(row);
      told.push(this.#extended(row, lengths[row]! - 1, held, held));
    }
    return told.flat();
  }

  /** Gives a row places up to a position, and tells the device those from `tell` on; the seats from `from` on. */
  #extended(row: number, to: number, tell: number, from: number): TokenPlace[] {
    this.#hold(row, to, tell);
    const text = this.#text(row);
    return Array.from({ length: Math.max(0, to - from) }, (_, i) => {
      return { token: text[from + i]!, position: from + i, row, left: 0 };
    });
  }

  #hold(row: number, to: number, from = this.#places.held(row)): void {
    this.#places.extend(row, to);
    const at = row * this.#batch.length;
    if (to > from) write(this.#gpu, this.#tensors.table, this.#places.table.subarray(at + from, at + to), at + from);
  }

  #text(row: number): Int32Array {
    const { length, lengths, tokens } = this.#batch;
    return tokens.subarray(row * length, row * length + lengths[row]!);
  }
}
