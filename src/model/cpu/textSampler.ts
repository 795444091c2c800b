import type { Sampling } from '../decoding.ts';
import type { NextToken } from './nextToken.ts';
import type { Real } from './real.ts';

/** The last token kept, if tokens are sorted by probability, and by id on a tie. */
interface Edge {
  readonly logit: number;
  readonly id: number;
}

/**
 * Draws a token as `drawToken` does if every token is legal. In the order of ids, it's the first token whose cumulative probability
 * exceeds u times the total of all tokens that top-k and top-p leave. Only tokens about as likely as the last one kept are sorted.
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

/** The `count` likeliest ids, sorted by probability, and by id on a tie. */
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

/** The bin of a positive float32: its exponent and the first four bits of its fraction. Larger numbers have larger bins. */
const BIN_SHIFT = 19;
const BINS = 2 ** (31 - BIN_SHIFT);

/**
 * The last token kept. Tokens are taken in order of probability as long as the weights before them add up to less than `most`. A weight
 * is 1 (`count`), or the token's probability times the total (`mass`). With `inside`, only tokens up to that edge count. A histogram
 * finds the bin of the token; sorting this bin finds the token.
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
