import { qkvWidth, type AttentionShape, type Reach } from './attention.ts';
import type { Real } from './real.ts';

/** Files the keys and values of n rows of qkv (n, (H+2·kvH)·D), each row (kvH·D), in the slot of its token: the last that query i sees. */
export function fileSlots(
  keys: Real,
  values: Real,
  qkv: Real,
  tables: Int32Array,
  { first, counts }: Reach,
  n: number,
  shape: AttentionShape,
): void {
  const kv = shape.kvHeads * shape.headDim;
  for (let i = 0; i < n; i++) {
    const to = tables[first[i]! + counts[i]! - 1]! * kv;
    const from = i * qkvWidth(shape) + shape.heads * shape.headDim;
    for (let c = 0; c < kv; c++) {
      keys[to + c] = qkv[from + c]!;
      values[to + c] = qkv[from + kv + c]!;
    }
  }
}

/**
 * Attention of n queries over keys and values in slots: query i, the first H·D numbers of row i of qkv, sees the slots that `tables` names from
 * first[i] on, counts[i] of them. Softmax(q·k/√D) weighs the values; out (n, H·D). Head h reads kv head ⌊h·kvH/H⌋.
 */
export function attendSlots(
  out: Real,
  qkv: Real,
  keys: Real,
  values: Real,
  tables: Int32Array,
  { first, counts }: Reach,
  scores: Real,
  n: number,
  shape: AttentionShape,
): void {
  const { heads, kvHeads, headDim } = shape;
  const kv = kvHeads * headDim;
  for (let i = 0; i < n; i++) {
    const slots = tables.subarray(first[i], first[i]! + counts[i]!);
    for (let h = 0; h < heads; h++) {
      const head = Math.floor((h * kvHeads) / heads) * headDim;
      attendOne(out, (i * heads + h) * headDim, qkv, i * qkvWidth(shape) + h * headDim, keys, values, slots, kv, head, scores, headDim); // prettier-ignore
    }
  }
}

/** One query of one head; its keys and values are rows of `kv` numbers, by slot, and its own begin at `head`. */
function attendOne(
  out: Real,
  oAt: number,
  qkv: Real,
  qAt: number,
  keys: Real,
  values: Real,
  slots: Int32Array,
  kv: number,
  head: number,
  scores: Real,
  headDim: number,
): void {
  let most = -Infinity;
  for (const [j, slot] of slots.entries()) {
    let s = 0;
    for (let c = 0; c < headDim; c++) s += qkv[qAt + c]! * keys[slot * kv + head + c]!;
    scores[j] = s / Math.sqrt(headDim);
    most = Math.max(most, scores[j]);
  }
  let total = 0;
  out.fill(0, oAt, oAt + headDim);
  for (const [j, slot] of slots.entries()) {
    const e = Math.exp(scores[j]! - most);
    total += e;
    for (let c = 0; c < headDim; c++) out[oAt + c] = out[oAt + c]! + e * values[slot * kv + head + c]!;
  }
  for (let c = 0; c < headDim; c++) out[oAt + c] = out[oAt + c]! / total;
}
