import { type ModelConfig, rotaryFrequency } from '../architecture.ts';
import type { AttentionShape } from './attention.ts';
import type { Real } from './real.ts';

/** y (n,d) = x · rsqrt(mean(x²) + eps) · weight (Zhang & Sennrich 2019); rsqrt(…) of each row goes to `scales` (n). */
export function rmsNorm(y: Real, scales: Real, x: Real, weight: Real, n: number, d: number, eps: number): void {
  for (let i = 0; i < n; i++) {
    const at = i * d;
    let squares = 0;
    for (let c = 0; c < d; c++) squares += x[at + c]! * x[at + c]!;
    const scale = 1 / Math.sqrt(squares / d + eps);
    scales[i] = scale;
    for (let c = 0; c < d; c++) y[at + c] = x[at + c]! * scale * weight[c]!;
  }
}

/** Adds to dx (n,d) and dweight (d) what follows from dy (n,d); with s the saved scale, dx += s·(w·dy) − x·s³/d·Σ w·dy·x. */
export function rmsNormBackward(
  dx: Real,
  dweight: Real,
  dy: Real,
  x: Real,
  scales: Real,
  weight: Real,
  n: number,
  d: number,
): void {
  for (let i = 0; i < n; i++) {
    const at = i * d;
    const scale = scales[i]!;
    let dot = 0;
    for (let c = 0; c < d; c++) {
      const gx = dy[at + c]! * x[at + c]!;
      dot += gx * weight[c]!;
      dweight[c] = dweight[c]! + gx * scale;
    }
    const pull = (dot * scale * scale * scale) / d;
    for (let c = 0; c < d; c++) {
      dx[at + c] = dx[at + c]! + scale * weight[c]! * dy[at + c]! - x[at + c]! * pull;
    }
  }
}

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
 * Normalizes each head of q and k in place, in the rows of qkv (n, (H+2·kvH)·D), by RMSNorm:
 * x · rsqrt(mean(x²) + eps) · weight. The mean is over the head's D numbers. All heads of q share the weight `qWeight`
 * (D), all heads of k share `kWeight` (D), as in Qwen3.
 */
export function normHeads(
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
      for (let c = 0; c < headDim; c++) squares += qkv[at + c]! * qkv[at + c]!;
      const scale = 1 / Math.sqrt(squares / headDim + eps);
      for (let c = 0; c < headDim; c++) qkv[at + c] = qkv[at + c]! * scale * weight[c]!;
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

/** Works in place on rows of x (n, stride). Coordinate c pairs with c + D/2 (Llama's rotate-half). −1 rotates back: also the gradient. */
export function rotate(
  x: Real,
  positions: Int32Array,
  table: Real,
  n: number,
  direction: 1 | -1,
  heads: number,
  headDim: number,
  stride: number,
): void {
  const half = headDim / 2;
  for (let i = 0; i < n; i++) {
    const angle = positions[i]! * headDim;
    for (let h = 0; h < heads; h++) {
      const at = i * stride + h * headDim;
      for (let c = 0; c < half; c++) {
        const cosine = table[angle + c]!;
        const sine = direction * table[angle + half + c]!;
        const a = x[at + c]!;
        const b = x[at + half + c]!;
        x[at + c] = a * cosine - b * sine;
        x[at + half + c] = b * cosine + a * sine;
      }
    }
  }
}

/** out (n,f) = silu(gate) · up (SwiGLU, Shazeer 2020). Each row of gateUp (n,2f) holds gate, then up. `sigmoid` (n,f) gets σ(gate). */
export function swiglu(out: Real, sigmoid: Real, gateUp: Real, n: number, f: number): void {
  for (let i = 0; i < n; i++) {
    const from = i * 2 * f;
    const to = i * f;
    for (let c = 0; c < f; c++) {
      const gate = gateUp[from + c]!;
      const s = 1 / (1 + Math.exp(-gate));
      sigmoid[to + c] = s;
      out[to + c] = gate * s * gateUp[from + f + c]!;
    }
  }
}

/** The backward pass of `swiglu`: writes dgateUp (n,2f), computed from dout (n,f). */
export function swigluBackward(dgateUp: Real, dout: Real, sigmoid: Real, gateUp: Real, n: number, f: number): void {
  for (let i = 0; i < n; i++) {
    const gateUpRow = i * 2 * f;
    const at = i * f;
    for (let c = 0; c < f; c++) {
      const gate = gateUp[gateUpRow + c]!;
      const s = sigmoid[at + c]!;
      const g = dout[at + c]!;
      dgateUp[gateUpRow + c] = g * gateUp[gateUpRow + f + c]! * s * (1 + gate * (1 - s));
      dgateUp[gateUpRow + f + c] = g * gate * s;
    }
  }
}

/** Computes y = a + b for the first `size` numbers. y may be the same array as a. */
export function addInto(y: Real, a: Real, b: Real, size: number): void {
  for (let i = 0; i < size; i++) y[i] = a[i]! + b[i]!;
}

/** Adds bias (o) to each row of y (n,o). */
export function addBias(y: Real, bias: Real, n: number, o: number): void {
  for (let i = 0; i < n; i++) {
    for (let c = 0; c < o; c++) y[i * o + c] = y[i * o + c]! + bias[c]!;
  }
}

/** Adds the column sums of dy (n,o) to dbias (o). */
export function addColumnSums(dbias: Real, dy: Real, n: number, o: number): void {
  for (let c = 0; c < o; c++) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += dy[i * o + c]!;
    dbias[c] = dbias[c]! + sum;
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
