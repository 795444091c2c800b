import { logSoftmaxRow } from '../model/cpu/head.ts';
import type { CpuPolicy } from '../model/cpu/policy.ts';
import { type RecordedRow, recordOf } from '../domain/batch.ts';
import type { Grammar } from '../domain/tokens.ts';

/** Log-probabilities (V) of the token after the reader's last one, −Infinity where it is not legal in `state`. */
export function distribution(
  reader: CpuPolicy,
  { next }: Grammar,
  state: number,
  at: number,
  temperature: number,
): Float32Array {
  const v = reader.model.vocab_size;
  const row = Float32Array.from(reader.logits().subarray(at * v, (at + 1) * v));
  logSoftmaxRow(row, 0, v, next, state * v, temperature);
  return row.map((logprob, token) => ((next[state * v + token] ?? -1) < 0 ? -Infinity : logprob));
}

/** Log-probabilities of all tokens of one row or of several, row after row, by a policy of one row. */
export async function logprobs(reader: CpuPolicy, record: RecordedRow, temperature: number): Promise<Float32Array> {
  const out = new Float32Array(record.tokens.length);
  for (let from = 0; from < out.length; from += reader.length) {
    reader.load(recordOf({ ...record, length: reader.length }, from / reader.length));
    reader.score(temperature, { reference: false, values: false });
    out.set((await reader.report()).logprobs, from);
  }
  return out;
}
