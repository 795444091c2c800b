import type { AppendedIds } from './textModel.ts';

/** Token ids of each row. A failed check throws RangeError and changes nothing. */
export class RowTexts {
  readonly #texts: number[][];
  readonly #length: number;
  readonly #vocabulary: number;

  /** Creates empty rows of up to `length` tokens each. */
  constructor(rows: number, length: number, vocabulary: number) {
    this.#texts = Array.from({ length: rows }, () => []);
    this.#length = length;
    this.#vocabulary = vocabulary;
  }

  /** The text of a row; empty if `begin` gave it none. Throws RangeError if there is no such row. */
  textOf(row: number): readonly number[] {
    const text = this.#texts[row];
    if (text) return text;
    throw new RangeError(`Row ${row} is out of range: rows go from 0 to ${this.#texts.length - 1}.`);
  }

  freeTokens(row: number): number {
    return this.#length - this.#texts[row]!.length;
  }

  /** Replaces all texts; rows without a new text become empty. */
  begin(texts: readonly (readonly number[])[]): void {
    for (const row of this.#texts.keys()) this.#texts[row] = [...(texts[row] ?? [])];
  }

  extend(row: number, ids: readonly number[]): void {
    this.#texts[row]!.push(...ids);
  }

  keep(row: number, count: number): void {
    const text = this.textOf(row);
    if (!Number.isInteger(count) || count < 1 || count > text.length) {
      throw new RangeError(`keep: ${count} tokens can’t be kept, because row ${row} has 1 to ${text.length}.`);
    }
    this.#texts[row]!.length = count;
  }

  /** Checks that each of these rows exists, has a text and is named once. */
  checkRows(rows: readonly number[]): void {
    for (const row of rows) {
      if (this.textOf(row).length === 0) throw new RangeError(`row ${row} has no text; begin it first.`);
    }
    if (new Set(rows).size < rows.length) throw new RangeError(`Rows ${rows.join(', ')} name a row twice.`);
  }

  /** Checks texts for `begin`: there is a row for each, none is empty, and all fit. */
  checkBegin(texts: readonly (readonly number[])[]): void {
    if (texts.length > this.#texts.length) {
      throw new RangeError(`begin: ${texts.length} texts are too many for ${this.#texts.length} rows.`);
    }
    for (const [row, text] of texts.entries()) {
      if (text.length === 0) throw new RangeError(`begin: the text of row ${row} is empty. Give at least one token.`);
      this.#checkFits('begin', row, text.length);
      this.#checkIds('begin', row, text);
    }
  }

  /** Checks ids for `append`: each row has a text, and all ids of a row fit together. */
  checkAppend(appended: readonly AppendedIds[]): void {
    const lengths = new Map<number, number>();
    for (const { row, ids } of appended) {
      const length = (lengths.get(row) ?? this.textOf(row).length) + ids.length;
      if (length === ids.length) throw new RangeError(`append: row ${row} has no text; begin it first.`);
      lengths.set(row, length);
      this.#checkFits('append', row, length);
      this.#checkIds('append', row, ids);
    }
  }

  /** Checks ids for `score`, which reads them after a row's text and then drops them. */
  checkScore(row: number, ids: readonly number[]): void {
    this.checkRows([row]);
    this.#checkFits('score', row, this.textOf(row).length + ids.length);
    this.#checkIds('score', row, ids);
  }

  #checkFits(method: string, row: number, length: number): void {
    if (length <= this.#length) return;
    throw new RangeError(
      `${method}: row ${row} would have ${length} tokens, and at most ${this.#length} fit. Keep less of it, or open the model for longer texts.`,
    );
  }

  #checkIds(method: string, row: number, ids: readonly number[]): void {
    for (const id of ids) {
      if (!Number.isInteger(id) || id < 0 || id >= this.#vocabulary) {
        throw new RangeError(
          `${method}: token ${id} of row ${row} is out of range: ids go from 0 to ${this.#vocabulary - 1}.`,
        );
      }
    }
  }
}
