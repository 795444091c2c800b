import type { Sampling } from '../decoding.ts';
import type { Real } from '../learning/real.ts';

export interface Draw {
  readonly token: number; // −1 if no token is legal
  /** Log of the total probability of the tokens kept by top-k and top-p; 0 if both are off, and for greedy draws. */
  readonly logMass: number;
}

/**
 * Draws one token from the row of log-probabilities that begins at `rowStart` (illegal tokens are at −1e30). A token k
 * is legal if nextStates[k], the state of the grammar after it, is not negative. Draws, in the order of
 * ids, the first legal token whose cumulative probability exceeds u times the total, with 0 ≤ u < 1. Top-k keeps the k
 * likeliest tokens, on a tie the lower id. Of these, top-p keeps the fewest likeliest whose probabilities add up to at
 * least `topP` of their total. Greedy takes the likeliest token, on a tie the lowest id. If the row has NaNs, returns
 * the last token that it may draw: a broken network is reported by `learn`, which names the tensor, and doesn't crash
 * here.
 */
export function drawToken(logprobs: Real, nextStates: Int32Array, sampling: Sampling, u: number): Draw {
  if (sampling.greedy) return { token: likeliest(logprobs, nextStates), logMass: 0 };
  const isKept = sampling.topK > 0 || sampling.topP < 1 ? nucleus(logprobs, nextStates, sampling) : null;
  let total = 0;
  for (let k = 0; k < logprobs.length; k++) {
    if (nextStates[k]! < 0 || isKept?.[k] === 0) continue;
    total += Math.exp(logprobs[k]!);
  }
  const logMass = isKept ? Math.log(total) : 0;
  const target = u * total;
  let sum = 0;
  let last = 0;
  for (let k = 0; k < logprobs.length; k++) {
    if (nextStates[k]! < 0 || isKept?.[k] === 0) continue;
    last = k;
    sum += Math.exp(logprobs[k]!);
    if (sum > target) return { token: k, logMass };
  }
  return { token: last, logMass };
}

function likeliest(logprobs: Real, nextStates: Int32Array): number {
  let best = -1;
  for (let k = 0; k < logprobs.length; k++) {
    if (nextStates[k]! < 0) continue;
    if (best < 0 || logprobs[k]! > logprobs[best]!) best = k;
  }
  return best;
}

/** Returns (V) 1 for each token that top-k and top-p keep, else 0. */
function nucleus(logprobs: Real, nextStates: Int32Array, sampling: Sampling): Uint8Array {
  const legal: number[] = [];
  for (let k = 0; k < logprobs.length; k++) if (nextStates[k]! >= 0) legal.push(k);
  const logprob = (k: number) => logprobs[k]!;
  legal.sort((a, b) => logprob(b) - logprob(a) || a - b);
  const top = sampling.topK > 0 ? legal.slice(0, sampling.topK) : legal;
  const total = top.reduce((sum, k) => sum + Math.exp(logprob(k)), 0);
  const kept = new Uint8Array(logprobs.length);
  let sum = 0;
  for (const k of top) {
    if (sum >= sampling.topP * total) break;
    kept[k] = 1;
    sum += Math.exp(logprob(k));
  }
  return kept;
}
