export interface Location {
  readonly file: number;
  readonly offset: number; // in bytes; in a Parquet file, the row
  readonly length: number; // in bytes; in a Parquet file, 1 row
  readonly indexInLine: number; // index among the rollouts of one line
}

/** The places of all rollouts, in typed arrays that grow. A place takes 22 bytes. */
export class Locations {
  rows = 0;
  #file = new Int32Array(1024);
  #offset = new Float64Array(1024);
  #length = new Float64Array(1024);
  #indexInLine = new Uint16Array(1024);

  append({ file, offset, length, indexInLine }: Location): void {
    if (this.rows === this.#file.length) this.#grow();
    this.#file[this.rows] = file;
    this.#offset[this.rows] = offset;
    this.#length[this.rows] = length;
    this.#indexInLine[this.rows] = indexInLine;
    this.rows++;
  }

  /** The place of a rollout. Its file is −1 if there is no such rollout. */
  at(row: number): Location {
    const exists = row >= 0 && row < this.rows;
    return {
      file: exists ? this.#file[row]! : -1,
      offset: this.#offset[row] ?? 0,
      length: this.#length[row] ?? 0,
      indexInLine: this.#indexInLine[row] ?? 0,
    };
  }

  #grow(): void {
    const size = 2 * this.rows;
    const [file, offset, length, indexInLine] = [this.#file, this.#offset, this.#length, this.#indexInLine];
    (this.#file = new Int32Array(size)).set(file);
    (this.#offset = new Float64Array(size)).set(offset);
    (this.#length = new Float64Array(size)).set(length);
    (this.#indexInLine = new Uint16Array(size)).set(indexInLine);
  }
}
