import { write } from '../../../gpu/tensor.ts';
import type { Gpu } from '../../../gpu/device.ts';
import type { DrawCounters } from '../../decoding.ts';
import { longestShared, sharedBeginnings } from '../../sharedBeginnings.ts';
import { CachePlaces } from './places.ts';
import type { DrawnTokens, Runner, SeatToken } from './runner.ts';
import { MAX_CHUNK, type TextTensors } from './textTensors.ts';

/** A row that draws up to `limit` tokens, all in one state of the grammar. */
interface DrawingRow {
  readonly row: number;
  readonly limit: number; // a chunk ends sooner after MAX_CHUNK tokens
  readonly state: number;
  readonly start: number; // tokens of the row before its text
  readonly counters: DrawCounters;
}

interface RowsOfText {
  readonly rows: number;
  readonly length: number; // maximum tokens per row
  readonly textOf: (row: number) => ArrayLike<number>;
}

/**
 * Rows of text whose keys and values are in the cache of the device. A row's cache holds its text except the last token,
 * which runs when logits are needed. Rows that begin alike share the places of their beginning.
 */
export class CachedRows {
  readonly #gpu: Gpu;
  readonly #tensors: TextTensors;
  readonly #runner: Runner;
  readonly #texts: RowsOfText;
  readonly #places: CachePlaces;

  constructor(gpu: Gpu, tensors: TextTensors, runner: Runner, texts: RowsOfText) {
    this.#gpu = gpu;
    this.#tensors = tensors;
    this.#runner = runner;
    this.#texts = texts;
    this.#places = new CachePlaces(texts.rows, texts.length, tensors.cachePlaces);
  }

  get freePlaces(): number {
    return this.#places.free;
  }

  /** Tokens of a row that are in the cache. */
  count(row: number): number {
    return this.#places.count(row);
  }

  /** Removes a row's tokens from position `from` on from the cache. */
  release(row: number, from: number): void {
    this.#places.release(row, from);
  }

  clear(): void {
    for (let row = 0; row < this.#texts.rows; row++) this.release(row, 0);
  }

  /** Submits what caches the new tokens of these rows, all but the last of each. */
  cache(rows: readonly number[]): void {
    const { textOf, rows: count } = this.#texts;
    const emptyRows = rows.filter((row) => this.#places.count(row) === 0);
    const cachedRows = Array.from({ length: count }, (_, row) => row).filter((row) => this.#places.count(row) > 0);
    const cachedTexts = cachedRows.map((row) => Array.from(textOf(row)).slice(0, this.#places.count(row)));
    const texts = emptyRows.map((row) => Array.from(textOf(row)).slice(0, -1));
    const seats = sharedBeginnings(texts).map(({ row, likeRow, shared }) => {
      const target = emptyRows[row]!;
      const cached = longestShared(texts[row]!, cachedTexts);
      const sharedTokens = Math.max(cached.shared, shared);
      this.#places.share(
        target,
        cached.shared > shared ? cachedRows[cached.index]! : emptyRows[likeRow]!,
        sharedTokens,
      );
      return this.#newSeats(target, 0);
    });
    const others = rows.filter((row) => !emptyRows.includes(row));
    for (const row of others) seats.push(this.#newSeats(row, this.#places.count(row)));
    this.#runner.prefill(seats.flat());
  }

  /** Reserves places for a row up to position `to`, and uploads its places from `from` on, by default the new ones. */
  reserve(row: number, to: number, from = this.#places.count(row)): void {
    this.#places.extend(row, to);
    const at = row * this.#texts.length;
    if (to > from)
      write(this.#gpu, this.#tensors.placeTable, this.#places.table.subarray(at + from, at + to), at + from);
  }

  /** The seat of a row's last token, after reserving `toDraw` places from that token on. */
  lastSeat(row: number, toDraw: number): SeatToken {
    const text = this.#texts.textOf(row);
    const position = text.length - 1;
    this.reserve(row, position + toDraw);
    return { token: text[position]!, position, row, toDraw };
  }

  /** Draws after cached rows, with one read-back for every `maxLogitSeats` rows. The caller appends the tokens to the rows. */
  async draw(rows: readonly DrawingRow[]): Promise<readonly DrawnTokens[]> {
    const drawn: DrawnTokens[] = [];
    for (let from = 0; from < rows.length; from += this.#runner.maxLogitSeats) {
      const seats = rows.slice(from, from + this.#runner.maxLogitSeats).map(({ row, limit, ...draw }) => {
        return { ...this.lastSeat(row, Math.min(limit, MAX_CHUNK)), ...draw };
      });
      const chunk = await this.#runner.draw(seats);
      for (const [i, { row, position }] of seats.entries()) this.release(row, position + chunk[i]!.ids.length);
      drawn.push(...chunk);
    }
    return drawn;
  }

  /** Seats of a row's tokens without a place, up to the last but one, after uploading its places from `uploadFrom` on. */
  #newSeats(row: number, uploadFrom: number): SeatToken[] {
    const text = this.#texts.textOf(row);
    const from = this.#places.count(row);
    this.reserve(row, text.length - 1, uploadFrom);
    return Array.from({ length: Math.max(0, text.length - 1 - from) }, (_, i) => {
      return { token: text[from + i]!, position: from + i, row, toDraw: 0 };
    });
  }
}
