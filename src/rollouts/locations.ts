/** Where a rollout lies. */
export interface Location {
  readonly file: number;
  readonly offset: number; // bytes; rows of a Parquet file
  readonly length: number;
  readonly part: number; // which rollout of the line
}

/** Places of rollouts in typed arrays that grow: 22 bytes each. */
export class Locations {
  rows = 0;
  #file = new Int32Array(1024);
  #offset = new Float64Array(1024);
  #length = new Float64Array(1024);
  #part = new Uint16Array(1024);

  /** Notes the place of the next rollout. */
  append({ file, offset, length, part }: Location): void {
    if (this.rows === this.#file.length) this.#grow();
    this.#file[this.rows] = file;
    this.#offset[this.rows] = offset;
    this.#length[this.rows] = length;
    this.#part[this.rows] = part;
    this.rows++;
  }

  /** The place of a rollout; file −1 if there is none. */
  at(row: number): Location {
    const inside = row >= 0 && row < this.rows;
    return {
      file: inside ? this.#file[row]! : -1,
      offset: this.#offset[row] ?? 0,
      length: this.#length[row] ?? 0,
      part: this.#part[row] ?? 0,
    };
  }

  #grow(): void {
    const size = 2 * this.rows;
    const [file, offset, length, part] = [this.#file, this.#offset, this.#length, this.#part];
    (this.#file = new Int32Array(size)).set(file);
    (this.#offset = new Float64Array(size)).set(offset);
    (this.#length = new Float64Array(size)).set(length);
    (this.#part = new Uint16Array(size)).set(part);
  }
}
