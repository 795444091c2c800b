import type { ModelConfig } from '../../src/model/architecture.ts';
import type { Arithmetic, ReferenceLoops } from '../../src/model/cpu/arithmetic.ts';
import { attentionShape, qkvWidth, type TableOfKeys } from '../../src/model/attentionShape.ts';
import { gatherRows } from '../../src/model/cpu/layers.ts';
import { exponentials } from '../../src/model/cpu/nextToken.ts';
import { runInOrder } from '../../src/model/cpu/team/team.ts';
import { ILLEGAL_LOGPROB } from '../../src/model/learning/logSoftmaxRow.ts';
import { HIGHEST_ILLEGAL, maskBit, maskBytes } from '../../src/model/cpu/wasm/headKernels.ts';
import { type Precision, type Real, reals } from '../../src/model/learning/real.ts';

/*
 * The loops of a model as their formulas say them (shapes: src/model/cpu/arithmetic.ts): in float64 the reference of tests. Every sum is
 * float64 and in order, so that a row's bits don't depend on the rows beside it.
 */

/** Σ_c a[aAt + c·aStep] · b[bAt + c·bStep] */
function dot(a: Real, aAt: number, b: Real, bAt: number, width: number, aStep = 1, bStep = 1): number {
  let sum = 0;
  for (let c = 0; c < width; c++) sum += a[aAt + c * aStep]! * b[bAt + c * bStep]!;
  return sum;
}

function addScaled(out: Real, outAt: number, scale: number, row: Real, rowAt: number, width: number): void {
  for (let c = 0; c < width; c++) out[outAt + c] = out[outAt + c]! + scale * row[rowAt + c]!;
}

/** The rows of the keys that query i sees. */
const rowsOf = ({ first, counts, table }: TableOfKeys, i: number): Int32Array =>
  table.subarray(first[i], first[i]! + counts[i]!);

/** RMSNorm of `width` numbers at `at`, into y, which may be x; its scale. */
function normalize(y: Real, x: Real, at: number, width: number, weight: Real, eps: number): number {
  const scale = 1 / Math.sqrt(dot(x, at, x, at, width) / width + eps);
  for (let c = 0; c < width; c++) y[at + c] = x[at + c]! * scale * weight[c]!;
  return scale;
}

