/** The texts of a model's rows. What is asked of them is checked here, before anything changes; `method` is who asks. */
export class TextRows {
  readonly length: number; // most tokens of a text
  readonly #vocabulary: number;
  readonly #texts: readonly number[][]; // (B)

  constructor(rows: number, length: number, vocabulary: number) {
    this.length = length;
    this.#vocabulary = vocabulary;
    this.#texts = Array.from({ length: rows }, () => []);
  }

  get count(): number {
    return this.#texts.length;
  }

  /** A row's ids, which the caller may change. Throws RangeError where there is no such row. */
  of(row: number, method = 'rows'): number[] {
    const text = this.#texts[row];
    if (text) return text;
    throw new RangeError(`${method}: got row ${row}; want 0 to ${this.count - 1}.`);
  }

  /** Tokens that still fit in a row. */
  room(row: number): number {
    return this.length - this.of(row).length;
  }

  /** Throws RangeError where a row is not there, or there twice. */
  check(method: string, rows: readonly number[]): void {
    for (const row of rows) this.of(row, method);
    if (new Set(rows).size === rows.length) return;
    throw new RangeError(`${method}: got rows ${rows.join(', ')}; want each once.`);
  }

  /** And where one is empty. */
  checkFilled(method: string, rows: readonly number[]): void {
    this.check(method, rows);
    for (const row of rows) {
      if (this.of(row).length > 0) continue;
      throw new RangeError(`${method}: row ${row} is empty; want a text to go on from. Begin it first.`);
    }
  }

  /** Throws RangeError where ids are none of the vocabulary, or more than `free`. */
  checkIds(method: string, row: number, ids: readonly number[], free: number): void {
    if (ids.length > free) {
      throw new RangeError(
        `${method}: got ${ids.length} tokens for row ${row}; want at most ${free}, for a text has at most ${this.length}. ` +
          'Keep less of it, or open the model for longer texts.',
      );
    }
    for (const id of ids) {
      if (Number.isInteger(id) && id >= 0 && id < this.#vocabulary) continue;
      throw new RangeError(`${method}: got token ${id} for row ${row}; want an id from 0 to ${this.#vocabulary - 1}.`);
    }
  }
}
