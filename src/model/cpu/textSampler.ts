import type { Sampling } from '../decoding.ts';
import type { NextToken } from './nextToken.ts';
import type { Real } from '../learning/real.ts';

/** The least likely token that a cut (top-k or top-p) keeps. On a tie, lower ids count as likelier. */
interface Cutoff {
  readonly logit: number;
  readonly id: number;
}

/**
 * Draws a token as `drawToken` does when every token is legal: in the order of ids, the first token whose cumulative
 * probability exceeds u times the total of all tokens kept by top-k and top-p. To be fast, it sorts only the tokens
 * with about the probability of the cut.
 */
export function drawText(next: NextToken, { greedy, topK, topP }: Sampling, u: number): number {
  const { logits, exponentials: e } = next;
  if (greedy) return likeliestOf(logits);
  let cutoff: Cutoff | null = topK > 0 ? findCutoff(next, 'count', topK, null) : null;
  let total = cutoff ? keptMass(next, cutoff) : next.total;
  if (topP < 1) {
    cutoff = findCutoff(next, 'mass', topP * total, cutoff);
    total = keptMass(next, cutoff);
  }
  const target = u * total;
  let sum = 0;
  let last = 0;
  for (let k = 0; k < e.length; k++) {
    if (cutoff && !isKept(logits, k, cutoff)) continue;
    last = k;
    sum += e[k]!;
    if (sum > target) return k;
  }
  return last;
}

/** Returns the `count` likeliest ids, the likeliest first. On a tie, the lower id comes first. */
export function likeliestIds(next: NextToken, count: number): number[] {
  const { logits } = next;
  const cutoff = findCutoff(next, 'count', count, null);
  const ids: number[] = [];
  for (let k = 0; k < logits.length; k++) if (isKept(logits, k, cutoff)) ids.push(k);
  return ids.sort((a, b) => logits[b]! - logits[a]! || a - b);
}

function likeliestOf(logits: Real): number {
  let best = 0;
  for (let k = 1; k < logits.length; k++) if (logits[k]! > logits[best]!) best = k;
  return best;
}

function isKept(logits: Real, k: number, cutoff: Cutoff): boolean {
  const logit = logits[k]!;
  return logit > cutoff.logit || (logit === cutoff.logit && k <= cutoff.id);
}

function keptMass({ logits, exponentials }: NextToken, cutoff: Cutoff): number {
  let sum = 0;
  for (let k = 0; k < logits.length; k++) if (isKept(logits, k, cutoff)) sum += exponentials[k]!;
  return sum;
}

/** From a positive float32 to its bin: exponent and first four bits of the fraction. Larger numbers have larger bins. */
const BIN_SHIFT = 19;
const BINS = 2 ** (31 - BIN_SHIFT);

/**
 * Returns the least likely token that is kept. Tokens are kept in order of probability, as long as the weights of those
 * before add up to less than `limit`. A token's weight is 1 (`count`) or its exponential (`mass`). With `outerCutoff`,
 * only tokens that this cutoff keeps count. A histogram finds the bin of the token, and sorting this bin finds the
 * token.
 */
function findCutoff(next: NextToken, weighBy: 'count' | 'mass', limit: number, outerCutoff: Cutoff | null): Cutoff {
  const { logits, exponentials: e } = next;
  const floats = e instanceof Float32Array ? e : Float32Array.from(e);
  const bits = new Int32Array(floats.buffer, floats.byteOffset, floats.length);
  const weight = (k: number) => (weighBy === 'count' ? 1 : e[k]!);
  const bins = new Float64Array(BINS);
  let lowest = BINS - 1;
  for (let k = 0; k < e.length; k++) {
    if (outerCutoff && !isKept(logits, k, outerCutoff)) continue;
    const bin = bits[k]! >>> BIN_SHIFT;
    lowest = Math.min(lowest, bin);
    bins[bin] = bins[bin]! + weight(k);
  }
  let bin = BINS - 1;
  let weightBefore = 0;
  for (; bin > lowest && weightBefore + bins[bin]! < limit; bin--) weightBefore += bins[bin]!;
  const members: number[] = [];
  for (let k = 0; k < e.length; k++) {
    const tokenBin = bits[k]! >>> BIN_SHIFT;
    if (tokenBin === bin && (!outerCutoff || isKept(logits, k, outerCutoff))) members.push(k);
  }
  members.sort((a, b) => logits[b]! - logits[a]! || a - b);
  let last = members[0] ?? 0;
  for (const k of members) {
    if (weightBefore >= limit) break;
    weightBefore += weight(k);
    last = k;
  }
  return { logit: logits[last]!, id: last };
}
