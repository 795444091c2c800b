import type { Grammar } from '../../domain/tokens.ts';
import type { ModelConfig } from '../architecture.ts';
import type { Arithmetic, UnmaskedRows } from './arithmetic.ts';
import { gatherRows } from './layers.ts';
import { ILLEGAL_LOGPROB, logSoftmaxRow } from '../learning/logSoftmaxRow.ts';
import type { Real } from '../learning/real.ts';
import { type InTurn, PASS_PARTS } from './team/team.ts';

/** A legal log-probability never comes near this limit. It isn't `ILLEGAL_LOGPROB`, because float32 rounds −1e30. */
const MIN_LEGAL_LOGPROB = ILLEGAL_LOGPROB / 2;
/** Rows of logits of a part, at least. With fewer, threads share each product, so that they don't all read the whole weight. */
const MIN_PART_ROWS = 128;
/** Largest number of logits in memory at once. */
const MAX_LOGITS = 1 << 21;

const rowsPerChunk = (vocabulary: number, tokens: number) =>
  Math.max(1, Math.min(tokens, Math.floor(MAX_LOGITS / vocabulary)));

/** Returns the size of a head's memory for passes of up to `tokens` targets, in numbers. */
export function headSize({ vocab_size, hidden_size }: ModelConfig, tokens: number): number {
  return rowsPerChunk(vocab_size, tokens) * (vocab_size + 2 * hidden_size);
}

/** The positions of a packed pass at which the language head predicts, and the tokens that it scores there. */
export interface HeadTargets {
  readonly count: number; // m
  readonly positions: Int32Array; // (m) packed index whose hidden state scores the token
  readonly tokens: Int32Array; // (m) the token scored
  readonly states: Int32Array; // (m) grammar state it was drawn in
  readonly batchIndices: Int32Array; // (m) its (B,T) index
}

export function* chunksOf(targets: HeadTargets, chunk: number): Generator<HeadTargets> {
  for (let start = 0; start < targets.count; start += chunk) {
    const slice = (array: Int32Array) => array.subarray(start, start + chunk);
    yield {
      count: Math.min(chunk, targets.count - start),
      positions: slice(targets.positions),
      tokens: slice(targets.tokens),
      states: slice(targets.states),
      batchIndices: slice(targets.batchIndices),
    };
  }
}

/** The language head: tempered, grammar-masked log-probabilities and entropies, and their gradients. */
export class LanguageHead {
  readonly vocabulary: number;
  readonly width: number;
  readonly #arithmetic: Arithmetic;
  /** Targets whose logits are in memory at once. Targets that are cut into pieces of this size give the same bits. */
  readonly chunkSize: number;
  readonly #hidden: Real;
  readonly #dhidden: Real;
  readonly #logits: Real;
  readonly #entropies: Float64Array; // entropy of each row of logits, if the kernels for unmasked rows are used
  /** The grammar of the last call, and whether every token is legal in each of its states. */
  #lastGrammar: { readonly grammar: Grammar; readonly isFree: boolean } | null = null;
  #cachedTargets: HeadTargets | null = null; // targets whose log-probabilities are in #logits
  #cachedFrom = -1; // index of the first of these targets

  /** Creates a head for passes of up to `tokens` targets. */
  constructor(arithmetic: Arithmetic, tokens: number) {
    const { vocab_size: vocabulary, hidden_size: width } = arithmetic.model;
    this.vocabulary = vocabulary;
    this.width = width;
    this.#arithmetic = arithmetic;
    this.chunkSize = rowsPerChunk(vocabulary, tokens);
    this.#hidden = arithmetic.reals(this.chunkSize * width);
    this.#dhidden = arithmetic.reals(this.chunkSize * width);
    this.#logits = arithmetic.reals(this.chunkSize * vocabulary);
    this.#entropies = new Float64Array(this.chunkSize);
  }

