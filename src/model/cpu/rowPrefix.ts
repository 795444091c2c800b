import type { Batch } from '../learning/batchArrays.ts';
import type { PackedTokens } from './transformer.ts';

/** Packed for a pass. Throws RangeError if `count` is below 1 or above the row's length. */
export function rowPrefix(batch: Batch, row: number, count: number): PackedTokens {
  const length = batch.lengths[row] ?? 0;
  if (count < 1 || count > length) {
    throw new RangeError(`The question is about ${count} tokens, and row ${row} has 1 to ${length}.`);
  }
  const start = row * batch.length;
  return {
    count,
    tokens: batch.tokens.slice(start, start + count),
    positions: Int32Array.from({ length: count }, (_, t) => t),
  };
}
