import { afterAll, describe, expect, test } from 'vitest';
import type { ModelConfig } from '../../src/model/architecture.ts';
import { declareMatrix, loadMatrix } from '../../src/model/gpu/matrices.ts';
import { recordProduct } from '../../src/model/gpu/products.ts';
import { readFloat32 } from '../../src/model/weightSource.ts';
import { compile } from '../../src/gpu/compile.ts';
import { openGpu, submit } from '../../src/gpu/device.ts';
import type { Kernel } from '../../src/gpu/kernel.ts';
import * as kernels from '../../src/gpu/kernels/index.ts';
import { Pipelines } from '../../src/gpu/pipelines.ts';
import { Plan, ShapeUniforms } from '../../src/gpu/plan.ts';
import { readOnce } from '../../src/gpu/readback.ts';
import { shareGpu } from '../../src/gpu/sharedDevice.ts';
import { Arena, write } from '../../src/gpu/tensor.ts';
import { Purpose, random } from '../../src/base/rng.ts';
import { LLAMA } from './textModels.ts';
import { packedSource } from './textSources.ts';

const gpu = await openGpu(navigator.gpu);
afterAll(() => gpu.device.destroy());

/** A half's number, by its bits (IEEE 754 binary16). */
function fromHalf(bits: number): number {
  const sign = bits >> 15 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

// Bytes as a file has them, drawn at random, and what they mean in plain TypeScript; exponents of scales between 2^-6 and 2^1.
const draw = random(5, Purpose.weights);
const byte = () => draw.int(256);
const scale = () => (draw.int(2) << 15) | ((9 + draw.int(8)) << 10) | draw.int(1024);
const BLOCK = 32;

interface Packed {
  readonly bytes: Uint8Array;
  readonly scalars: Float64Array;
}

function blocks(count: number, size: number, block: (bytes: DataView, scalars: Float64Array) => void): Packed {
  const bytes = new Uint8Array(count * size);
  const scalars = new Float64Array(count * BLOCK);
  for (let b = 0; b < count; b++)
    block(new DataView(bytes.buffer, b * size, size), scalars.subarray(b * BLOCK, (b + 1) * BLOCK));
  return { bytes, scalars };
}

/** GGUF Q8_0: a half d, then 32 signed bytes q; d·q. */
const q8 = (bytes: DataView, scalars: Float64Array) => {
  bytes.setUint16(0, scale(), true);
  for (let i = 0; i < BLOCK; i++) bytes.setUint8(2 + i, byte());
  for (let i = 0; i < BLOCK; i++) scalars[i] = fromHalf(bytes.getUint16(0, true)) * bytes.getInt8(2 + i);
};

/** GGUF Q4_1: halves d and m, then 16 bytes: the low nibble of byte i is q of scalar i, the high one of scalar i + 16; d·q + m. */
const q4 = (bytes: DataView, scalars: Float64Array) => {
  bytes.setUint16(0, scale(), true);
  bytes.setUint16(2, scale(), true);
  for (let i = 0; i < 16; i++) bytes.setUint8(4 + i, byte());
  const [d, m] = [fromHalf(bytes.getUint16(0, true)), fromHalf(bytes.getUint16(2, true))];
  for (let i = 0; i < 16; i++) {
    scalars[i] = d * (bytes.getUint8(4 + i) & 15) + m;
    scalars[i + 16] = d * (bytes.getUint8(4 + i) >> 4) + m;
  }
};

const halves = (bytes: DataView, scalars: Float64Array) => {
  for (let i = 0; i < BLOCK; i++) {
    bytes.setUint16(2 * i, scale(), true);
    scalars[i] = fromHalf(bytes.getUint16(2 * i, true));
  }
};

/** Weight (M,K) packed, and the strides by which a product walks it: forward over k within a row, backward over rows. */
const [N, K, M] = [37, 96, 68]; // rows beyond a tile, three blocks a row, columns beyond two tiles
const WAYS = {
  x·Wᵀ: { I: N, J: M, K, ai: K, bk: 1, bj: K, ci: M },
  dy·W: { I: N, J: K, K: M, ai: M, bk: K, bj: 1, ci: K },
} as const;

async function product(kernel: Kernel, b: Uint8Array, a: Float32Array, way: (typeof WAYS)[keyof typeof WAYS]) {
  const recorder = { gpu, pipelines: new Pipelines(gpu), shapes: new ShapeUniforms(gpu) };
  const arena = new Arena(gpu);
  const words = arena.declare('b', [b.length / 4]);
  const left = arena.declare('a', [a.length]);
  const c = arena.declare('c', [way.I, way.J]);
  await arena.allocate();
  write(gpu, words, new Uint32Array(b.buffer));
  write(gpu, left, a);
  const plan = new Plan(recorder, 'packed');
  const whole = { az: 0, bz: 0, cz: 0, parts: 1, chunk: 16 * Math.ceil(way.K / 16), cp: 0, add: 0, swiglu: 0, Z: 1 };
  plan.dispatch(kernel, { a: left, b: words, gate_up: left, c }, { ...way, ...whole, ak: 1, block: 4 });
  await compile(recorder);
  submit(gpu, (encoder) => plan.encode(encoder));
  const [got] = await readOnce(gpu, [c]);
  arena.destroy();
  recorder.shapes.destroy();
  return new Float32Array(got!.buffer, got!.byteOffset, got!.length);
}

describe.each([
  ['packed halves', kernels.matmulTilesPackedHalves, 64, halves],
  ['blocks of Q8_0', kernels.matmulTilesQ80, 34, q8],
  ['blocks of Q4_1', kernels.matmulTilesQ41, 20, q4],
] as const)('a product whose weights lie in %s', (_, kernel, size, block) => {
  test.each(Object.entries(WAYS))('equals the plain product of what they mean: %s', async (_way, way) => {
    const { bytes, scalars } = blocks((M * K) / BLOCK, size, block);
    const a = Float32Array.from({ length: N * way.K }, () => draw.normal());
    const got = await product(kernel, bytes, a, way);
    let [apart, whole] = [0, 0];
    for (let i = 0; i < way.I; i++) {
      for (let j = 0; j < way.J; j++) {
        let sum = 0;
        for (let k = 0; k < way.K; k++) sum += a[i * way.K + k]! * scalars[k * way.bk + j * way.bj]!;
        apart += (got[i * way.J + j]! - sum) ** 2;
        whole += sum ** 2;
      }
    }
    expect(whole).toBeGreaterThan(1);
    // float32 sums of at most 96 terms against float64
    expect(Math.sqrt(apart / whole)).toBeLessThan(2e-6);
  });

  test('moves the bytes that they take', () => {
    const dims = { I: 0, J: 1, K: 32, Z: 1 };
    expect(kernel.bytes(dims)).toBe(size);
  });
});

// whole networks in each format: textModel.test.ts (weekly, but for two)
test.each(['F32', 'F16', 'BF16', 'Q8_0', 'Q4_0', 'Q4_1'])(
  'products of four rows and of many with a matrix in %s, and rows of it, equal float64',
  async (format) => {
    const model: ModelConfig = { ...LLAMA, intermediate_size: 96 };
    const [name, J, K] = ['model.layers.0.mlp.down_proj.weight', 32, 96];
    const source = packedSource(model, 7, () => format);
    const shared = await shareGpu(navigator.gpu);
    const recorder = { gpu: shared, pipelines: Pipelines.forDevice(shared), shapes: new ShapeUniforms(shared) };
    const arena = new Arena(shared);
    const matrix = declareMatrix(arena, source, [name], 2 ** 20);
    const plan = new Plan(recorder, format);
    const products = [4, 68].map((rows) => ({
      values: Float32Array.from({ length: rows * K }, () => draw.normal()),
      a: arena.declare(`a of ${rows}`, [rows, K]),
      c: arena.declare(`c of ${rows}`, [rows, J]),
      rows,
    }));
    const seats = arena.declare('seats', [4, 4]);
    const x = arena.declare('x', [4, K]);
    await arena.allocate();
    for (const { a, c, rows } of products) recordProduct(plan, a, matrix, c, rows);
    const embedded = { N: 4, C: K, first: 0, rows: J };
    plan.dispatch(matrix.format.embedKernel, { seats, b: matrix.parts[0]!.weights, x }, embedded);
    await compile(recorder, undefined, plan.dispatches.map(({ entry }) => entry)); // prettier-ignore
    await loadMatrix(shared, source, matrix);
    for (const { a, values } of products) write(shared, a, values);
    const tokens = [31, 0, 7];
    write(shared, seats, Uint32Array.from([...tokens.flatMap((token) => [token, 0, 0, 0]), 3, 0, 0xffffffff, 0]));
    submit(shared, (encoder) => plan.encode(encoder));
    const wide = await readFloat32(source.get(name)!);
    for (const { values, c } of products) {
      const [got] = await readOnce(shared, [c]);
      const found = new Float32Array(got!.buffer, got!.byteOffset, got!.length);
      let [apart, whole] = [0, 0];
      for (const [at, value] of found.entries()) {
        const [i, j] = [Math.floor(at / J), at % J];
        let sum = 0;
        for (let k = 0; k < K; k++) sum += values[i * K + k]! * wide[j * K + k]!;
        apart += (value - sum) ** 2;
        whole += sum ** 2;
      }
      expect(whole).toBeGreaterThan(1);
      expect(Math.sqrt(apart / whole)).toBeLessThan(2e-6);
    }
    const [rows] = await readOnce(shared, [x]);
    const want = tokens.flatMap((token) => [...wide.subarray(token * K, (token + 1) * K)]);
    expect([...new Float32Array(rows!.buffer, rows!.byteOffset, rows!.length)]).toEqual([
      ...want,
      ...new Array<number>(K).fill(0), // an empty seat
    ]);
    arena.destroy();
    recorder.shapes.destroy();
    shared.close();
  },
);
