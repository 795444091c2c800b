import { describe, expect, it } from 'vitest';
import type { ModelConfig } from '../../src/model/architecture.ts';
import type { Arithmetic, Rounding } from '../../src/model/cpu/arithmetic.ts';
import { attentionShape, qkvWidth } from '../../src/model/attentionShape.ts';
import { logSoftmaxRow } from '../../src/model/learning/logSoftmaxRow.ts';
import type { Real } from '../../src/model/learning/real.ts';
import { hasFused, simdArithmetic } from '../../src/model/cpu/simd.ts';
import { maskBit, maskBytes } from '../../src/model/cpu/wasm/headKernels.ts';
import { load, loadSplat, plus } from '../../src/model/cpu/wasm/instructions.ts';
import { encodeModule, routine } from '../../src/model/cpu/wasm/routine.ts';
import { exponential } from '../../src/model/cpu/wasm/sums.ts';
import { Purpose, random } from '../../src/base/rng.ts';
import { ODD } from './policies.ts';
import { NAIVE } from './naiveArithmetic.ts';

/** Float32 rounds to half of this. */
const EPSILON = 2 ** -23;

/** Arithmetic of a model in SIMD, and the float64 oracle. */
function both(
  model: ModelConfig = ODD,
  rounding: Rounding = 'portable',
): { readonly simd: Arithmetic; readonly plain: Arithmetic } {
  const simd = simdArithmetic(model, 2 ** 23, { rounding });
  if (!simd) throw new Error('This process has no WebAssembly SIMD.');
  return { simd, plain: NAIVE.f64.make(model) };
}

/** Runs the same in both on equal numbers and gives the arrays `run` names, SIMD's first. */
function compared(
  { simd, plain }: ReturnType<typeof both>,
  run: (by: Arithmetic, draw: (size: number) => Real) => readonly Real[],
): (readonly [Real, Real])[] {
  const results = [simd, plain].map((by) => {
    const { normal } = random(3, Purpose.weights);
    const draw = (size: number) => {
      const made = by.reals(size);
      // float64 gets what float32 can hold
      for (let i = 0; i < size; i++) made[i] = Math.fround(normal());
      return made;
    };
    return run(by, draw);
  });
  return results[0]!.map((array, i) => [array, results[1]![i]!] as const);
}

/** The largest difference of two arrays. */
function apart(a: Real, b: Real): number {
  expect(a.length).toBe(b.length);
  let worst = 0;
  for (let i = 0; i < a.length; i++) worst = Math.max(worst, Math.abs(a[i]! - b[i]!));
  return worst;
}

// A sum of k products of standard normals grows like √k, and so does what float32 loses on its way; six times that is never met.
const ofSum = (k: number) => 6 * Math.sqrt(k) * EPSILON * Math.max(1, Math.log2(k));

describe.each(['portable', 'fused'] as const)(
  'a SIMD product, %s, agrees with float64 and writes nothing beyond its output',
  (rounding) => {
    it.each([
      [1, 1, 1],
      [2, 4, 4],
      [3, 5, 7],
      [7, 13, 6],
      [5, 8, 32],
      [6, 19, 33],
      [9, 30, 12],
      [131, 11, 12],
      [300, 12, 3],
      [4, 31, 600], // a panel of each width, and terms of two panels
      [1, 27, 1155],
    ])('n %i, o %i, k %i', (n, o, k) => {
      const sizes = { NT: [n * k, o * k, n * o], NN: [n * k, k * o, n * o], TN: [k * n, k * o, n * o] } as const;
      for (const name of ['NT', 'NN', 'TN'] as const) {
        const [forX, forW, forY] = sizes[name];
        const pairs = compared(both(ODD, rounding), (by, draw) => {
          const arrays = [draw(forX), draw(forW), draw(forY + 5)] as const;
          by[`matmul${name}`](arrays[2].subarray(0, forY), arrays[0], arrays[1], n, o, k);
          return [arrays[2], ...arrays];
        });
        const [y, ...after] = pairs;
        expect(apart(...y!)).toBeLessThan(ofSum(k) + EPSILON);
        // the five behind the output, and the inputs, are as they were
        for (const [a, b] of [after[0]!, after[1]!]) expect(apart(a, b)).toBe(0);
        expect(apart(y![0].subarray(forY), y![1].subarray(forY))).toBe(0);
      }
    });

    it('a row has the same bits whatever rows are computed with it', () => {
      const { simd } = both(ODD, rounding);
      const draw = random(5, Purpose.weights);
      const [n, o, k] = [7, 31, 601];
      const make = (size: number) => {
        const made = simd.reals(size);
        for (let i = 0; i < size; i++) made[i] = draw.normal();
        return made;
      };
      for (const product of [simd.matmulNT, simd.matmulNN]) {
        const [x, w, y, one] = [make(n * k), make(o * k), make(n * o), make(o)];
        product(y, x, w, n, o, k);
        for (let i = 0; i < n; i++) {
          product(one, x.subarray(i * k), w, 1, o, k);
          expect([...one]).toEqual([...y.subarray(i * o, (i + 1) * o)]);
        }
      }
    });
  },
);

