import type { ModelConfig } from '../architecture.ts';
import type { Real } from './real.ts';

/**
 * Computes attention of one query of one head over `count` keys: writes p = softmax(q·k_j/√D) to probabilities[pAt …]
 * and Σ_j p_j·v_j to out[oAt …]. Keys and values are rows of a larger matrix. They start at kAt and vAt and are
 * `stride` numbers apart. So the same loop reads a packed batch and a KV cache, with the same bits.
 */
function attendOne(
  out: Real,
  oAt: number,
  probabilities: Real,
  pAt: number,
  q: Real,
  qAt: number,
  keys: Real,
  kAt: number,
  values: Real,
  vAt: number,
  stride: number,
  count: number,
  headDim: number,
): void {
  const scale = 1 / Math.sqrt(headDim);
  const count4 = count - (count % 4);
  let max = -Infinity;
  for (let j = 0; j < count4; j += 4) {
    const k0 = kAt + j * stride;
    const k1 = k0 + stride;
    const k2 = k1 + stride;
    const k3 = k2 + stride;
    let s0 = 0;
    let s1 = 0;
    let s2 = 0;
    let s3 = 0;
    for (let c = 0; c < headDim; c++) {
      const u = q[qAt + c]!;
      s0 += u * keys[k0 + c]!;
      s1 += u * keys[k1 + c]!;
      s2 += u * keys[k2 + c]!;
      s3 += u * keys[k3 + c]!;
    }
    probabilities[pAt + j] = s0 * scale;
    probabilities[pAt + j + 1] = s1 * scale;
    probabilities[pAt + j + 2] = s2 * scale;
    probabilities[pAt + j + 3] = s3 * scale;
  }
  for (let j = count4; j < count; j++) {
    const k0 = kAt + j * stride;
    let s = 0;
    for (let c = 0; c < headDim; c++) s += q[qAt + c]! * keys[k0 + c]!;
    probabilities[pAt + j] = s * scale;
  }
  for (let j = 0; j < count; j++) {
    const s = probabilities[pAt + j]!;
    if (s > max) max = s;
  }
  let sum = 0;
  for (let j = 0; j < count; j++) {
    const e = Math.exp(probabilities[pAt + j]! - max);
    probabilities[pAt + j] = e;
    sum += e;
  }
  const inverse = 1 / sum;
  for (let j = 0; j < count; j++) probabilities[pAt + j] = probabilities[pAt + j]! * inverse;
  weightedRows(out, oAt, probabilities, pAt, values, vAt, stride, count, headDim, 0);
}

/** Writes Σ_j weights[wAt + j]·rows[rAt + j·stride + c] to out[oAt + c] for each c < width, or adds it if `add` is 1. */
function weightedRows(
  out: Real,
  oAt: number,
  weights: Real,
  wAt: number,
  rows: Real,
  rAt: number,
  stride: number,
  count: number,
  width: number,
  add: 0 | 1,
): void {
  const width4 = width - (width % 4);
  for (let c = 0; c < width4; c += 4) {
    let s0 = 0;
    let s1 = 0;
    let s2 = 0;
    let s3 = 0;
    let at = rAt + c;
    for (let j = 0; j < count; j++) {
      const w = weights[wAt + j]!;
      s0 += w * rows[at]!;
      s1 += w * rows[at + 1]!;
      s2 += w * rows[at + 2]!;
      s3 += w * rows[at + 3]!;
      at += stride;
    }
    const outAt = oAt + c;
    out[outAt] = add === 0 ? s0 : out[outAt]! + s0;
    out[outAt + 1] = add === 0 ? s1 : out[outAt + 1]! + s1;
    out[outAt + 2] = add === 0 ? s2 : out[outAt + 2]! + s2;
    out[outAt + 3] = add === 0 ? s3 : out[outAt + 3]! + s3;
  }
  for (let c = width4; c < width; c++) {
    let s = 0;
    for (let j = 0; j < count; j++) s += weights[wAt + j]! * rows[rAt + j * stride + c]!;
    out[oAt + c] = add === 0 ? s : out[oAt + c]! + s;
  }
}

/** Numbers and size of the heads. A row of qkv holds all heads of q, then those of k, then those of v. */
export interface AttentionShape {
  readonly heads: number; // H
  readonly kvHeads: number;
  readonly headDim: number; // D
}

export function attentionShape(model: ModelConfig): AttentionShape {
  return { heads: model.num_attention_heads, kvHeads: model.num_key_value_heads, headDim: model.head_dim };
}

export function qkvWidth(shape: AttentionShape): number {
  return (shape.heads + 2 * shape.kvHeads) * shape.headDim;
}

