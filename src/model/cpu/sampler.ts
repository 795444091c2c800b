import type { Sampling } from '../decoding.ts';
import type { Real } from './real.ts';

/** One draw. */
export interface Draw {
  readonly token: number; // −1 where none is legal
  readonly logMass: number; // log of the probability that top-k and top-p left to draw from; 0 where they cut nothing
}

/**
 * Draws one token from a row of log-probabilities (illegal tokens at −1e30): the first id, in id order, whose cumulative
 * probability exceeds u times the total, u from 0 to 1 without 1. Top-k keeps the k likeliest, the lower id on a tie;
 * top-p then keeps the shortest likeliest-first prefix that holds topP of what is left. Greedy takes the likeliest,
 * lowest id on a tie. A row without a finite number gives the last legal token, so that a broken network is found by
 * `learn`, which names the tensor, and not by a crash here.
 */
export function drawToken(
  logprobs: Real,
  at: number,
  vocabulary: number,
  next: Int32Array,
  stateAt: number,
  sampling: Sampling,
  u: number,
): Draw {
  if (sampling.greedy) return { token: likeliest(logprobs, at, vocabulary, next, stateAt), logMass: 0 };
  const kept =
    sampling.topK > 0 || sampling.topP < 1 ? nucleus(logprobs, at, vocabulary, next, stateAt, sampling) : null;
  let total = 0;
  for (let k = 0; k < vocabulary; k++) {
    if (next[stateAt + k]! < 0 || kept?.[k] === 0) continue;
    total += Math.exp(logprobs[at + k]!);
  }
  const logMass = kept ? Math.log(total) : 0;
  const target = u * total;
  let sum = 0;
  let last = 0;
  for (let k = 0; k < vocabulary; k++) {
    if (next[stateAt + k]! < 0 || kept?.[k] === 0) continue;
    last = k;
    sum += Math.exp(logprobs[at + k]!);
    if (sum > target) return { token: k, logMass };
  }
  return { token: last, logMass };
}

function likeliest(logprobs: Real, at: number, vocabulary: number, next: Int32Array, stateAt: number): number {
  let best = -1;
  for (let k = 0; k < vocabulary; k++) {
    if (next[stateAt + k]! < 0) continue;
    if (best < 0 || logprobs[at + k]! > logprobs[at + best]!) best = k;
  }
  return best;
}

/** 1 for the tokens that top-k and top-p leave, (V). */
function nucleus(
  logprobs: Real,
  at: number,
  vocabulary: number,
  next: Int32Array,
  stateAt: number,
  sampling: Sampling,
): Uint8Array {
  const legal: number[] = [];
  for (let k = 0; k < vocabulary; k++) if (next[stateAt + k]! >= 0) legal.push(k);
  const logprob = (k: number) => logprobs[at + k]!;
  legal.sort((a, b) => logprob(b) - logprob(a) || a - b);
  const top = sampling.topK > 0 ? legal.slice(0, sampling.topK) : legal;
  const total = top.reduce((sum, k) => sum + Math.exp(logprob(k)), 0);
  const kept = new Uint8Array(vocabulary);
  let sum = 0;
  for (const k of top) {
    if (sum >= sampling.topP * total) break;
    kept[k] = 1;
    sum += Math.exp(logprob(k));
  }
  return kept;
}
