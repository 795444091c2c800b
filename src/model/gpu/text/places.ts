/**
 * Where the keys and values of each position of each row lie: places of a cache, which rows that begin alike have in common. A place is
 * free when no row has it.
 */
export class Places {
  readonly table: Uint32Array; // (B, T) a place by row and position; only the first `held` of a row count
  readonly #length: number;
  readonly #held: Uint32Array; // (B)
  readonly #readers: Uint32Array; // (places) rows that have it
  readonly #free: number[]; // the next one to take last

  /** Rows of up to `length` positions in a cache of `count` places. */
  constructor(rows: number, length: number, count: number) {
    this.table = new Uint32Array(rows * length);
    this.#length = length;
    this.#held = new Uint32Array(rows);
    this.#readers = new Uint32Array(count);
    this.#free = Array.from({ length: count }, (_, i) => count - 1 - i);
  }

  /** Places that no row has. */
  get free(): number {
    return this.#free.length;
  }

  /** Positions of a row that have places: the first so many. */
  held(row: number): number {
    return this.#held[row]!;
  }

  /** Gives a row free places up to position `to`. Throws if there are none left. */
  extend(row: number, to: number): void {
    for (let position = this.#held[row]!; position < to; position++) {
      const place = this.#free.pop();
      if (place === undefined) throw new Error('Places: none is free; ask `free` before.');
      this.#set(row, position, place);
    }
  }

  /** Gives an empty row the first `count` places of another. */
  share(row: number, other: number, count: number): void {
    for (let position = 0; position < count; position++) {
      this.#set(row, position, this.table[other * this.#length + position]!);
    }
  }

  /** Takes a row's places from position `from` on. */
  release(row: number, from: number): void {
    for (let position = this.#held[row]! - 1; position >= from; position--) {
      const place = this.table[row * this.#length + position]!;
      const left = this.#readers[place]! - 1;
      this.#readers[place] = left;
      if (left === 0) this.#free.push(place);
    }
    this.#held[row] = Math.min(this.#held[row]!, from);
  }

  #set(row: number, position: number, place: number): void {
    this.table[row * this.#length + position] = place;
    this.#readers[place] = this.#readers[place]! + 1;
    this.#held[row] = position + 1;
  }
}
