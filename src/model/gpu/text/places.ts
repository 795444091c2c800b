/** A place holds keys and values of one position. Rows share the places of a common beginning. Free if no row has it. */
export class CachePlaces {
  readonly table: Uint32Array; // (B,T) place by row and position; only the first `count` of a row are valid
  readonly #length: number;
  readonly #counts: Uint32Array; // (B) positions that have places
  readonly #users: Uint32Array; // (places) number of rows that have each place
  readonly #freePlaces: number[]; // the last one is taken next

  /** Creates empty rows of up to `length` positions, for a cache of `count` places. */
  constructor(rows: number, length: number, count: number) {
    this.table = new Uint32Array(rows * length);
    this.#length = length;
    this.#counts = new Uint32Array(rows);
    this.#users = new Uint32Array(count);
    this.#freePlaces = Array.from({ length: count }, (_, i) => count - 1 - i);
  }

  get free(): number {
    return this.#freePlaces.length;
  }

  /** Number of positions of a row that have places, from position 0 on. */
  count(row: number): number {
    return this.#counts[row]!;
  }

  /** Gives a row free places for its positions before `to`. Throws if too few are free. */
  extend(row: number, to: number): void {
    for (let position = this.#counts[row]!; position < to; position++) {
      const place = this.#freePlaces.pop();
      if (place === undefined) throw new Error('Places: no place is free. Check `free` first.');
      this.#set(row, position, place);
    }
  }

  /** Gives an empty row the first `count` places of another. */
  share(row: number, other: number, count: number): void {
    for (let position = 0; position < count; position++) {
      this.#set(row, position, this.table[other * this.#length + position]!);
    }
  }

  /** Removes a row's places from position `from` on. Places that no other row has become free. */
  release(row: number, from: number): void {
    for (let position = this.#counts[row]! - 1; position >= from; position--) {
      const place = this.table[row * this.#length + position]!;
      const remainingUsers = this.#users[place]! - 1;
      this.#users[place] = remainingUsers;
      if (remainingUsers === 0) this.#freePlaces.push(place);
    }
    this.#counts[row] = Math.min(this.#counts[row]!, from);
  }

  #set(row: number, position: number, place: number): void {
    this.table[row * this.#length + position] = place;
    this.#users[place] = this.#users[place]! + 1;
    this.#counts[row] = position + 1;
  }
}