it.each([5, 48, 1023, 1025, 3001])(
  'rows of %i logits: log-probabilities, entropy and gradients are those of plain loops, masked or not',
  (v) => {
    for (const isMasked of [false, true]) {
      const simd = simdArithmetic(ODD, 2 ** 20)!;
      const { normal, int } = random(v, Purpose.weights);
      const n = 2;
      const room = simd.reals(n * v + 2);
      const rows = room.subarray(0, n * v);
      // all below zero: what lies in lanes beyond the row must not count
      for (let i = 0; i < n * v; i++) rows[i] = 3 * normal() - 40;
      const next = Int32Array.from({ length: 2 * v }, () => (isMasked && int(3) === 0 ? -1 : 0)).fill(0, 0, 1).fill(0, v, v + 1); // prettier-ignore
      const legal = { masks: simd.integers(Math.ceil((2 * maskBytes(v)) / 4)), states: simd.integers(n) };
      const bytes = new Uint8Array(legal.masks.buffer, legal.masks.byteOffset, legal.masks.byteLength);
      for (const [at, state] of next.entries()) {
        const [byte, bit] = maskBit(v, at % v);
        if (state === 0) bytes[Math.floor(at / v) * maskBytes(v) + byte]! |= 1 << bit;
      }
      legal.states.set([1, 0]);
      const [sums, temperature, factors, tokens] = [simd.reals(2 * n), simd.reals(1), simd.reals(4 * n), simd.integers(n)]; // prettier-ignore
      temperature[0] = 0.7;
      tokens.set([0, -1]);
      const plain = Float64Array.from(rows);
      simd.softmaxRows(rows, sums, temperature, n, v, isMasked ? legal : null);
      const gradients = new Float64Array(n * v);
      for (let i = 0; i < n; i++) {
        const row = plain.subarray(i * v, (i + 1) * v);
        logSoftmaxRow(row, 0, v, next, legal.states[i]! * v, 0.7);
        const entropy = -row.reduce((sum, l) => sum + Math.exp(l) * l, 0);
        const logSum = Math.log(sums[2 * i]!);
        expect(logSum - sums[2 * i + 1]! / sums[2 * i]!).toBeCloseTo(entropy, 5);
        // a logarithm of some units rounds at 2e-7 of it
        const logprobs = rows.subarray(i * v, (i + 1) * v).map((z) => z - logSum);
        expect(apart(logprobs, Float32Array.from(row))).toBeLessThan(6 * EPSILON * 16);
        factors.set([Math.exp(-logSum), 0.3, -0.2, entropy - logSum], 4 * i);
        for (const [k, l] of row.entries()) gradients[i * v + k] = -Math.exp(l) * (0.3 - 0.2 * (Math.exp(l) && l + entropy)); // prettier-ignore
      }
      gradients[0]! += 0.3;
      simd.gradientRows(rows, factors, tokens, n, v);
      expect(apart(rows, Float32Array.from(gradients))).toBeLessThan(32 * EPSILON);
      for (let k = 0; k < v; k++) if (isMasked && next[v + k]! < 0) expect(Math.abs(rows[k]!)).toBe(0);
      expect([...room.subarray(n * v)]).toEqual([0, 0]);
    }
  },
);

it('products are rounded once with their sum where that is asked for, else by themselves', () => {
  expect(hasFused()).toBe(true);
  const products = (['portable', 'fused'] as const).map((rounding) => {
    const by = simdArithmetic(ODD, 2 ** 20, { rounding })!;
    const [x, w, y] = [by.reals(2), by.reals(2), by.reals(1)];
    // the square of 1 + 2⁻¹² has 2⁻²⁴ at its end, which float32 has no room for
    x.set([-1, 1 + 2 ** -12]);
    w.set([1 + 2 ** -11, 1 + 2 ** -12]);
    by.matmulNN(y, x, w, 1, 1, 2);
    return y[0];
  });
  expect(products).toEqual([0, 2 ** -24]);
});

