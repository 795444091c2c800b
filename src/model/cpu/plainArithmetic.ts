import type { ModelConfig } from '../architecture.ts';
import type { Arithmetic } from './arithmetic.ts';
import { attend, attendBackward, attentionShape, qkvWidth } from './attention.ts';
import { addInto, normHeads, rmsNorm, rmsNormBackward, rotate, swiglu, swigluBackward } from './layers.ts';
import { matmulNN, matmulNT, matmulTN } from './matmul.ts';
import { exponentials } from './nextToken.ts';
import { reals, type Precision } from './real.ts';
import { attendByTable, attendByTableBackward } from './tableAttention.ts';
import { attendSlots, storeSlots } from './slotAttention.ts';

/** In float64 it's the reference for tests, in float32 the fallback if there is no SIMD. */
export function plainArithmetic(model: ModelConfig, precision: Precision): Arithmetic {
  const shape = attentionShape(model);
  const { hidden_size: d, rms_norm_eps: eps } = model;
  return {
    model,
    precision,
    name: 'TypeScript',
    reals: (size) => reals(precision, size),
    integers: (size) => new Int32Array(size),
    matmulNT,
    matmulNN,
    matmulTN,
    attend: (out, keptProbabilities, qkv, keys, values, stride, { first, counts, table }, scores, n) => {
      if (table)
        attendByTable(out, keptProbabilities, qkv, keys, values, stride, { first, counts, table }, scores, n, shape);
      else attend(out, keptProbabilities, qkv, keys, values, stride, { first, counts }, scores, n, shape);
    },
    attendBackward: (dqkv, dout, keptProbabilities, qkv, { first, counts, table }, scores, n) => {
      if (table) attendByTableBackward(dqkv, dout, keptProbabilities, qkv, { first, counts, table }, n, shape);
      else attendBackward(dqkv, dout, keptProbabilities, qkv, { first, counts }, scores, n, shape);
    },
    slotKernels: () => ({
      store: (keys, values, qkv, tables, visibleKeys, n) =>
        storeSlots(keys, values, qkv, tables, visibleKeys, n, shape),
      attend: (out, qkv, keys, values, tables, visibleKeys, scores, n) =>
        attendSlots(out, qkv, keys, values, tables, visibleKeys, scores, n, shape),
    }),
    exponentials,
    rmsNorm: (y, scales, x, weight, n) => rmsNorm(y, scales, x, weight, n, d, eps),
    rmsNormBackward: (dx, dweight, dy, x, scales, weight, n) =>
      rmsNormBackward(dx, dweight, dy, x, scales, weight, n, d),
    normHeads: (qkv, qWeight, kWeight, n) => normHeads(qkv, qWeight, kWeight, n, shape, eps),
    rotate: (x, positions, table, n, direction) =>
      rotate(x, positions, table, n, direction, shape.heads + shape.kvHeads, shape.headDim, qkvWidth(shape)),
    swiglu,
    swigluBackward,
    addInto,
  };
}
