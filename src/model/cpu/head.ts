import type { Grammar } from '../../domain/tokens.ts';
import type { ModelConfig } from '../architecture.ts';
import type { Arithmetic, WideRows } from './arithmetic.ts';
import { gatherRows } from './layers.ts';
import type { Real } from './real.ts';

/** Stands in for −∞ at illegal tokens: e^−1e30 is 0, and no subtraction makes a NaN of it. */
const ILLEGAL = -1e30;
/** No legal token comes near; half of `ILLEGAL`, because float32 rounds −1e30 itself. */
const LEAST_LEGAL = ILLEGAL / 2;
/** Most logits held at once. */
const MOST_LOGITS = 1 << 21;

/** Targets whose logits are held at once. */
const rowsHeld = (vocabulary: number, tokens: number) =>
  Math.max(1, Math.min(tokens, Math.floor(MOST_LOGITS / vocabulary)));

/** How many numbers a head holds for passes of up to `tokens` targets. */
export function headSize({ vocab_size, hidden_size }: ModelConfig, tokens: number): number {
  return rowsHeld(vocab_size, tokens) * (vocab_size + 2 * hidden_size);
}

/** Which positions of a packed pass the language head speaks at, and of which token. */
export interface HeadTargets {
  readonly count: number; // m
  readonly positions: Int32Array; // (m) packed index whose hidden state scores the token
  readonly tokens: Int32Array; // (m) the token scored
  readonly states: Int32Array; // (m) grammar state it was drawn in
  readonly places: Int32Array; // (m) its (B,T) index
}

/** The targets in pieces of `chunk`, the last one shorter. */
export function* chunksOf(targets: HeadTargets, chunk: number): Generator<HeadTargets> {
  for (let from = 0; from < targets.count; from += chunk) {
    const part = (of: Int32Array) => of.subarray(from, from + chunk);
    yield {
      count: Math.min(chunk, targets.count - from),
      positions: part(targets.positions),
      tokens: part(targets.tokens),
      states: part(targets.states),
      places: part(targets.places),
    };
  }
}

/** The language head: tempered, grammar-masked log-probabilities and entropies, and their gradients. */
export class LanguageHead {
  readonly vocabulary: number;
  readonly width: number;
  readonly #arithmetic: Arithmetic;
  readonly chunk: number; // rows of logits held at once: what many targets can be cut into, to the same bits
  readonly #hidden: Real;
  readonly #dhidden: Real;
  readonly #logits: Real;
  readonly #entropies: Float64Array; // of each row of logits, where all of the vocabulary is legal and there are kernels for that
  #free: { readonly grammar: Grammar; readonly isFree: boolean } | null = null;
  #held: HeadTargets | null = null; // targets whose normalised log-probabilities #logits holds
  #heldFrom = -1;

  /** For passes of up to `tokens` targets. */
  constructor(arithmetic: Arithmetic, tokens: number) {
    const { vocab_size: vocabulary, hidden_size: width } = arithmetic.model;
    this.vocabulary = vocabulary;
    this.width = width;
    this.#arithmetic = arithmetic;
    this.chunk = rowsHeld(vocabulary, tokens);
    this.#hidden = arithmetic.reals(this.chunk * width);
    this.#dhidden = arithmetic.reals(this.chunk * width);
    this.#logits = arithmetic.reals(this.chunk * vocabulary);
    this.#entropies = new Float64Array(this.chunk);
  }

