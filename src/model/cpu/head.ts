import type { Grammar } from '../../domain/tokens.ts';
import type { ModelConfig } from '../architecture.ts';
import type { Arithmetic, LegalTokens } from './arithmetic.ts';
import { gatherRows } from './layers.ts';
import type { Real } from '../learning/real.ts';
import { type InTurn, PASS_PARTS } from './team/team.ts';
import type { TeacherRows } from '../learning/treeLearner.ts';
import { HIGHEST_ILLEGAL, maskBit, maskBytes } from './wasm/headKernels.ts';

/** Rows of logits of a part, at least. With fewer, threads share each product, so that they don't all read the whole weight. */
const MIN_PART_ROWS = 128;
/** Largest number of logits in memory at once. */
const MAX_LOGITS = 1 << 21;

const rowsPerChunk = (vocabulary: number, tokens: number) =>
  Math.max(1, Math.min(tokens, Math.floor(MAX_LOGITS / vocabulary)));

/** A batch stores grammar states in a byte. */
const MAX_STATES = 256;
const maskNumbers = (vocabulary: number) => Math.ceil((MAX_STATES * maskBytes(vocabulary)) / 4);

/** Sizes of the arrays of `chunk` rows of logits that kernels read and write besides the logits, in numbers. */
const rowSizes = (chunk: number) => ({ sums: 2 * chunk, factors: 4 * chunk, states: chunk, tokens: chunk });

/** Returns the size of a head's memory for passes of up to `tokens` targets, in numbers. */
export function headSize({ vocab_size, hidden_size }: ModelConfig, tokens: number): number {
  const chunk = rowsPerChunk(vocab_size, tokens);
  const { sums, factors, states, tokens: ids } = rowSizes(chunk);
  return chunk * (vocab_size + 2 * hidden_size) + sums + factors + states + ids + maskNumbers(vocab_size) + 1;
}

/** The tokens of a pass after which the language head predicts, and the tokens that it scores there. */
export interface HeadTargets {
  readonly count: number; // m
  readonly positions: Int32Array; // (m) index in the pass of the token whose hidden state scores it
  readonly tokens: Int32Array; // (m) the token scored
  readonly states: Int32Array; // (m) grammar state it was drawn in
  readonly batchIndices: Int32Array; // (m) its (B,T) index
}

/** A teacher's rows, and for each target the (B,T) indices of the tokens that it stands for. */
export interface TargetTeacher {
  readonly rows: TeacherRows;
  readonly lists: readonly (readonly number[])[];
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
  readonly #logits: Real; // of the last chunk: what `softmaxRows` left
  readonly #sums: Real; // (chunk, 2) of each row of logits; see `softmaxRows`
  readonly #factors: Real; // (chunk, 4) see `gradientRows`
  readonly #tokens: Int32Array; // (chunk)
  readonly #temperature: Real; // (1)
  readonly #legal: LegalTokens; // of the last grammar, and the states of the rows
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
    const sizes = rowSizes(this.chunkSize);
    this.#sums = arithmetic.reals(sizes.sums);
    this.#factors = arithmetic.reals(sizes.factors);
    this.#tokens = arithmetic.integers(sizes.tokens);
    this.#temperature = arithmetic.reals(1);
    this.#legal = { masks: arithmetic.integers(maskNumbers(vocabulary)), states: arithmetic.integers(sizes.states) };
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

