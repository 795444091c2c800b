import type { DecodeChunk } from '../decoding.ts';

const EIGHTHS = 8;
const BLOCK_ROWS = 16; // rows that a workgroup of the products takes at once; fewer rows cost as much

/** Places of rows in a chunk, ascending to B: its eighths, below them B/16, B/32 and so on, each rounded up to a multiple of BLOCK_ROWS. */
export function slotCounts(B: number): readonly number[] {
  const smallFractions = Array.from(
    { length: Math.max(0, Math.ceil(Math.log2(B / EIGHTHS / BLOCK_ROWS))) },
    (_, k) => B / EIGHTHS / 2 ** (k + 1),
  );
  const eighths = Array.from({ length: EIGHTHS }, (_, k) => (B * (k + 1)) / EIGHTHS);
  const counts = [...smallFractions.toReversed(), ...eighths].map((n) =>
    Math.min(B, Math.ceil(n / BLOCK_ROWS) * BLOCK_ROWS),
  );
  return [...new Set(counts)];
}

/** The plan of the smallest size that is enough for `count`. `plans` must be in ascending order. */
export function planFor<P>(plans: ReadonlyMap<number, P>, count: number): P {
  const match = [...plans].find(([slots]) => slots >= count);
  if (!match) throw new RangeError(`${count} don’t fit: the largest plan is for ${Math.max(...plans.keys())}.`);
  return match[1];
}

/** Number of tokens that each row may draw in a chunk, after its forced tokens. */
export function drawsOf({ maxTokens, forcedCounts, states, budgets }: DecodeChunk): Int32Array {
  return budgets.map((budget, b) => (states[b]! < 0 ? 0 : Math.max(0, Math.min(budget, maxTokens - forcedCounts[b]!))));
}

/** The B rows in the order of their slots, those with work first, and the number of rows with work. */
export function rowOrder(B: number, works: (row: number) => boolean) {
  const rows = Array.from({ length: B }, (_, b) => b);
  const working = rows.filter(works);
  return { rows: [...working, ...rows.filter((b) => !works(b))], working: working.length };
}
