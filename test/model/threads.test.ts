import { afterEach, describe, expect, it, vi } from 'vitest';
import { Purpose, random } from '../../src/base/rng.ts';
import { nodeThreads } from '../../src/cli/nodeThreads.ts';
import { GGML_FORMATS } from '../../src/formats/blocks/blockFormats.ts';
import { attentionShape, qkvWidth } from '../../src/model/attentionShape.ts';
import type { Arithmetic, Rounding } from '../../src/model/cpu/arithmetic.ts';
import type { Real } from '../../src/model/learning/real.ts';
import { simdArithmetic } from '../../src/model/cpu/simd.ts';
import { oneThread, arithmeticName, threadsFor } from '../../src/model/cpu/team/threads.ts';
import { slotNumbers } from '../../src/model/cpu/wasm/slotKernels.ts';
import { ODD } from './policies.ts';

const MODEL = { ...ODD, num_attention_heads: 6, num_key_value_heads: 3 };
const shape = attentionShape(MODEL);
const [width, inner, d] = [qkvWidth(shape), shape.heads * shape.headDim, MODEL.hidden_size];

const opened: Arithmetic[] = [];
afterEach(() => {
  for (const { team } of opened.splice(0)) team?.close();
});

/** An arithmetic of so many threads, all of them there, that cuts whatever can be cut. */
async function threaded(count: number, rounding: Rounding = 'portable'): Promise<Arithmetic> {
  const made = simdArithmetic(MODEL, 2 ** 23, { threads: { ...nodeThreads(count), minWork: 1 }, rounding });
  if (!made) throw new Error('This process has no WebAssembly SIMD.');
  opened.push(made);
  expect((await made.team?.whenStarted()) ?? 1).toBe(count);
  return made;
}

/** Numbers of an arithmetic, the same in each. */
type Draw = (size: number) => Real;
/** What it computes of them. */
type Computed = (by: Arithmetic, draw: Draw, n: number) => readonly Real[];

const products: Computed = (by, draw, n) => {
  const [o, k] = [37, 29];
  return (['matmulNT', 'matmulNN', 'matmulTN'] as const).flatMap((name) =>
    // as many rows as there are, and as columns
    [draw(n * o + 3), draw(o * n + 3)].map((y, turned) => {
      if (turned) by[name](y, draw(o * k), draw(n * k), o, n, k);
      else by[name](y, draw(n * k), draw(o * k), n, o, k);
      return y;
    }),
  );
};

/** A product of many terms, which are added in blocks. */
const longProduct: Computed = (by, draw, n) => {
  const y = draw(n * 40);
  by.matmulTN(y, draw(300 * n), draw(300 * 40), n, 40, 300);
  return [y];
};

const packedProducts: Computed = (by, draw, n) => {
  const [o, k, stride] = [53, 96, 60];
  const { packedKernels } = by;
  return [...GGML_FORMATS.values()]
    .filter((format) => packedKernels?.canStayPacked(format, k))
    .map((format) => {
      const y = draw(n * stride);
      const w = by.reals(Math.ceil((o * k * format.blockBytes) / format.blockWeights / 4));
      const bytes = new Uint8Array(w.buffer, w.byteOffset, w.byteLength);
      const { int } = random(6, Purpose.weights);
      // halves and brain floats of moderate size wherever their bytes fall
      for (let i = 0; i < bytes.length; i++) bytes[i] = i % 2 === 1 ? 0x30 + int(8) : int(256);
      const room = by.reals(packedKernels!.quantizedSize(n, k));
      const x = draw(n * k);
      if (packedKernels!.hasIntegers(format)) packedKernels!.quantize(room, x, n, k);
      packedKernels!.product(format, y, 5, stride, packedKernels!.hasIntegers(format) ? room : x, w, n, o, k);
      return y;
    });
};

const attention: Computed = (by, draw, n) => {
  const counts = Array.from({ length: n }, (_, i) => (i % 5) + 1);
  const pairs = counts.reduce((sum, count) => sum + count, 0);
  const seen = { first: by.integers(n), counts: by.integers(n), table: by.integers(n) };
  seen.first.set(counts.map((count, i) => i + 1 - count));
  seen.counts.set(counts);
  for (let i = 0; i < n; i++) seen.table[i] = i;
  const qkv = draw(n * width);
  const keys = qkv.subarray(inner);
  const values = keys.subarray(shape.kvHeads * shape.headDim);
  const [out, kept, dqkv] = [draw(n * inner), draw(pairs * shape.heads + 3), draw(n * width)];
  by.attend(out, kept, qkv, keys, values, width, seen, by.reals(5 + 3), n);
  by.attendBackward(dqkv, draw(n * inner), kept, qkv, seen, by.reals(5 + 3), n);
  const again = draw(n * inner);
  by.attend(again, null, qkv, keys, values, width, seen, by.reals(5 + 3), n);
  return [out, kept, dqkv, again];
};

