import type { DecodeChunk } from '../decoding.ts';

const EIGHTHS = 8;
const LEAST = 16; // rows a workgroup of the products takes at once: fewer cost as much

/** Numbers of slots a plan is recorded for, ascending to B: eighths of it, then halves of the least, in whole blocks of rows. */
export function slotCounts(B: number): readonly number[] {
  const halves = Array.from(
    { length: Math.max(0, Math.ceil(Math.log2(B / EIGHTHS / LEAST))) },
    (_, k) => B / EIGHTHS / 2 ** (k + 1),
  );
  const eighths = Array.from({ length: EIGHTHS }, (_, k) => (B * (k + 1)) / EIGHTHS);
  const counts = [...halves.toReversed(), ...eighths].map((n) => Math.min(B, Math.ceil(n / LEAST) * LEAST));
  return [...new Set(counts)];
}

/** The plan for the fewest slots, ascending, that are enough for `count`. */
export function planFor<P>(plans: ReadonlyMap<number, P>, count: number): P {
  const found = [...plans].find(([slots]) => slots >= count);
  if (!found) throw new RangeError(`decode: ${count} slots; the largest plan is for ${Math.max(...plans.keys())}.`);
  return found[1];
}

/** Tokens each row may draw in a chunk, after those forced on it. */
export function drawsOf({ steps, forcedCounts, states, budgets }: DecodeChunk): Int32Array {
  return budgets.map((budget, b) => (states[b]! < 0 ? 0 : Math.max(0, Math.min(budget, steps - forcedCounts[b]!))));
}

/** The B rows in the order in which they take slots, those that work first, and how many these are. */
export function rowOrder(B: number, works: (row: number) => boolean) {
  const rows = Array.from({ length: B }, (_, b) => b);
  const working = rows.filter(works);
  return { rows: [...working, ...rows.filter((b) => !works(b))], working: working.length };
}
