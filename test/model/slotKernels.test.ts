import { describe, expect, it } from 'vitest';
import { Purpose, random } from '../../src/base/rng.ts';
import { attentionShape, qkvWidth } from '../../src/model/attentionShape.ts';
import type { Arithmetic } from '../../src/model/cpu/arithmetic.ts';
import { simdArithmetic } from '../../src/model/cpu/simd.ts';
import { slotNumbers } from '../../src/model/cpu/wasm/slotKernels.ts';
import { SMALL } from './textModels.ts';
import { NAIVE } from './naiveArithmetic.ts';

/** A half keeps eleven bits. */
const HALF = 2 ** -11;
/** Below it halves are whole multiples of 2⁻²⁴. */
const LEAST_NORMAL = 2 ** -14;

/** The half nearest to x, ties to even. */
function half(x: number): number {
  const size = Math.min(Math.abs(x), 65_504);
  const step = Math.max(2 ** -24, 2 ** (Math.floor(Math.log2(Math.max(size, LEAST_NORMAL))) - 10));
  const whole = Math.floor(size / step);
  const rest = size / step - whole;
  const up = rest > 0.5 || (rest === 0.5 && whole % 2 === 1);
  return Math.sign(x) * (whole + (up ? 1 : 0)) * step;
}

const openSimd = (model = SMALL): Arithmetic => {
  const simd = simdArithmetic(model, 2 ** 20);
  if (!simd) throw new Error('This process has no WebAssembly SIMD.');
  return simd;
};

/** What attention over slots makes of equal numbers in `by`; keys and values rounded to halves before they are filed where `rounded`. */
function attended(by: Arithmetic, halves: boolean, rounded: boolean): Float64Array {
  const shape = attentionShape(by.model);
  const { heads, kvHeads, headDim } = shape;
  const [n, slots, wide] = [7, 20, qkvWidth(shape)];
  const { normal, next } = random(4, Purpose.weights);
  const sized = slotNumbers(shape, halves ? 'F16' : 'F32', slots);
  const [keys, values, out] = [by.reals(sized), by.reals(sized), by.reals(n * heads * headDim)];
  const [qkv, scores] = [by.reals(n * wide + 8), by.reals((heads / kvHeads) * 8 + 3)];
  const tables = by.integers(n);
  const [first, counts] = [by.integers(n), by.integers(n)];
  for (let i = 0; i < n * wide; i++) {
    // halves that are too small to be normal, and some that do not fit, among them
    const x = Math.fround(normal() * (next() < 0.1 ? 2 ** -15 : 1) * (next() < 0.01 ? 1e6 : 1));
    const isKey = i % wide >= heads * headDim;
    qkv[i] = rounded && isKey ? half(x) : x;
  }
  // one text of seven tokens, its slots in no order
  for (let i = 0; i < n; i++) {
    tables[i] = (i * 11 + 3) % slots;
    counts[i] = i + 1;
  }
  const kernels = by.slotKernels(halves);
  kernels.store(keys, values, qkv, tables, { first, counts }, n);
  kernels.attend(out, qkv, keys, values, tables, { first, counts }, scores, n);
  return Float64Array.from(out);
}

const worst = (a: Float64Array, b: Float64Array) =>
  a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i]!) / Math.max(1, Math.abs(b[i]!))), 0);

describe.each([
  ['heads of 6, three to a key', SMALL],
  ['heads of 16 and more, one to a key', { ...SMALL, head_dim: 20, num_key_value_heads: 3 }],
  ['heads of 64', { ...SMALL, head_dim: 64 }],
])('attention over slots in SIMD, %s', (_, model) => {
  const oracle = (rounded: boolean) => attended(NAIVE.f64.make(model), false, rounded);

  // sums of up to 64 products in float32
  it('agrees with float64', () => {
    expect(worst(attended(openSimd(model), false, false), oracle(false))).toBeLessThan(1e-5);
  });

  it('with halves agrees with float64 of the halves nearest to keys and values', () => {
    const halves = attended(openSimd(model), true, false);
    expect(worst(halves, oracle(true))).toBeLessThan(1e-5);
    // and they are halves indeed
    expect(worst(halves, oracle(false))).toBeGreaterThan(HALF / 10);
  });
});

it('exponentials in SIMD agree with float64 and leave what lies behind them', () => {
  const [simd, plain] = [openSimd(), NAIVE.f64.make(SMALL)];
  for (const size of [1, 4, 37]) {
    const made = [simd, plain].map((by) => {
      const { normal } = random(9, Purpose.weights, size);
      const [z, e] = [by.reals(size), by.reals(size + 5)];
      // all below zero: what lies behind them, which is not, must not count
      for (let i = 0; i < size; i++) z[i] = Math.fround(normal() * 8 - 40);
      const largest = by.exponentials(e.subarray(0, size), z, 0.7);
      return [largest, ...e];
    });
    expect(made[0]![0]).toBe(made[1]![0]);
    // the argument is rounded to 2⁻²⁴ of up to a hundred
    made[0]!.forEach((x, i) => expect(Math.abs(x - made[1]![i]!)).toBeLessThan(1e-5 * Math.abs(made[1]![i]!)+ 1e-30)); // prettier-ignore
  }
});
