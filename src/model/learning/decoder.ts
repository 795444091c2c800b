import { Role, type Grammar } from '../../domain/tokens.ts';
import { usesTopKOrTopP, type DecodeChunk, type DecodedChunk, type DrawCounters, type Sampling } from '../decoding.ts';
import { lastStart } from '../contexts.ts';
import type { Batch } from './batchArrays.ts';

/** All rows (B), for those that draw. */
export interface DrawingRows {
  readonly states: Int32Array; // grammar state to draw in
  readonly remaining: Int32Array; // tokens that the row may still draw
  readonly counters: readonly DrawCounters[];
}

/** Records a drawn token, −1 if none is legal. Its log-probability and that of what top-k and top-p keep as in `DecodedChunk`. */
export type TakeToken = (row: number, token: number, logprob: number, logMass: number) => void;

/** A network with a cache of keys and values, which reads the rows of a batch as they grow, and draws tokens after them. */
export interface RowDrawer {
  /** Empties the cache of all rows. Call it when the weights or the recorded tokens change. */
  clearCache(): void;
  clearRowCache(row: number): void;
  /** Reads the new tokens of these rows together and draws at least one token in each. A row may draw on while its state stays the same. */
  draw(
    active: readonly number[],
    rows: DrawingRows,
    sampling: Sampling,
    take: TakeToken,
    grammar: Grammar,
  ): Promise<void>;
}

/**
 * Draws tokens into the batch. The network reads tokens only when a draw needs them, and reads those of all rows
 * together. So the prompts take a single pass, and the last token of a finished row takes none.
 */
export class Decoder {
  readonly #batch: Batch;
  readonly #drawer: RowDrawer;
  #counters: DrawCounters[] = []; // (B)

  constructor(batch: Batch, drawer: RowDrawer) {
    this.#batch = batch;
    this.#drawer = drawer;
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
    this.#drawer.clearRowCache(row);
  }

  /** Empties the drawer's cache. Call it when the weights or the recorded tokens change. */
  clearCache(): void {
    this.#drawer.clearCache();
  }

  /** A row also stops at T tokens. Throws if forced tokens don't fit, an id isn't in the vocabulary, an empty row would draw, or a context would start without a token. */
  async decode(chunk: DecodeChunk, sampling: Sampling, grammar: Grammar): Promise<DecodedChunk> {
    const { rows, length, lengths } = this.#batch;
    const counts = new Int32Array(rows);
    const tokens = new Int32Array(rows * chunk.maxTokens);
    const logprobs = new Float32Array(rows * chunk.maxTokens);
    const logMasses = usesTopKOrTopP(sampling) ? new Float32Array(rows * chunk.maxTokens) : null;
    const states = Int32Array.from(chunk.states);
    const remaining = new Int32Array(rows);
    this.#force(chunk, grammar.vocabulary);
    for (let row = 0; row < rows; row++) {
      if (states[row]! < 0) continue;
      const freeTokens = Math.min(chunk.maxTokens - chunk.forcedCounts[row]!, length - lengths[row]!);
      remaining[row] = Math.min(chunk.budgets[row]!, freeTokens);
      if (remaining[row]! > 0 && lengths[row] === 0) {
        throw new Error(`decode: row ${row} has no token to draw after; force at least one first.`);
      }
    }
    const take: TakeToken = (row, token, logprob, logMass) => {
      const state = states[row]!;
      if (token < 0)
        throw new Error(`decode: no token is legal in grammar state ${state}; a grammar needs one in each.`);
      this.#record(row, token, Role.action, state);
      const at = row * chunk.maxTokens + counts[row]!;
      tokens[at] = token;
      logprobs[at] = logprob;
      if (logMasses) logMasses[at] = logMass;
      counts[row] = counts[row]! + 1;
      const nextState = grammar.next[state * grammar.vocabulary + token]!;
      states[row] = nextState;
      remaining[row] = grammar.stop[nextState] === 1 ? 0 : remaining[row]! - 1;
    };
    const drawingRows = { states, remaining, counters: this.#counters };
    for (let active = rowsRemaining(remaining); active.length > 0; active = rowsRemaining(remaining)) {
      await this.#drawer.draw(active, drawingRows, sampling, take, grammar);
    }
    return { counts, tokens, logprobs, ...(logMasses && { logMass: logMasses }) };
  }

  #force(chunk: DecodeChunk, vocabulary: number): void {
    const { rows, length, lengths } = this.#batch;
    for (let row = 0; row < rows; row++) {
      const count = chunk.forcedCounts[row]!;
      if (chunk.kept && chunk.kept[row]! < lengths[row]!) {
        lengths[row] = chunk.kept[row]!;
        this.#drawer.clearRowCache(row);
      }
      const freeTokens = length - lengths[row]!;
      const restarts = chunk.restarts?.[row] === 1;
      if (restarts && count === 0)
        throw new Error(`decode: a context of row ${row} would start without a token; force at least one.`);
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
        this.#record(row, token, chunk.forcedRoles[row]!, 0, i === 0 && restarts);
      }
    }
  }

  #record(row: number, token: number, role: number, state: number, restarts = false): void {
    const { length, lengths } = this.#batch;
    const at = row * length + lengths[row]!;
    this.#batch.contextStarts[at] = restarts ? lengths[row]! : lastStart(this.#batch, row);
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