describe('the other SIMD kernels agree with float64', () => {
  const n = 7;
  const d = ODD.hidden_size;
  const f = ODD.intermediate_size;

  it.each([
    ['grouped queries, head size 6', ODD],
    ['head size 16, as many key heads', { ...ODD, head_dim: 16, num_key_value_heads: 2 }],
    ['head size 2', { ...ODD, head_dim: 2 }],
  ])('attention, forward and backward: %s', (_, model) => {
    const shape = attentionShape(model);
    const width = qkvWidth(shape);
    const inner = shape.heads * shape.headDim;
    // two rows of tokens, of five and of two: counts that are, and are not, whole vectors
    const counts = [1, 2, 3, 4, 5, 1, 2];
    const pairs = compared(both(model), (by, draw) => {
      const reach = { first: by.integers(n), counts: by.integers(n), table: by.integers(n) };
      reach.first.set(counts.map((count, i) => i + 1 - count));
      reach.table.set(Array.from(counts.keys()));
      reach.counts.set(counts);
      const [qkv, dout, out, dqkv] = [draw(n * width), draw(n * inner), draw(n * inner), draw(n * width)];
      const kept = draw(18 * shape.heads + 3);
      const scores = by.reals(5 + 3);
      const keys = qkv.subarray(inner);
      const values = keys.subarray(shape.kvHeads * shape.headDim);
      by.attend(out, kept, qkv, keys, values, width, reach, scores, n);
      by.attendBackward(dqkv, dout, kept, qkv, reach, scores, n);
      const again = by.reals(n * inner);
      by.attend(again, null, qkv, keys, values, width, reach, scores, n);
      expect([...again]).toEqual([...out]);
      return [out, kept, dqkv];
    });
    // scores of standard normals reach ±5 here: their rounding, of D terms, is what the exponential magnifies
    for (const [a, b] of pairs) expect(apart(a, b)).toBeLessThan(40 * EPSILON);
    expect(pairs[2]![0].some((x) => Math.abs(x) > 0.1)).toBe(true);
  });

  it('the norm, forward and backward', () => {
    const pairs = compared(both(), (by, draw) => {
      const [x, weight, y, scales] = [draw(n * d), draw(d), draw(n * d), draw(n)];
      by.rmsNorm(y, scales, x, weight, n);
      const [dx, dweight, dy] = [draw(n * d), draw(d), draw(n * d)];
      by.rmsNormBackward(dx, dweight, dy, x, scales, weight, n);
      return [y, scales, dx, dweight];
    });
    for (const [a, b] of pairs) expect(apart(a, b)).toBeLessThan(40 * EPSILON);
  });

  it('the gated unit, forward and backward', () => {
    const pairs = compared(both(), (by, draw) => {
      const [gateUp, out, sigmoid] = [draw(n * 2 * f), draw(n * f), draw(n * f)];
      by.swiglu(out, sigmoid, gateUp, n, f);
      const [dgateUp, dout] = [draw(n * 2 * f), draw(n * f)];
      by.swigluBackward(dgateUp, dout, sigmoid, gateUp, n, f);
      return [out, sigmoid, dgateUp];
    });
    for (const [a, b] of pairs) expect(apart(a, b)).toBeLessThan(40 * EPSILON);
  });

  it('the rotation there and back, and a sum', () => {
    const model = { ...ODD, head_dim: 10 };
    const width = qkvWidth(attentionShape(model));
    const pairs = compared(both(model), (by, draw) => {
      const [x, table, a, b] = [draw(n * width), draw(4 * 10), draw(11), draw(11)];
      const positions = by.integers(n);
      positions.set([0, 1, 2, 3, 0, 1, 2]);
      by.rotate(x, positions, table, n, 1);
      const there = x.slice();
      by.rotate(x, positions, table, n, -1);
      by.addInto(a, a, b, 11);
      return [there, x, a];
    });
    for (const [a, b] of pairs) expect(apart(a, b)).toBeLessThan(40 * EPSILON);
  });
});

describe('e^x in SIMD', () => {
  /** e^x of each number, through a kernel of one call. */
  function exponentials(xs: readonly number[]): Float32Array {
    const kernel = routine(['y', 'x', 'n'], 'exponentials', (f, { y, x, n }) =>
      f.blocks(n, [4, 1], (at, lanes) => {
        const value = lanes === 4 ? load(plus(x, at)) : loadSplat(plus(x, at));
        f.store(plus(y, at), exponential(f, value), lanes);
      }),
    );
    const memory = new WebAssembly.Memory({ initial: 2 });
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(encodeModule([kernel])), { host: { memory } });
    new Float32Array(memory.buffer).set(xs);
    const run = exports['exponentials'] as (y: number, x: number, n: number) => void;
    run(65_536, 0, xs.length);
    return new Float32Array(memory.buffer, 65_536, xs.length);
  }

  it('is within two units in the last place from −87 to 87', () => {
    const xs = Array.from({ length: 9999 }, (_, i) => Math.fround(-87 + (174 * i) / 9998));
    const worst = exponentials(xs).reduce((most, y, i) => Math.max(most, Math.abs(y / Math.exp(xs[i]!) - 1)), 0);
    expect(worst).toBeLessThan(2 * EPSILON);
    expect(worst).toBeGreaterThan(0);
  });

  it('is exactly 1 at 0, next to nothing far below, finite far above, and NaN of NaN', () => {
    const [one, nothing, most, none] = exponentials([0, -1e30, 1e30, NaN]);
    expect(one).toBe(1);
    expect(nothing).toBeLessThan(2e-38);
    expect(most).toBeGreaterThan(1e37);
    expect(most).toBeLessThan(Infinity);
    expect(none).toBeNaN();
  });
});

describe('the memory of a SIMD policy', () => {
  it('refuses arrays from elsewhere, and more arrays than it was opened for', () => {
    const { simd } = both();
    const own = simd.reals(4);
    expect(() => simd.addInto(own, own, new Float32Array(4), 4)).toThrow('its own reals()');
    expect(() => simd.reals(2 ** 22)).toThrow('bound is too small');
  });

  it('is not had beyond four gibibytes', () => {
    expect(simdArithmetic(ODD, 2 ** 32)).toBeNull();
  });
});
