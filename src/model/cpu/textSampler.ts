import type { Sampling } from '../decoding.ts';
import type { NextToken } from './nextToken.ts';
import type { Real } from './real.ts';

/** The last token that is kept of them in order, likeliest first, the lower id on a tie. */
interface Edge {
  readonly logit: number;
  readonly id: number;
}

/**
 * Draws a token as `drawToken` does where every token is legal: the first id, in id order, whose cumulative probability exceeds u times that of all that
 * top-k and top-p leave. Nothing is sorted but the tokens about as likely as the last that is kept.
 */
export function drawText(next: NextToken, { greedy, topK, topP }: Sampling, u: number): number {
  const { logits, exponentials: e } = next;
  if (greedy) return likeliestOf(logits);
  let edge: Edge | null = topK > 0 ? edgeOf(next, 'count', topK, null) : null;
  let total = edge ? massOf(next, edge) : next.total;
  if (topP < 1) {
    edge = edgeOf(next, 'mass', topP * total, edge);
    total = massOf(next, edge);
  }
  const target = u * total;
  let sum = 0;
  let last = 0;
  for (let k = 0; k < e.length; k++) {
    if (edge && !isKept(logits, k, edge)) continue;
    last = k;
    sum += e[k]!;
    if (sum > target) return k;
  }
  return last;
}

/** The `count` likeliest ids, likeliest first, the lower id on a tie. */
export function likeliestIds(next: NextToken, count: number): number[] {
  const { logits } = next;
  const edge = edgeOf(next, 'count', count, null);
  const ids: number[] = [];
  for (let k = 0; k < logits.length; k++) if (isKept(logits, k, edge)) ids.push(k);
  return ids.sort((a, b) => logits[b]! - logits[a]! || a - b);
}

function likeliestOf(logits: Real): number {
  let best = 0;
  for (let k = 1; k < logits.length; k++) if (logits[k]! > logits[best]!) best = k;
  return best;
}

function isKept(logits: Real, k: number, edge: Edge): boolean {
  const logit = logits[k]!;
  return logit > edge.logit || (logit === edge.logit && k <= edge.id);
}

function massOf({ logits, exponentials }: NextToken, edge: Edge): number {
  let sum = 0;
  for (let k = 0; k < logits.length; k++) if (isKept(logits, k, edge)) sum += exponentials[k]!;
  return sum;
}

/** Of a positive float32's bits, those of its exponent and four of its fraction say its bin: larger numbers, larger bins. */
const BIN_SHIFT = 19;
const BINS = 2 ** (31 - BIN_SHIFT);

/**
 * The last token kept, likeliest first, as long as the weights of those before add up to less than `most`: of each 1, or its probability times the
 * total. Only among those `inside`, where it is given. The bin that it lies in is found by a histogram, and its place by sorting that bin.
 */
function edgeOf(next: NextToken, weigh: 'count' | 'mass', most: number, inside: Edge | null): Edge {
  const { logits, exponentials: e } = next;
  const floats = e instanceof Float32Array ? e : Float32Array.from(e);
  const bits = new Int32Array(floats.buffer, floats.byteOffset, floats.length);
  const weight = (k: number) => (weigh === 'count' ? 1 : e[k]!);
  const bins = new Float64Array(BINS);
  let lowest = BINS - 1;
  for (let k = 0; k < e.length; k++) {
    if (inside && !isKept(logits, k, inside)) continue;
    const bin = bits[k]! >>> BIN_SHIFT;
    lowest = Math.min(lowest, bin);
    bins[bin] = bins[bin]! + weight(k);
  }
  let bin = BINS - 1;
  let before = 0;
  for (; bin > lowest && before + bins[bin]! < most; bin--) before += bins[bin]!;
  const members: number[] = [];
  for (let k = 0; k < e.length; k++) {
    const itsBin = bits[k]! >>> BIN_SHIFT;
    if (itsBin === bin && (!inside || isKept(logits, k, inside))) members.push(k);
  }
  members.sort((a, b) => logits[b]! - logits[a]! || a - b);
  let last = members[0] ?? 0;
  for (const k of members) {
    if (before >= most) break;
    before += weight(k);
    last = k;
  }
  return { logit: logits[last]!, id: last };
}