  /** Writes the logits (count, V) of the first hidden states. */
  logits(out: Real, hidden: Real, weight: Real, count: number): void {
    const { vocabulary: v, width: d } = this;
    this.#held = null;
    for (let from = 0; from < count; from += this.chunk) {
      const rows = Math.min(this.chunk, count - from);
      this.#arithmetic.matmulNT(this.#logits, hidden.subarray(from * d), weight, rows, v, d);
      out.set(this.#logits.subarray(0, rows * v), from * v);
    }
  }

  /**
   * Writes log-probability and entropy of every target at its (B,T) place: log softmax(z/temperature) over the tokens that are
   * legal in the target's state, in nats.
   */
  score(
    hidden: Real,
    weight: Real,
    targets: HeadTargets,
    grammar: Grammar,
    temperature: number,
    logprobs: Real,
    entropies: Real,
  ): void {
    for (let from = 0; from < targets.count; from += this.chunk) {
      const rows = this.#normalise(hidden, weight, targets, from, grammar, temperature);
      const v = this.vocabulary;
      for (let i = 0; i < rows; i++) {
        const place = targets.places[from + i]!;
        logprobs[place] = this.#logits[i * v + targets.tokens[from + i]!]!;
        entropies[place] = this.#wide(grammar) ? this.#entropies[i]! : entropyOf(this.#logits, i * v, v);
      }
    }
  }

  /**
   * The exact gradient of Σ dlogprobs·logprob + dentropies·entropy over the targets. With p and entropy H of a target's
   * distribution and a its token, dz_k = [g·(1[k = a] − p_k) − e·p_k·(log p_k + H)]/temperature. Adds to `dweight` unless it is null,
   * and to the targets' rows of `dhidden`.
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
    for (let from = 0; from < targets.count; from += this.chunk) {
      const rows =
        this.#held === targets && this.#heldFrom === from
          ? Math.min(this.chunk, targets.count - from)
          : this.#normalise(hidden, weight, targets, from, grammar, temperature);
      for (let i = 0; i < rows; i++) {
        const place = targets.places[from + i]!;
        const token = targets.tokens[from + i]!;
        const [g, e] = [dlogprobs[place]! / temperature, dentropies[place]! / temperature];
        const wide = this.#wide(grammar);
        if (!wide) {
          gradientRow(this.#logits, i * v, v, token, g, e);
          continue;
        }
        wide.gradients(this.#logits.subarray(i * v, (i + 1) * v), g, e, this.#entropies[i]!);
        this.#logits[i * v + token]! += g;
      }
      this.#held = null;
      if (dweight) this.#arithmetic.matmulTN(dweight, this.#logits, this.#hidden, v, d, rows);
      this.#arithmetic.matmulNN(this.#dhidden, this.#logits, weight, rows, d, v);
      for (let i = 0; i < rows; i++) {
        const to = targets.positions[from + i]! * d;
        for (let c = 0; c < d; c++) dhidden[to + c] = dhidden[to + c]! + this.#dhidden[i * d + c]!;
      }
    }
  }

  /** Log-probabilities of targets from `from` on, as many as fit, in #logits; returns how many. */
  #normalise(
    hidden: Real,
    weight: Real,
    targets: HeadTargets,
    from: number,
    grammar: Grammar,
    temperature: number,
  ): number {
    const { vocabulary: v, width: d } = this;
    const rows = Math.min(this.chunk, targets.count - from);
    gatherRows(this.#hidden, hidden, targets.positions.subarray(from), rows, d);
    this.#arithmetic.matmulNT(this.#logits, this.#hidden, weight, rows, v, d);
    const wide = this.#wide(grammar);
    for (let i = 0; i < rows; i++) {
      if (wide) this.#entropies[i] = wide.logSoftmax(this.#logits.subarray(i * v, (i + 1) * v), temperature);
      else logSoftmaxRow(this.#logits, i * v, v, grammar.next, targets.states[from + i]! * v, temperature);
    }
    this.#held = targets;
    this.#heldFrom = from;
    return rows;
  }

  /** Kernels for whole rows, where there are any and the grammar leaves nothing out. */
  #wide(grammar: Grammar): WideRows | null {
    if (this.#free?.grammar !== grammar) this.#free = { grammar, isFree: grammar.next.every((state) => state >= 0) };
    return (this.#free.isFree && this.#arithmetic.wideRows) || null;
  }
}

/**
 * Turns one row of logits into log-probabilities in place: divided by the temperature, illegal tokens (next[stateAt + k] < 0) at
 * −1e30, the maximum subtracted before exp.
 */
export function logSoftmaxRow(
  logits: Real,
  at: number,
  vocabulary: number,
  next: Int32Array,
  stateAt: number,
  temperature: number,
): void {
  let max = -Infinity;
  for (let k = 0; k < vocabulary; k++) {
    if (next[stateAt + k]! < 0) {
      logits[at + k] = ILLEGAL;
      continue;
    }
    const z = logits[at + k]! / temperature;
    logits[at + k] = z;
    if (z > max) max = z;
  }
  let sum = 0;
  for (let k = 0; k < vocabulary; k++) {
    if (next[stateAt + k]! >= 0) sum += Math.exp(logits[at + k]! - max);
  }
  const norm = max + Math.log(sum);
  for (let k = 0; k < vocabulary; k++) {
    if (next[stateAt + k]! >= 0) logits[at + k] = logits[at + k]! - norm;
  }
}

/** −Σ p·log p of a row of log-probabilities, in nats. */
function entropyOf(logprobs: Real, at: number, vocabulary: number): number {
  let sum = 0;
  for (let k = 0; k < vocabulary; k++) {
    const l = logprobs[at + k]!;
    if (l > LEAST_LEGAL) sum -= Math.exp(l) * l;
    else if (Number.isNaN(l)) return NaN;
  }
  return sum;
}

/** Turns one row of log-probabilities into gradients of the logits, 0 at illegal tokens. */
function gradientRow(row: Real, at: number, vocabulary: number, token: number, g: number, e: number): void {
  const entropy = e === 0 ? 0 : entropyOf(row, at, vocabulary);
  const illegal = row[at + token]! < LEAST_LEGAL;
  for (let k = 0; k < vocabulary; k++) {
    const l = row[at + k]!;
    const p = Math.exp(l);
    row[at + k] = p === 0 ? 0 : -p * (g + e * (l + entropy));
  }
  if (!illegal) row[at + token] = row[at + token]! + g;
}