/**
 * The keys that each query sees. Without `table`, query i sees the rows first[i] … first[i] + counts[i] − 1. With
 * `table`, it sees the rows table[first[i]] … table[first[i] + counts[i] − 1].
 */
export interface VisibleKeys {
  readonly first: Int32Array; // (n)
  readonly counts: Int32Array; // (n)
  readonly table?: Int32Array; // row indices of keys; with it, a beginning shared by several rows is stored once
}

/**
 * Computes attention of n queries and writes it to out (n, H·D). Query i is the first H·D numbers of row i of qkv (n,
 * (H+2·kvH)·D), already rotated. Keys and values are rows of a packed batch or of a KV cache, `stride` numbers apart.
 * Head h reads kv head ⌊h·kvH/H⌋. If `keptProbabilities` is given, the counts[i] probabilities of each query and head
 * are written there one after the other. `scores` is scratch memory for the largest count plus three.
 */
export function attend(
  out: Real,
  keptProbabilities: Real | null,
  qkv: Real,
  keys: Real,
  values: Real,
  stride: number,
  { first, counts }: VisibleKeys,
  scores: Real,
  n: number,
  shape: AttentionShape,
): void {
  const { heads, kvHeads, headDim } = shape;
  const qkvRow = qkvWidth(shape);
  const headsPerKv = heads / kvHeads;
  const probabilities = keptProbabilities ?? scores;
  let pAt = 0;
  for (let i = 0; i < n; i++) {
    const count = counts[i]!;
    for (let h = 0; h < heads; h++) {
      const kvAt = first[i]! * stride + Math.floor(h / headsPerKv) * headDim;
      const oAt = (i * heads + h) * headDim;
      const qAt = i * qkvRow + h * headDim;
      attendOne(out, oAt, probabilities, pAt, qkv, qAt, keys, kvAt, values, kvAt, stride, count, headDim);
      if (keptProbabilities) pAt += count;
    }
  }
}

/** The backward pass of `attend` over a packed qkv: overwrites dqkv (n, (H+2·kvH)·D), from dout (n, H·D). */
export function attendBackward(
  dqkv: Real,
  dout: Real,
  keptProbabilities: Real,
  qkv: Real,
  { first, counts }: VisibleKeys,
  scores: Real,
  n: number,
  shape: AttentionShape,
): void {
  const { heads, kvHeads, headDim } = shape;
  const stride = qkvWidth(shape);
  const headsPerKv = heads / kvHeads;
  dqkv.fill(0, 0, n * stride);
  let pAt = 0;
  for (let i = 0; i < n; i++) {
    const count = counts[i]!;
    for (let h = 0; h < heads; h++) {
      const kAt = first[i]! * stride + (heads + Math.floor(h / headsPerKv)) * headDim;
      const vAt = kAt + kvHeads * headDim;
      const qAt = i * stride + h * headDim;
      const oAt = (i * heads + h) * headDim;
      attendOneBackward(dqkv, dout, oAt, keptProbabilities, pAt, qkv, qAt, kAt, vAt, stride, count, headDim, scores);
      pAt += count;
    }
  }
}

/** With dp_j = dout·v_j and ds_j = p_j·(dp_j − Σ p·dp)/√D, dq += Σ ds_j·k_j, dk_j += ds_j·q, dv_j += p_j·dout. */
function attendOneBackward(
  dqkv: Real,
  dout: Real,
  oAt: number,
  probabilities: Real,
  pAt: number,
  qkv: Real,
  qAt: number,
  kAt: number,
  vAt: number,
  stride: number,
  count: number,
  headDim: number,
  scores: Real,
): void {
  const scale = 1 / Math.sqrt(headDim);
  let expected = 0;
  for (let j = 0; j < count; j++) {
    const v = vAt + j * stride;
    let dp = 0;
    for (let c = 0; c < headDim; c++) dp += dout[oAt + c]! * qkv[v + c]!;
    scores[j] = dp;
    expected += probabilities[pAt + j]! * dp;
  }
  for (let j = 0; j < count; j++) {
    const p = probabilities[pAt + j]!;
    const ds = p * (scores[j]! - expected) * scale;
    scores[j] = ds;
    const k = kAt + j * stride;
    const v = vAt + j * stride;
    for (let c = 0; c < headDim; c++) {
      dqkv[k + c] = dqkv[k + c]! + ds * qkv[qAt + c]!;
      dqkv[v + c] = dqkv[v + c]! + p * dout[oAt + c]!;
    }
  }
  weightedRows(dqkv, qAt, scores, 0, qkv, kAt, stride, count, headDim, 1);
}