function naiveArithmetic(model: ModelConfig, precision: Precision): Arithmetic {
  const shape = attentionShape(model);
  const { heads, kvHeads, headDim } = shape;
  const { hidden_size: d, rms_norm_eps: eps } = model;
  const wide = qkvWidth(shape);
  const root = Math.sqrt(headDim);
  const kvOf = (h: number) => Math.floor((h * kvHeads) / heads);

  const attend: Arithmetic['attend'] = (out, kept, qkv, keys, values, stride, visible, scores, n) => {
    const probabilities = kept ?? scores;
    let p = 0;
    for (let i = 0; i < n; i++) {
      const rows = rowsOf(visible, i);
      for (let h = 0; h < heads; h++) {
        const own = kvOf(h) * headDim;
        const at = (i * heads + h) * headDim;
        let largest = -Infinity;
        for (let j = 0; j < rows.length; j++) {
          const s = dot(qkv, i * wide + h * headDim, keys, rows[j]! * stride + own, headDim) / root;
          probabilities[p + j] = s;
          largest = Math.max(largest, s);
        }
        let total = 0;
        for (let j = p; j < p + rows.length; j++) total += probabilities[j] = Math.exp(probabilities[j]! - largest);
        out.fill(0, at, at + headDim);
        for (let j = 0; j < rows.length; j++) {
          probabilities[p + j] = probabilities[p + j]! / total;
          addScaled(out, at, probabilities[p + j]!, values, rows[j]! * stride + own, headDim);
        }
        if (kept) p += rows.length;
      }
    }
  };

  return {
    model,
    precision,
    name: 'plain loops',
    reals: (size) => reals(precision, size),
    integers: (size) => new Int32Array(size),
    matmulNT: (y, x, w, n, o, k) => {
      for (let i = 0; i < n; i++) for (let j = 0; j < o; j++) y[i * o + j] = dot(x, i * k, w, j * k, k);
    },
    matmulNN: (y, x, w, n, o, k) => {
      for (let i = 0; i < n; i++) for (let j = 0; j < o; j++) y[i * o + j] = dot(x, i * k, w, j, k, 1, o);
    },
    matmulTN: (y, x, w, n, o, k) => {
      for (let i = 0; i < n; i++) for (let j = 0; j < o; j++) y[i * o + j] = y[i * o + j]! + dot(x, i, w, j, k, n, o);
    },
    attend,
    attendBackward: (dqkv, dout, kept, qkv, visible, scores, n) => {
      dqkv.fill(0, 0, n * wide);
      let p = 0;
      for (let i = 0; i < n; i++) {
        const rows = rowsOf(visible, i);
        for (let h = 0; h < heads; h++) {
          const key = (heads + kvOf(h)) * headDim;
          const value = key + kvHeads * headDim;
          const q = i * wide + h * headDim;
          const at = (i * heads + h) * headDim;
          let expected = 0;
          for (let j = 0; j < rows.length; j++) {
            scores[j] = dot(dout, at, qkv, rows[j]! * wide + value, headDim);
            expected += kept[p + j]! * scores[j]!;
          }
          for (let j = 0; j < rows.length; j++) {
            const ds = (kept[p + j]! * (scores[j]! - expected)) / root;
            addScaled(dqkv, q, ds, qkv, rows[j]! * wide + key, headDim);
            addScaled(dqkv, rows[j]! * wide + key, ds, qkv, q, headDim);
            addScaled(dqkv, rows[j]! * wide + value, kept[p + j]!, dout, at, headDim);
          }
          p += rows.length;
        }
      }
    },
    slotKernels: () => ({
      store: (keys, values, qkv, tables, { first, counts }, n) => {
        const kvWidth = kvHeads * headDim;
        for (let i = 0; i < n; i++) {
          const from = i * wide + heads * headDim;
          const slot = tables[first[i]! + counts[i]! - 1]! * kvWidth;
          keys.set(qkv.subarray(from, from + kvWidth), slot);
          values.set(qkv.subarray(from + kvWidth, from + 2 * kvWidth), slot);
        }
      },
      attend: (out, qkv, keys, values, table, { first, counts }, scores, n) =>
        attend(out, null, qkv, keys, values, kvHeads * headDim, { first, counts, table }, scores, n),
    }),
    exponentials,
    rmsNorm: (y, scales, x, weight, n) => {
      for (let i = 0; i < n; i++) scales[i] = normalize(y, x, i * d, d, weight, eps);
    },
    rmsNormBackward: (dx, dweight, dy, x, scales, weight, n) => {
      for (let i = 0; i < n; i++) {
        const s = scales[i]!;
        let along = 0;
        for (let at = i * d, c = 0; c < d; at++, c++) {
          along += weight[c]! * dy[at]! * x[at]!;
          dweight[c] = dweight[c]! + dy[at]! * x[at]! * s;
        }
        for (let at = i * d, c = 0; c < d; at++, c++)
          dx[at] = dx[at]! + s * weight[c]! * dy[at]! - (x[at]! * s ** 3 * along) / d;
      }
    },
    normHeads: (qkv, qWeight, kWeight, n) => {
      for (let i = 0; i < n; i++)
        for (let h = 0; h < heads + kvHeads; h++)
          normalize(qkv, qkv, i * wide + h * headDim, headDim, h < heads ? qWeight : kWeight, eps);
    },
    normHeadsBackward: (dqkv, dqWeight, dkWeight, qkv, qWeight, kWeight, n) => {
      for (let i = 0; i < n; i++) {
        for (let h = 0; h < heads + kvHeads; h++) {
          const at = i * wide + h * headDim;
          const [weight, dweight] = h < heads ? [qWeight, dqWeight] : [kWeight, dkWeight];
          const s = 1 / Math.sqrt(dot(qkv, at, qkv, at, headDim) / headDim + eps);
          let along = 0;
          for (let c = 0; c < headDim; c++) {
            along += weight[c]! * dqkv[at + c]! * qkv[at + c]!;
            dweight[c] = dweight[c]! + dqkv[at + c]! * qkv[at + c]! * s;
          }
          for (let c = 0; c < headDim; c++)
            dqkv[at + c] = s * weight[c]! * dqkv[at + c]! - (qkv[at + c]! * s ** 3 * along) / headDim;
        }
      }
    },
    copy: (y, x, size) => y.set(x.subarray(0, size)),
    rotate: (x, positions, table, n, direction) => {
      const half = headDim / 2;
      for (let i = 0; i < n; i++) {
        for (let h = 0; h < heads + kvHeads; h++) {
          for (let c = 0; c < half; c++) {
            const at = i * wide + h * headDim + c;
            const cosine = table[positions[i]! * headDim + c]!;
            const sine = direction * table[positions[i]! * headDim + half + c]!;
            const [a, b] = [x[at]!, x[at + half]!];
            x[at] = a * cosine - b * sine;
            x[at + half] = b * cosine + a * sine;
          }
        }
      }
    },
    swiglu: (out, sigmoid, gateUp, n, f) => {
      for (let i = 0; i < n * f; i++) {
        const gate = i + Math.floor(i / f) * f;
        sigmoid[i] = 1 / (1 + Math.exp(-gateUp[gate]!));
        out[i] = gateUp[gate]! * sigmoid[i]! * gateUp[gate + f]!;
      }
    },
    swigluBackward: (dgateUp, dout, sigmoid, gateUp, n, f) => {
      for (let i = 0; i < n * f; i++) {
        const gate = i + Math.floor(i / f) * f;
        const [z, s, g] = [gateUp[gate]!, sigmoid[i]!, dout[i]!];
        dgateUp[gate] = g * gateUp[gate + f]! * s * (1 + z * (1 - s));
        dgateUp[gate + f] = g * z * s;
      }
    },
    addInto: (y, a, b, size) => {
      for (let i = 0; i < size; i++) y[i] = a[i]! + b[i]!;
    },
    addBias: (y, bias, n, o) => {
      for (let i = 0; i < n; i++) addScaled(y, i * o, 1, bias, 0, o);
    },
    addColumnSums: (dbias, dy, n, o) => {
      for (let i = 0; i < n; i++) addScaled(dbias, 0, 1, dy, i * o, o);
    },
    gatherRows,
    storeKeys: (keys, values, qkv, { first, counts }, n) => {
      const kvWidth = kvHeads * headDim;
      for (let i = 0; i < n; i++) {
        const row = qkv.subarray(i * wide + heads * headDim, (i + 1) * wide);
        const at = (first[i]! + counts[i]! - 1) * kvWidth;
        keys.set(row.subarray(0, kvWidth), at);
        values.set(row.subarray(kvWidth), at);
      }
    },
    softmaxRows: (z, sums, [t], n, v, legal) => {
      const bytes = legal && new Uint8Array(legal.masks.buffer, legal.masks.byteOffset);
      for (let i = 0; i < n; i++) {
        const row = z.subarray(i * v, (i + 1) * v);
        const isLegal = (token: number) => {
          const [byte, bit] = maskBit(v, token);
          return !bytes || ((bytes[legal.states[i]! * maskBytes(v) + byte]! >> bit) & 1) === 1;
        };
        let largest = -Infinity;
        for (let k = 0; k < v; k++) if (isLegal(k)) largest = Math.max(largest, row[k]! / t!);
        let [sum, along] = [0, 0];
        for (let k = 0; k < v; k++) {
          row[k] = isLegal(k) ? row[k]! / t! - largest : ILLEGAL_LOGPROB;
          if (!isLegal(k)) continue;
          sum += Math.exp(row[k]!);
          along += Math.exp(row[k]!) * row[k]!;
        }
        sums.set([sum, along], 2 * i);
      }
    },
    gradientRows: (z, factors, tokens, n, v) => {
      for (let i = 0; i < n; i++) {
        const [p, g, e, c] = factors.subarray(4 * i, 4 * i + 4) as unknown as [number, number, number, number];
        for (let at = i * v; at < (i + 1) * v; at++)
          z[at] = z[at]! < HIGHEST_ILLEGAL ? 0 : -Math.exp(z[at]!) * p * (g + e * (z[at]! + c));
        if (tokens[i]! >= 0) z[i * v + tokens[i]!]! += g;
      }
    },
    runPass: runInOrder,
  };
}

const loops = (precision: Precision): ReferenceLoops => ({
  precision,
  make: (model) => naiveArithmetic(model, precision),
});
/** For `loops` of a CPU policy or model. */
export const NAIVE = { f64: loops('f64'), f32: loops('f32') } as const;
