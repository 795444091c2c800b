import { Role, type Grammar } from '../../domain/tokens.ts';
import { uniform } from '../../base/rng.ts';
import { cuts, type DecodeChunk, type DecodedChunk, type DrawCounters, type Sampling } from '../decoding.ts';
import type { Arithmetic } from './arithmetic.ts';
import type { Batch } from './batchArrays.ts';
import { logSoftmaxRow } from './head.ts';
import type { Real } from './real.ts';
import { drawToken } from './sampler.ts';

/** A network with a cache that reads the rows of a batch as they grow. */
export interface RowReader {
  /** Empties the cache of all rows. Call it when the weights or the recorded tokens change. */
  forget(): void;
  /** Empties the cache of one row. */
  forgetRow(row: number): void;
  /**
   * Reads the new tokens of these rows together, and writes the logits (active.length, V) after each row's last token.
   * If it returns a promise, the logits are written when the promise resolves.
   */
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

  constructor(batch: Batch, reader: RowReader, { model, reals }: Pick<Arithmetic, 'model' | 'reals'>) {
    this.#batch = batch;
    this.#reader = reader;
    this.#vocabulary = model.vocab_size;
    this.#logits = reals(batch.rows * model.vocab_size);
  }

  /** Begins all rows. `update` and the row number are the counters of the random draws. */
  begin(update: number): void {
    this.#counters = Array.from({ length: this.#batch.rows }, (_, rollout) => ({ update, rollout }));
    this.forget();
  }

  /** Begins one row; see `Policy.beginRow`. */
  beginRow(row: number, counters: DrawCounters): void {
    this.#counters[row] = counters;
    this.#batch.lengths[row] = 0;
    this.#reader.forgetRow(row);
  }

  /** Empties the reader's cache. Call it when the weights or the recorded tokens change. */
  forget(): void {
    this.#reader.forget();
  }

  /**
   * Forces and draws the tokens of one chunk; see `DecodeChunk`. A row also stops when it has T tokens. Throws if
   * forced tokens don't fit, an id is outside the vocabulary, or a row would draw before it has a token.
   */
  async decode(chunk: DecodeChunk, sampling: Sampling, grammar: Grammar): Promise<DecodedChunk> {
    const { rows, length, lengths } = this.#batch;
    const counts = new Int32Array(rows);
    const tokens = new Int32Array(rows * chunk.steps);
    const logprobs = new Float32Array(rows * chunk.steps);
    const logMasses = cuts(sampling) ? new Float32Array(rows * chunk.steps) : null;
    const states = Int32Array.from(chunk.states);
    const remaining = new Int32Array(rows);
    this.#force(chunk);
    for (let b = 0; b < rows; b++) {
      if (states[b]! < 0) continue;
      const free = Math.min(chunk.steps - chunk.forcedCounts[b]!, length - lengths[b]!);
      remaining[b] = Math.min(chunk.budgets[b]!, free);
      if (remaining[b]! > 0 && lengths[b] === 0) {
        throw new Error(`decode: row ${b} has no token to draw after; force at least one first.`);
      }
    }
    let active = rowsWith(remaining);
    while (active.length > 0) {
      const reading = this.#reader.read(active, this.#logits);
      if (reading) await reading;
      for (const [i, b] of active.entries()) {
        const state = states[b]!;
        const v = grammar.vocabulary;
        logSoftmaxRow(this.#logits, i * v, v, grammar.next, state * v, sampling.temperature);
        const { update, rollout } = this.#counters[b]!;
        const u = uniform(sampling.key, update, rollout, lengths[b]!);
        const { token, logMass } = drawToken(this.#logits, i * v, v, grammar.next, state * v, sampling, u);
        if (token < 0)
          throw new Error(`decode: no token is legal in grammar state ${state}; a grammar needs one in each.`);
        this.#record(b, token, Role.action, state);
        const at = b * chunk.steps + counts[b]!;
        tokens[at] = token;
        logprobs[at] = this.#logits[i * v + token]!;
        if (logMasses) logMasses[at] = logMass;
        counts[b] = counts[b]! + 1;
        const nextState = grammar.next[state * v + token]!;
        states[b] = nextState;
        remaining[b] = grammar.stop[nextState] === 1 ? 0 : remaining[b]! - 1;
      }
      active = rowsWith(remaining);
    }
    return { counts, tokens, logprobs, ...(logMasses && { logMass: logMasses }) };
  }

  #force(chunk: DecodeChunk): void {
    const { rows, length, lengths } = this.#batch;
    const vocabulary = this.#vocabulary;
    for (let b = 0; b < rows; b++) {
      const count = chunk.forcedCounts[b]!;
      const free = length - lengths[b]!;
      if (count > free || count > chunk.steps) {
        throw new Error(
          `decode: row ${b} can take ${Math.min(free, chunk.steps)} forced tokens, and ${count} were given. End the episode or raise its length.`,
        );
      }
      for (let i = 0; i < count; i++) {
        const token = chunk.forced[b * chunk.steps + i]!;
        if (token < 0 || token >= vocabulary) {
          throw new Error(`decode: token ${token} of row ${b} is out of range: ids go from 0 to ${vocabulary - 1}.`);
        }
        this.#record(b, token, chunk.forcedRoles[b]!, 0);
      }
    }
  }

  #record(b: number, token: number, role: number, state: number): void {
    const { length, lengths } = this.#batch;
    const at = b * length + lengths[b]!;
    this.#batch.tokens[at] = token;
    this.#batch.roles[at] = role;
    this.#batch.states[at] = state;
    lengths[b] = lengths[b]! + 1;
  }
}

function rowsWith(remaining: Int32Array): number[] {
  const rows: number[] = [];
  for (let b = 0; b < remaining.length; b++) if (remaining[b]! > 0) rows.push(b);
  return rows;
}
