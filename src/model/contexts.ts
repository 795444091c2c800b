import { commonLength } from './sharedBeginnings.ts';

/**
 * Rows of tokens. A row is one context, or several one after the other: attention looks back to the start of a token's
 * context, and positions count from there.
 */
export interface ContextRows {
  readonly length: number; // T
  readonly tokens: Int32Array; // (B,T)
  readonly lengths: Int32Array; // (B) tokens of each row
  readonly contextStarts: Int32Array; // (B,T) index in the row of the first token of each token's context
}

/** A context: tokens `start` to `end` − 1 of a row. */
export interface Context {
  readonly start: number;
  readonly end: number;
}

export function contextsOf({ length, lengths, contextStarts }: ContextRows, row: number): readonly Context[] {
  const contexts: Context[] = [];
  for (let end = lengths[row]!; end > 0; end = contexts[0]!.start)
    contexts.unshift({ start: contextStarts[row * length + end - 1]!, end });
  return contexts;
}

/** Where the context of a row's last token starts; 0 for an empty row. */
export function lastStart({ length, lengths, contextStarts }: ContextRows, row: number): number {
  return lengths[row] === 0 ? 0 : contextStarts[row * length + lengths[row]! - 1]!;
}

/** The tokens of a row's last context; not a copy. */
export function lastContext(rows: ContextRows, row: number): Int32Array {
  const at = row * rows.length;
  return rows.tokens.subarray(at + lastStart(rows, row), at + rows.lengths[row]!);
}

/** Throws if `starts` (B,T) doesn't divide rows of these lengths into contexts. */
export function checkContextStarts(starts: Int32Array, lengths: Int32Array, length: number): void {
  for (const [row, count] of lengths.entries()) {
    for (let t = 0, last = 0; t < count; t++) {
      const start = starts[row * length + t]!;
      if (start !== t && start !== last) {
        throw new Error(
          `load: the context of token ${t} of row ${row} starts at ${start}; it must be ${last} or ${t}.`,
        );
      }
      last = start;
    }
  }
}

/** Which contexts a drawer's cache of keys and values is of: it holds the beginning of one context of each row. */
export class CachedContexts {
  readonly #rows: ContextRows;
  readonly #starts: Int32Array; // (B)

  constructor(rows: ContextRows) {
    this.#rows = rows;
    this.#starts = new Int32Array(rows.lengths.length);
  }

  /** Whether the cache is of the row's last context. */
  isLast(row: number): boolean {
    return this.#starts[row] === lastStart(this.#rows, row);
  }

  /**
   * Goes on to the row's last context. Returns how many of `count` cached tokens stay: if the context is new, those that
   * it begins with too, but never its last token, which has to run.
   */
  moveOn(row: number, count: number): number {
    if (this.isLast(row)) return count;
    const text = lastContext(this.#rows, row);
    const at = row * this.#rows.length + this.#starts[row]!;
    this.#starts[row] = lastStart(this.#rows, row);
    return Math.min(commonLength(this.#rows.tokens.subarray(at, at + count), text), text.length - 1);
  }
}