  /** Writes the logits (count, V) of the first `count` hidden states. */
  logits(out: Real, hidden: Real, weight: Real, count: number): void {
    const { vocabulary: v, width: d } = this;
    this.#cachedTargets = null;
    for (let start = 0; start < count; start += this.chunkSize) {
      const rows = Math.min(this.chunkSize, count - start);
      this.#arithmetic.matmulNT(this.#logits, hidden.subarray(start * d), weight, rows, v, d);
      out.set(this.#logits.subarray(0, rows * v), start * v);
    }
  }

  /** Writes to each target's (B,T) index, in nats, log softmax(z/temperature) over the tokens legal in its state, and the entropy. */
  score(
    hidden: Real,
    weight: Real,
    targets: HeadTargets,
    grammar: Grammar,
    temperature: number,
    logprobs: Real,
    entropies: Real,
  ): void {
    for (let start = 0; start < targets.count; start += this.chunkSize) {
      const rows = this.#normalise(hidden, weight, targets, start, grammar, temperature);
      const v = this.vocabulary;
      for (let i = 0; i < rows; i++) {
        const batchIndex = targets.batchIndices[start + i]!;
        logprobs[batchIndex] = this.#logits[i * v + targets.tokens[start + i]!]!;
        entropies[batchIndex] = this.#unmasked(grammar) ? this.#entropies[i]! : entropyOf(this.#logits, i * v, v);
      }
    }
  }

  /**
   * Computes the exact gradient of Σ dlogprobs·logprob + dentropies·entropy over the targets. For a target with token
   * a, distribution p, entropy H, g = dlogprob and e = dentropy,
   * dz_k = [g·(1[k = a] − p_k) − e·p_k·(log p_k + H)]/temperature. Adds the gradient to the targets' rows of
   * `dhidden`, and to `dweight` unless it is null.
   */
  backward(
    dhidden: Real,
    dweight: Real | null,
    hidden: Real,
    weight: Real,
    targets: HeadTargets,
    grammar: Grammar,
    temperature: number,
    dlogprobs: Float64Array,
    dentropies: Float64Array,
  ): void {
    const { vocabulary: v, width: d } = this;
    for (let start = 0; start < targets.count; start += this.chunkSize) {
      const rows =
        this.#cachedTargets === targets && this.#cachedFrom === start
          ? Math.min(this.chunkSize, targets.count - start)
          : this.#normalise(hidden, weight, targets, start, grammar, temperature);
      for (let i = 0; i < rows; i++) {
        const batchIndex = targets.batchIndices[start + i]!;
        const token = targets.tokens[start + i]!;
        const [g, e] = [dlogprobs[batchIndex]! / temperature, dentropies[batchIndex]! / temperature];
        const unmasked = this.#unmasked(grammar);
        if (!unmasked) {
          gradientRow(this.#logits, i * v, v, token, g, e);
          continue;
        }
        unmasked.gradients(this.#logits.subarray(i * v, (i + 1) * v), g, e, this.#entropies[i]!);
        this.#logits[i * v + token]! += g;
      }
      this.#cachedTargets = null;
      const { matmulNN, matmulTN } = this.#arithmetic;
      this.#inParts(rows, (from, count, inTurn) => {
        const [logits, gathered] = [this.#logits.subarray(from * v), this.#hidden.subarray(from * d)];
        if (dweight) inTurn(() => matmulTN(dweight, logits, gathered, v, d, count));
        matmulNN(this.#dhidden.subarray(from * d), logits, weight, count, d, v);
      });
      for (let i = 0; i < rows; i++) {
        const rowStart = targets.positions[start + i]! * d;
        for (let c = 0; c < d; c++) dhidden[rowStart + c] = dhidden[rowStart + c]! + this.#dhidden[i * d + c]!;
      }
    }
  }

  /** Writes to #logits the log-probabilities of up to `chunkSize` targets, from index `start` on; returns their number. */
  #normalise(
    hidden: Real,
    weight: Real,
    targets: HeadTargets,
    start: number,
    grammar: Grammar,
    temperature: number,
  ): number {
    const { vocabulary: v, width: d } = this;
    const rows = Math.min(this.chunkSize, targets.count - start);
    gatherRows(this.#hidden, hidden, targets.positions.subarray(start), rows, d);
    this.#inParts(rows, (from, count) => {
      this.#arithmetic.matmulNT(this.#logits.subarray(from * v), this.#hidden.subarray(from * d), weight, count, v, d);
    });
    const unmasked = this.#unmasked(grammar);
    for (let i = 0; i < rows; i++) {
      if (unmasked) this.#entropies[i] = unmasked.logSoftmax(this.#logits.subarray(i * v, (i + 1) * v), temperature);
      else logSoftmaxRow(this.#logits, i * v, v, grammar.next, targets.states[start + i]! * v, temperature);
    }
    this.#cachedTargets = targets;
    this.#cachedFrom = start;
    return rows;
  }

  /** Runs the rows of logits in parts. Their number depends only on the number of rows. */
  #inParts(rows: number, run: (from: number, count: number, inTurn: InTurn) => void): void {
    const parts = Math.max(1, Math.min(PASS_PARTS, Math.floor(rows / MIN_PART_ROWS)));
    const first = (part: number) => Math.floor((part * rows) / parts);
    this.#arithmetic.runPass(
      Array.from({ length: parts }, (_, part) => (inTurn: InTurn) => {
        run(first(part), first(part + 1) - first(part), inTurn);
      }),
    );
  }

  /** Returns the kernels for unmasked rows, or null if there are none or the grammar forbids a token somewhere. */
  #unmasked(grammar: Grammar): UnmaskedRows | null {
    if (this.#lastGrammar?.grammar !== grammar)
      this.#lastGrammar = { grammar, isFree: grammar.next.every((state) => state >= 0) };
    return this.#lastGrammar.isFree ? (this.#arithmetic.unmaskedRows ?? null) : null;
  }
}

/** Returns −Σ p·log p of a row of log-probabilities, in nats. */
function entropyOf(logprobs: Real, rowStart: number, vocabulary: number): number {
  let sum = 0;
  for (let k = 0; k < vocabulary; k++) {
    const l = logprobs[rowStart + k]!;
    if (l > MIN_LEGAL_LOGPROB) sum -= Math.exp(l) * l;
    else if (Number.isNaN(l)) return NaN;
  }
  return sum;
}

/** Replaces one row of log-probabilities by the gradients of the logits. Illegal tokens get 0. */
function gradientRow(row: Real, rowStart: number, vocabulary: number, token: number, g: number, e: number): void {
  const entropy = e === 0 ? 0 : entropyOf(row, rowStart, vocabulary);
  const illegal = row[rowStart + token]! < MIN_LEGAL_LOGPROB;
  for (let k = 0; k < vocabulary; k++) {
    const l = row[rowStart + k]!;
    const p = Math.exp(l);
    row[rowStart + k] = p === 0 ? 0 : -p * (g + e * (l + entropy));
  }
  if (!illegal) row[rowStart + token] = row[rowStart + token]! + g;
}