  /**
   * Writes to each target's (B,T) index, in nats, log softmax(z/temperature) over the tokens legal in its state, and the
   * entropy. With a teacher q, also Σ_v π(v)·log q(v) of each of the target's tokens; or, with `writes`, log π itself
   * into the teacher's rows, 0 for illegal tokens.
   */
  score(
    hidden: Real,
    weight: Real,
    targets: HeadTargets,
    grammar: Grammar,
    temperature: number,
    logprobs: Real,
    entropies: Real,
    teacher?: TargetTeacher & { readonly writes: boolean },
  ): void {
    for (let start = 0; start < targets.count; start += this.chunkSize) {
      const rows = this.#normalise(hidden, weight, targets, start, grammar, temperature);
      const v = this.vocabulary;
      for (let i = 0; i < rows; i++) {
        const batchIndex = targets.batchIndices[start + i]!;
        const { logSum, entropy } = this.#sumsOf(i);
        logprobs[batchIndex] = this.#logits[i * v + targets.tokens[start + i]!]! - logSum;
        entropies[batchIndex] = entropy;
        for (const at of teacher?.lists[batchIndex] ?? []) {
          const { teacherTable, teacherMask, teacherLogprobs } = teacher!.rows;
          if (teacherMask[at] === 0) continue;
          const [z, q] = [this.#logits.subarray(i * v, (i + 1) * v), teacherTable.subarray(at * v, (at + 1) * v)];
          if (teacher!.writes) for (let k = 0; k < v; k++) q[k] = z[k]! < HIGHEST_ILLEGAL ? 0 : z[k]! - logSum;
          else {
            let mean = 0;
            for (let k = 0; k < v; k++) mean += Math.exp(z[k]! - logSum) * q[k]!;
            teacherLogprobs[at] = mean;
          }
        }
      }
    }
  }

  /**
   * Computes the exact gradient of Σ dlogprobs·logprob + dentropies·entropy over the targets. For a target with token
   * a, distribution p, entropy H, g = dlogprob and e = dentropy,
   * dz_k = [g·(1[k = a] − p_k) − e·p_k·(log p_k + H)]/temperature. Adds the gradient to the targets' rows of
   * `dhidden`, and to `dweight` unless it is null. With a teacher also that of Σ f·c over the targets' tokens, with
   * f = dteacher and c = Σ_k p_k·log q_k: dz_k += f·p_k·(log q_k − c)/temperature.
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
    teacher: TargetTeacher | null = null,
  ): void {
    const { vocabulary: v, width: d } = this;
    for (let start = 0; start < targets.count; start += this.chunkSize) {
      const rows =
        this.#cachedTargets === targets && this.#cachedFrom === start
          ? Math.min(this.chunkSize, targets.count - start)
          : this.#normalise(hidden, weight, targets, start, grammar, temperature);
      const pulls = new Map<number, Float64Array>(); // of the teacher, by row of logits
      for (let i = 0; i < rows; i++) {
        const batchIndex = targets.batchIndices[start + i]!;
        const pull = teacher && this.#teacherPull(i, teacher, batchIndex, temperature);
        if (pull) pulls.set(i, pull);
        const token = targets.tokens[start + i]!;
        const { logSum, entropy } = this.#sumsOf(i);
        const [g, e] = [dlogprobs[batchIndex]! / temperature, dentropies[batchIndex]! / temperature];
        this.#factors.set([Math.exp(-logSum), g, e, entropy - logSum], 4 * i);
        this.#tokens[i] = this.#logits[i * v + token]! < HIGHEST_ILLEGAL ? -1 : token;
      }
      this.#cachedTargets = null;
      const { gradientRows, matmulNN, matmulTN } = this.#arithmetic;
      const toGradients = (from: number, count: number) =>
        gradientRows(this.#logits.subarray(from * v), this.#factors.subarray(4 * from), this.#tokens.subarray(from), count, v); // prettier-ignore
      if (pulls.size > 0) this.#inParts(rows, toGradients);
      for (const [i, pull] of pulls) for (let k = 0; k < v; k++) this.#logits[i * v + k]! += pull[k]!;
      this.#inParts(rows, (from, count, inTurn) => {
        const [logits, gathered] = [this.#logits.subarray(from * v), this.#hidden.subarray(from * d)];
        if (pulls.size === 0) toGradients(from, count);
        if (dweight) inTurn(() => matmulTN(dweight, logits, gathered, v, d, count));
        matmulNN(this.#dhidden.subarray(from * d), logits, weight, count, d, v);
      });
      for (let i = 0; i < rows; i++) {
        const rowStart = targets.positions[start + i]! * d;
        for (let c = 0; c < d; c++) dhidden[rowStart + c] = dhidden[rowStart + c]! + this.#dhidden[i * d + c]!;
      }
    }
  }

  /** The gradient (V) of Σ f·c of a target's tokens by row i of the logits; null if every f is 0. See `backward`. */
  #teacherPull(i: number, { rows, lists }: TargetTeacher, target: number, temperature: number): Float64Array | null {
    const v = this.vocabulary;
    const { logSum } = this.#sumsOf(i);
    const pull = new Float64Array(v);
    let isPulled = false;
    for (const at of lists[target] ?? []) {
      const f = rows.dteachers[at]! / temperature;
      if (f === 0) continue;
      isPulled = true;
      for (let k = 0; k < v; k++) {
        const p = Math.exp(this.#logits[i * v + k]! - logSum);
        pull[k]! += f * p * (rows.teacherTable[at * v + k]! - rows.teacherLogprobs[at]!);
      }
    }
    return isPulled ? pull : null;
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
    this.#temperature[0] = temperature;
    this.#legal.states.set(targets.states.subarray(start, start + rows));
    const isFree = this.#setGrammar(grammar);
    const { matmulNT, softmaxRows } = this.#arithmetic;
    this.#inParts(rows, (from, count) => {
      const [logits, sums] = [this.#logits.subarray(from * v), this.#sums.subarray(2 * from)];
      const legal = { ...this.#legal, states: this.#legal.states.subarray(from) };
      matmulNT(logits, this.#hidden.subarray(from * d), weight, count, v, d);
      softmaxRows(logits, sums, this.#temperature, count, v, isFree ? null : legal);
    });
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

  /** Returns log Σ exp z and the entropy, in nats, of row i of what `softmaxRows` left. */
  #sumsOf(i: number): { readonly logSum: number; readonly entropy: number } {
    const sum = this.#sums[2 * i]!;
    const logSum = Math.log(sum);
    return { logSum, entropy: logSum - this.#sums[2 * i + 1]! / sum };
  }

  /** Writes the masks of the grammar, unless they are there. Returns whether every token is legal in each of its states. */
  #setGrammar(grammar: Grammar): boolean {
    if (this.#lastGrammar?.grammar === grammar) return this.#lastGrammar.isFree;
    const { next } = grammar;
    const isFree = next.every((state) => state >= 0);
    this.#lastGrammar = { grammar, isFree };
    if (isFree) return true;
    const v = this.vocabulary;
    const { masks } = this.#legal;
    const bytes = new Uint8Array(masks.buffer, masks.byteOffset, masks.byteLength).fill(0);
    for (const [at, state] of next.entries()) {
      const [byte, bit] = maskBit(v, at % v);
      if (state >= 0) bytes[Math.floor(at / v) * maskBytes(v) + byte]! |= 1 << bit;
    }
    return false;
  }
}
