import { logSoftmaxRow } from '../model/learning/logSoftmaxRow.ts';
import type { ReadingPolicy } from './readingPolicy.ts';
import { type RecordedRow, recordedRow } from '../domain/batch.ts';
import type { Grammar } from '../domain/tokens.ts';

/**
 * Returns the log-probabilities (V) of the token after the first `count` tokens of the reader's row 0. Tokens that
 * aren't legal in `state` get −Infinity.
 */
export async function tokenLogprobs(
  reader: ReadingPolicy,
  { next }: Grammar,
  state: number,
  count: number,
  temperature: number,
): Promise<Float32Array> {
  const v = reader.model.vocab_size;
  const row = Float32Array.from(await reader.nextLogits(0, count));
  logSoftmaxRow(row, 0, v, next, state * v, temperature);
  return row.map((logprob, token) => ((next[state * v + token] ?? -1) < 0 ? -Infinity : logprob));
}

/**
 * Returns the log-probabilities of all tokens of one or several rows, row after row. The policy may have fewer rows
 * than the record; it then reads them in groups.
 */
export async function recordedLogprobs(
  reader: ReadingPolicy,
  record: RecordedRow,
  temperature: number,
): Promise<Float32Array> {
  const out = new Float32Array(record.tokens.length);
  const size = reader.rows * reader.length;
  for (let from = 0; from < out.length; from += size) {
    reader.load(recordedRow({ ...record, length: size }, from / size));
    await reader.score(temperature, { reference: false, values: false });
    out.set((await reader.report()).logprobs, from);
  }
  return out;
}
