import { type ModelConfig, rotaryFrequency } from '../architecture.ts';
import type { AttentionShape } from '../attentionShape.ts';
import type { Real } from '../learning/real.ts';

/** Fills a table (T, D). Row p holds the D/2 cosines of p × frequency, then the D/2 sines. */
export function fillRotary(table: Real, model: ModelConfig): void {
  const headDim = model.head_dim;
  const half = headDim / 2;
  const frequencies = Array.from({ length: half }, (_, c) => rotaryFrequency(model, c));
  for (let at = 0; at < table.length; at += headDim) {
    for (const [c, frequency] of frequencies.entries()) {
      const angle = (at / headDim) * frequency;
      table[at + c] = Math.cos(angle);
      table[at + half + c] = Math.sin(angle);
    }
  }
}

/**
 * The backward pass of `normHeads`, in place: replaces in dqkv (n, (H+2·kvH)·D) the gradient of the normalized heads of
 * q and k by the gradient of the heads before normalization, which `qkv` holds. With s the scale of a head,
 * dx = s·(w·dy) − x·s³/D·Σ w·dy·x. The weights get no gradient.
 */
export function normHeadsBackward(
  dqkv: Real,
  qkv: Real,
  qWeight: Real,
  kWeight: Real,
  n: number,
  { heads, kvHeads, headDim }: AttentionShape,
  eps: number,
): void {
  const stride = (heads + 2 * kvHeads) * headDim;
  for (let i = 0; i < n; i++) {
    for (let h = 0; h < heads + kvHeads; h++) {
      const weight = h < heads ? qWeight : kWeight;
      const at = i * stride + h * headDim;
      let squares = 0;
      let along = 0;
      for (let c = 0; c < headDim; c++) {
        squares += qkv[at + c]! * qkv[at + c]!;
        along += weight[c]! * dqkv[at + c]! * qkv[at + c]!;
      }
      const scale = 1 / Math.sqrt(squares / headDim + eps);
      const back = (scale * scale * scale * along) / headDim;
      for (let c = 0; c < headDim; c++) dqkv[at + c] = scale * weight[c]! * dqkv[at + c]! - back * qkv[at + c]!;
    }
  }
}

/** Copies row ids[i] of `table` to row i of `out`, for i < n. Rows have d numbers. */
export function gatherRows(out: Real, table: Real, ids: Int32Array, n: number, d: number): void {
  for (let i = 0; i < n; i++) {
    const from = ids[i]! * d;
    for (let c = 0; c < d; c++) out[i * d + c] = table[from + c]!;
  }
}

/** Adds row i of `rows` to row ids[i] of `table`, in order of i. Rows have d numbers. */
export function scatterAddRows(table: Real, rows: Real, ids: Int32Array, n: number, d: number): void {
  for (let i = 0; i < n; i++) {
    const to = ids[i]! * d;
    for (let c = 0; c < d; c++) table[to + c] = table[to + c]! + rows[i * d + c]!;
  }
}
