import { qkvWidth, type AttentionShape, type VisibleKeys } from './attention.ts';
import type { Real } from './real.ts';

/** Copies keys and values of n rows of qkv (n, (H+2·kvH)·D), each to the last slot its query sees: tables[first[i] + counts[i] − 1]. */
export function storeSlots(
  keys: Real,
  values: Real,
  qkv: Real,
  tables: Int32Array,
  { first, counts }: VisibleKeys,
  n: number,
  shape: AttentionShape,
): void {
  const kvWidth = shape.kvHeads * shape.headDim;
  for (let i = 0; i < n; i++) {
    const slotStart = tables[first[i]! + counts[i]! - 1]! * kvWidth;
    const qkvStart = i * qkvWidth(shape) + shape.heads * shape.headDim;
    for (let c = 0; c < kvWidth; c++) {
      keys[slotStart + c] = qkv[qkvStart + c]!;
      values[slotStart + c] = qkv[qkvStart + kvWidth + c]!;
    }
  }
}

/**
 * Computes attention of n queries over keys and values in slots, and writes it to out (n, H·D). Query i is the first
 * H·D numbers of row i of qkv. It sees the slots tables[first[i]] … tables[first[i] + counts[i] − 1]. Softmax(q·k/√D)
 * weights the values. Head h reads kv head ⌊h·kvH/H⌋.
 */
export function attendSlots(
  out: Real,
  qkv: Real,
  keys: Real,
  values: Real,
  tables: Int32Array,
  { first, counts }: VisibleKeys,
  scores: Real,
  n: number,
  shape: AttentionShape,
): void {
  const { heads, kvHeads, headDim } = shape;
  const kvWidth = kvHeads * headDim;
  for (let i = 0; i < n; i++) {
    const slots = tables.subarray(first[i], first[i]! + counts[i]!);
    for (let h = 0; h < heads; h++) {
      const headOffset = Math.floor((h * kvHeads) / heads) * headDim;
      attendOne(out, (i * heads + h) * headDim, qkv, i * qkvWidth(shape) + h * headDim, keys, values, slots, kvWidth, headOffset, scores, headDim); // prettier-ignore
    }
  }
}

/** One query of one head. A slot has `kvWidth` numbers of keys and of values; this head's begin at offset `headOffset`. */
function attendOne(
  out: Real,
  oAt: number,
  qkv: Real,
  qAt: number,
  keys: Real,
  values: Real,
  slots: Int32Array,
  kvWidth: number,
  headOffset: number,
  scores: Real,
  headDim: number,
): void {
  let largest = -Infinity;
  for (const [j, slot] of slots.entries()) {
    let s = 0;
    for (let c = 0; c < headDim; c++) s += qkv[qAt + c]! * keys[slot * kvWidth + headOffset + c]!;
    scores[j] = s / Math.sqrt(headDim);
    largest = Math.max(largest, scores[j]);
  }
  let total = 0;
  out.fill(0, oAt, oAt + headDim);
  for (const [j, slot] of slots.entries()) {
    const e = Math.exp(scores[j]! - largest);
    total += e;
    for (let c = 0; c < headDim; c++) out[oAt + c] = out[oAt + c]! + e * values[slot * kvWidth + headOffset + c]!;
  }
  for (let c = 0; c < headDim; c++) out[oAt + c] = out[oAt + c]! / total;
}
