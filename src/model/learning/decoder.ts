import { Role, type Grammar } from '../../domain/tokens.ts';
import { uniform } from '../../base/rng.ts';
import { usesTopKOrTopP, type DecodeChunk, type DecodedChunk, type DrawCounters, type Sampling } from '../decoding.ts';
import type { ModelConfig } from '../architecture.ts';
import type { Batch } from './batchArrays.ts';
import { logSoftmaxRow } from './logSoftmaxRow.ts';
import type { Real } from './real.ts';
import { drawToken } from './sampler.ts';

/** A network with a cache of keys and values. It reads the rows of a batch as they grow. */
export interface RowReader {
  /** Empties the cache of all rows. Call it when the weights or the recorded tokens change. */
  clearCache(): void;
  clearRowCache(row: number): void;
  /** Reads the new tokens of these rows together. The logits (active.length, V) are written when a returned promise resolves. */
  read(active: readonly number[], logits: Real): void | Promise<void>;
}

/**
 * Draws tokens into the batch. The network reads tokens only when a draw needs them, and reads those of all rows
 * together. So the prompts take a single pass, and the last token of a finished row takes none.
 */
export class Decoder {
  readonly #batch: Batch;
  readonly #reader: RowReader;
  readonly #vocabulary: number;
  readonly #logits: Real; // (B, V)
  #counters: DrawCounters[] = []; // (B)

  constructor(
    batch: Batch,
    reader: RowReader,
    { model, reals }: { readonly model: ModelConfig; readonly reals: (size: number) => Real },
  ) {
    this.#batch = batch;
    this.#reader = reader;
    this.#vocabulary = model.vocab_size;
    this.#logits = reals(batch.rows * model.vocab_size);
  }

  /** Begins all rows. `update` and the row number are the counters of the random draws. */
  begin(update: number): void {
    this.#counters = Array.from({ length: this.#batch.rows }, (_, rollout) => ({ update, rollout }));
    this.clearCache();
  }

  /** Begins one row; see `Policy.beginRow`. */
  beginRow(row: number, counters: DrawCounters): void {
    this.#counters[row] = counters;
    this.#batch.lengths[row] = 0;
    this.#reader.clearRowCache(row);
  }

  /** Empties the reader's cache. Call it when the weights or the recorded tokens change. */
  clearCache(): void {
    this.#reader.clearCache();
  }

  /** A row also stops at T tokens. Throws if forced tokens don't fit, an id isn't in the vocabulary, or an empty row would draw. */
  async decode(chunk: DecodeChunk, sampling: Sampling, grammar: Grammar): Promise<DecodedChunk> {
    const { rows, length, lengths } = this.#batch;
    const counts = new Int32Array(rows);
    const tokens = new Int32Array(rows * chunk.maxTokens);
    const logprobs = new Float32Array(rows * chunk.maxTokens);
    const logMasses = usesTopKOrTopP(sampling) ? new Float32Array(rows * chunk.maxTokens) : null;
    const states = Int32Array.from(chunk.states);
    const remaining = new Int32Array(rows);
    this.#force(chunk);
    for (let row = 0; row < rows; row++) {
      if (states[row]! < 0) continue;
      const freeTokens = Math.min(chunk.maxTokens - chunk.forcedCounts[row]!, length - lengths[row]!);
      remaining[row] = Math.min(chunk.budgets[row]!, freeTokens);
      if (remaining[row]! > 0 && lengths[row] === 0) {
        throw new Error(`decode: row ${row} has no token to draw after; force at least one first.`);
      }
    }
    let active = rowsRemaining(remaining);
    while (active.length > 0) {
      const pendingRead = this.#reader.read(active, this.#logits);
      if (pendingRead) await pendingRead;
      for (const [i, row] of active.entries()) {
        const state = states[row]!;
        const v = grammar.vocabulary;
        logSoftmaxRow(this.#logits, i * v, v, grammar.next, state * v, sampling.temperature);
        const { update, rollout } = this.#counters[row]!;
        const random = uniform(sampling.key, update, rollout, lengths[row]!);
        const { token, logMass } = drawToken(this.#logits, i * v, v, grammar.next, state * v, sampling, random);
        if (token < 0)
          throw new Error(`decode: no token is legal in grammar state ${state}; a grammar needs one in each.`);
        this.#record(row, token, Role.action, state);
        const at = row * chunk.maxTokens + counts[row]!;
        tokens[at] = token;
        logprobs[at] = this.#logits[i * v + token]!;
        if (logMasses) logMasses[at] = logMass;
        counts[row] = counts[row]! + 1;
        const nextState = grammar.next[state * v + token]!;
        states[row] = nextState;
        remaining[row] = grammar.stop[nextState] === 1 ? 0 : remaining[row]! - 1;
      }
      active = rowsRemaining(remaining);
    }
    return { counts, tokens, logprobs, ...(logMasses && { logMass: logMasses }) };
  }

  #force(chunk: DecodeChunk): void {
    const { rows, length, lengths } = this.#batch;
    const vocabulary = this.#vocabulary;
    for (let row = 0; row < rows; row++) {
      const count = chunk.forcedCounts[row]!;
      const freeTokens = length - lengths[row]!;
      if (count > freeTokens || count > chunk.maxTokens) {
        throw new Error(
          `decode: row ${row} can take ${Math.min(freeTokens, chunk.maxTokens)} forced tokens, and ${count} were given. End the episode or raise its length.`,
        );
      }
      for (let i = 0; i < count; i++) {
        const token = chunk.forced[row * chunk.maxTokens + i]!;
        if (token < 0 || token >= vocabulary) {
          throw new Error(`decode: token ${token} of row ${row} is out of range: ids go from 0 to ${vocabulary - 1}.`);
        }
        this.#record(row, token, chunk.forcedRoles[row]!, 0);
      }
    }
  }

  #record(row: number, token: number, role: number, state: number): void {
    const { length, lengths } = this.#batch;
    const at = row * length + lengths[row]!;
    this.#batch.tokens[at] = token;
    this.#batch.roles[at] = role;
    this.#batch.states[at] = state;
    lengths[row] = lengths[row]! + 1;
  }
}

function rowsRemaining(remaining: Int32Array): number[] {
  const rows: number[] = [];
  for (let row = 0; row < remaining.length; row++) if (remaining[row]! > 0) rows.push(row);
  return rows;
}
