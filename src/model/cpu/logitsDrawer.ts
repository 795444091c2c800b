import { uniform } from '../../base/rng.ts';
import type { Grammar } from '../../domain/tokens.ts';
import type { Sampling } from '../decoding.ts';
import type { Batch } from '../learning/batchArrays.ts';
import type { DrawingRows, RowDrawer, TakeToken } from '../learning/decoder.ts';
import { logSoftmaxRow } from '../learning/logSoftmaxRow.ts';
import type { Real } from '../learning/real.ts';
import type { Arithmetic } from './arithmetic.ts';
import { drawToken } from './sampler.ts';

/** A network with a cache of keys and values. It reads the rows of a batch as they grow. */
export interface RowReader {
  /** Empties the cache of all rows. Call it when the weights or the recorded tokens change. */
  clearCache(): void;
  clearRowCache(row: number): void;
  /** Reads the new tokens of these rows together. The logits (active.length, V) are written when a returned promise resolves. */
  read(active: readonly number[], logits: Real): void | Promise<void>;
}

/** Draws one token at a time in each row, from the logits of a network. */
export class LogitsDrawer implements RowDrawer {
  readonly #batch: Batch;
  readonly #reader: RowReader;
  readonly #logits: Real; // (B, V)

  constructor(batch: Batch, reader: RowReader, { model, reals }: Pick<Arithmetic, 'model' | 'reals'>) {
    this.#batch = batch;
    this.#reader = reader;
    this.#logits = reals(batch.rows * model.vocab_size);
  }

  clearCache(): void {
    this.#reader.clearCache();
  }

  clearRowCache(row: number): void {
    this.#reader.clearRowCache(row);
  }

  async draw(
    active: readonly number[],
    { states, counters }: DrawingRows,
    sampling: Sampling,
    take: TakeToken,
    { next, vocabulary: v }: Grammar,
  ): Promise<void> {
    const pendingRead = this.#reader.read(active, this.#logits);
    if (pendingRead) await pendingRead;
    for (const [i, row] of active.entries()) {
      const stateStart = states[row]! * v;
      logSoftmaxRow(this.#logits, i * v, v, next, stateStart, sampling.temperature);
      const { update, rollout } = counters[row]!;
      const random = uniform(sampling.key, update, rollout, this.#batch.lengths[row]!);
      const logprobs = this.#logits.subarray(i * v, (i + 1) * v);
      const legalNext = next.subarray(stateStart, stateStart + v);
      const { token, logMass } = drawToken(logprobs, legalNext, sampling, random);
      take(row, token, logprobs[token]!, logMass);
    }
  }
}
