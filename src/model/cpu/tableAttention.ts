import { type AttentionShape, qkvWidth, type VisibleKeys } from './attention.ts';
import type { Real } from './real.ts';

/** The keys that each query reads: query i reads the rows table[first[i]] … table[first[i] + counts[i] − 1]. */
type TableKeys = VisibleKeys & { readonly table: Int32Array };

const dot = (a: Real, aAt: number, b: Real, bAt: number, width: number) => {
  let sum = 0;
  for (let c = 0; c < width; c++) sum += a[aAt + c]! * b[bAt + c]!;
  return sum;
};

const addScaled = (out: Real, outAt: number, scale: number, row: Real, rowAt: number, width: number) => {
  for (let c = 0; c < width; c++) out[outAt + c] = out[outAt + c]! + scale * row[rowAt + c]!;
};

/** Computes `attend` of attention.ts for keys that a table lists. */
export function attendByTable(
  out: Real,
  keptProbabilities: Real | null,
  qkv: Real,
  keys: Real,
  values: Real,
  stride: number,
  { first, counts, table }: TableKeys,
  scores: Real,
  n: number,
  shape: AttentionShape,
): void {
  const { heads, kvHeads, headDim } = shape;
  const probabilities = keptProbabilities ?? scores;
  let pAt = 0;
  for (let i = 0; i < n; i++) {
    const keyRows = table.subarray(first[i], first[i]! + counts[i]!);
    for (let h = 0; h < heads; h++) {
      const headOffset = Math.floor((h * kvHeads) / heads) * headDim;
      const qAt = i * qkvWidth(shape) + h * headDim;
      const oAt = (i * heads + h) * headDim;
      let largest = -Infinity;
      for (const [j, row] of keyRows.entries()) {
        const s = dot(qkv, qAt, keys, row * stride + headOffset, headDim) / Math.sqrt(headDim);
        probabilities[pAt + j] = s;
        if (s > largest) largest = s;
      }
      let total = 0;
      for (let j = pAt; j < pAt + keyRows.length; j++) {
        probabilities[j] = Math.exp(probabilities[j]! - largest);
        total += probabilities[j]!;
      }
      out.fill(0, oAt, oAt + headDim);
      for (const [j, row] of keyRows.entries()) {
        const p = probabilities[pAt + j]! / total;
        probabilities[pAt + j] = p;
        addScaled(out, oAt, p, values, row * stride + headOffset, headDim);
      }
      if (keptProbabilities) pAt += keyRows.length;
    }
  }
}

/** As `attendBackward`, for keys that a table lists. One that several queries read gets the sum of their gradients. */
export function attendByTableBackward(
  dqkv: Real,
  dout: Real,
  keptProbabilities: Real,
  qkv: Real,
  { first, counts, table }: TableKeys,
  n: number,
  shape: AttentionShape,
): void {
  const { heads, kvHeads, headDim } = shape;
  const stride = qkvWidth(shape);
  dqkv.fill(0, 0, n * stride);
  let pAt = 0;
  for (let i = 0; i < n; i++) {
    const keyRows = table.subarray(first[i], first[i]! + counts[i]!);
    for (let h = 0; h < heads; h++) {
      const keyOffset = (heads + Math.floor((h * kvHeads) / heads)) * headDim;
      const valueOffset = keyOffset + kvHeads * headDim;
      const qAt = i * stride + h * headDim;
      const oAt = (i * heads + h) * headDim;
      const dps = Array.from(keyRows, (row) => dot(dout, oAt, qkv, row * stride + valueOffset, headDim));
      const expected = dps.reduce((sum, dp, j) => sum + keptProbabilities[pAt + j]! * dp, 0);
      for (const [j, row] of keyRows.entries()) {
        const p = keptProbabilities[pAt + j]!;
        const ds = (p * (dps[j]! - expected)) / Math.sqrt(headDim);
        addScaled(dqkv, qAt, ds, qkv, row * stride + keyOffset, headDim);
        addScaled(dqkv, row * stride + keyOffset, ds, qkv, qAt, headDim);
        addScaled(dqkv, row * stride + valueOffset, p, dout, oAt, headDim);
      }
      pAt += keyRows.length;
    }
  }
}
