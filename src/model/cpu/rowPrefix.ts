import type { Batch } from './batchArrays.ts';
import type { Packed } from './transformer.ts';

/** The first `count` tokens of a row of the batch, to be run by themselves. Throws RangeError where the row does not have as many. */
export function rowPrefix(batch: Batch, row: number, count: number): Packed {
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