const slots: Computed = (by, draw, n) =>
  [true, false].map((halves) => {
    const kernels = by.slotKernels(halves);
    const size = slotNumbers(shape, halves ? 'F16' : 'F32', 2 * n);
    const [keys, values, out, qkv] = [by.reals(size), by.reals(size), draw(n * inner), draw(n * width)];
    const [tables, reach] = [by.integers(n), { first: by.integers(n), counts: by.integers(n) }];
    for (let i = 0; i < n; i++) [tables[i], reach.counts[i]] = [(i * 7 + 3) % (2 * n), i + 1];
    const scores = by.reals((shape.heads / shape.kvHeads) * 4 * Math.ceil(n / 4));
    kernels.store(keys, values, qkv, tables, reach, n);
    kernels.attend(out, qkv, keys, values, tables, reach, scores, n);
    return out;
  });

const rows: Computed = (by, draw, n) => {
  const f = 23;
  const [y, scales, gateUp, gated, sigmoid] = [draw(n * d), draw(n), draw(n * 2 * f), draw(n * f), draw(n * f)];
  by.rmsNorm(y, scales, draw(n * d), draw(d), n);
  by.swiglu(gated, sigmoid, gateUp, n, f);
  const dgateUp = draw(n * 2 * f);
  by.swigluBackward(dgateUp, draw(n * f), sigmoid, gateUp, n, f);
  const [heads, positions, sum] = [draw(n * width), by.integers(n), draw(3001)];
  positions.set(Array.from({ length: n }, (_, i) => i % 4));
  by.normHeads(heads, draw(shape.headDim), draw(shape.headDim), n);
  by.rotate(heads, positions, draw(4 * shape.headDim), n, 1);
  by.addInto(sum, sum, draw(3001), 3000);
  return [y, scales, gated, sigmoid, dgateUp, heads, sum];
};

describe.each(['portable', 'fused'] as const)(
  'every kernel, %s, gives the same bits in one, two and three threads',
  (rounding) => {
    it.each(Object.entries({ products, longProduct, packedProducts, attention, slots, rows }))('%s', async (_, run) => {
      const teams = await Promise.all([1, 2, 3].map((count) => threaded(count, rounding)));
      const compare = (n: number) => {
        const [one, ...more] = teams.map((by) => {
          const { normal } = random(3, Purpose.weights, n);
          const made = run(by, (size) => filled(by.reals(size), normal), n);
          return made.map((y) => new Int32Array(Float32Array.from(y).buffer));
        });
        for (const other of more) expect(other).toEqual(one);
      };
      for (const n of [1, 2, 7, 45]) compare(n);
      // calls are short, and a helper may be late to all of them
      const helped = () => teams.every(({ team }) => team?.partCounts().some((parts, i) => i > 0 && parts > 0) ?? true);
      for (let again = 0; again < 50 && !helped(); again++) compare(45);
      expect(helped()).toBe(true);
    });
  },
);

function filled(array: Real, normal: () => number): Real {
  for (let i = 0; i < array.length; i++) array[i] = normal();
  return array;
}

describe('a team', () => {
  it('computes the same without helpers that have ended, and they are gone', async () => {
    const by = await threaded(3);
    const { team } = by;
    const [a, b] = [filled(by.reals(5000), () => 1), by.reals(5000)];
    by.addInto(b, a, a, 5000);
    team!.close();
    const before = team!.partCounts();
    by.addInto(b, a, b, 5000);
    expect(b.every((x) => x === 3)).toBe(true);
    expect(team!.partCounts()).toEqual(before);
  });

  it('gives each part of a pass scratch memory of its own, as parts run at the same time', async () => {
    const by = await threaded(2, 'fused');
    const record = vi.spyOn(by.team!, 'record');
    const product = () => by.matmulNT(by.reals(9 * 9), by.reals(9 * 9), by.reals(9 * 9), 9, 9, 9);
    by.runPass([product, product, product]);
    const panels = record.mock.calls.map(([name, parameters]) => [name, parameters.at(-1)]);
    expect(panels.map(([name]) => name)).toEqual(['panelsNT', 'panelsNT', 'panelsNT']);
    expect(new Set(panels.map(([, address]) => address)).size).toBe(3);
  });

  it('tells the caller of a kernel that trapped in a helper, rather than wait for it', async () => {
    const by = await threaded(2);
    // far outside of the memory, in every part: whoever takes it
    expect(() => by.team!.run('addInto', [[-64, -64, -64, 1e6], [-64, -64, -64, 1e6]])).toThrow(); // prettier-ignore
  });
});

describe('how many threads', () => {
  it('compute: all of two cores, of more all but one, at most eight', () => {
    expect([1, 2, 3, 4, 8, 9, 64].map(threadsFor)).toEqual([1, 2, 2, 3, 7, 8, 8]);
  });

  it('are told with the reason for only one', () => {
    expect(arithmeticName({ count: 2, reason: '' })).toBe('WebAssembly SIMD, 2 threads');
    expect(arithmeticName(oneThread('one core'))).toBe('WebAssembly SIMD, 1 thread (one core)');
    expect(arithmeticName(oneThread(''))).toBe('WebAssembly SIMD');
  });
});
