import { expect, test } from 'vitest';
import { random, Purpose } from '../../src/base/rng.ts';
import { compile } from '../../src/gpu/compile.ts';
import { submit } from '../../src/gpu/device.ts';
import type { Dims, Kernel } from '../../src/gpu/kernel.ts';
import * as kernels from '../../src/gpu/kernels/index.ts';
import { Pipelines } from '../../src/gpu/pipelines.ts';
import { Plan, ShapeUniforms } from '../../src/gpu/plan.ts';
import { readOnce } from '../../src/gpu/readback.ts';
import { shareGpu } from '../../src/gpu/sharedDevice.ts';
import { Arena, write } from '../../src/gpu/tensor.ts';
import { tileFor } from '../../src/model/gpu/layers.ts';

const gpu = await shareGpu(navigator.gpu);
const draw = random(7, Purpose.weights);

/** Runs one dispatch over inputs and outputs by name. Returns the outputs, which begin as given. */
async function dispatched(
  kernel: Kernel,
  tensors: Readonly<Record<string, Float32Array>>,
  outputs: readonly string[],
  dims: Dims,
  constants: Readonly<Record<string, number>>,
): Promise<Float32Array[]> {
  const recorder = { gpu, pipelines: Pipelines.forDevice(gpu), shapes: new ShapeUniforms(gpu) };
  const arena = new Arena(gpu);
  const entries = Object.entries(tensors).map(
    ([name, values]) => [name, arena.declare(name, [values.length])] as const,
  );
  await arena.allocate();
  for (const [name, tensor] of entries) write(gpu, tensor, tensors[name]!);
  const plan = new Plan(recorder, 'tiles');
  const bound = Object.fromEntries(entries);
  plan.dispatch(kernel, bound, dims, constants);
  await compile(recorder);
  submit(gpu, (encoder) => plan.encode(encoder));
  const read = await readOnce(gpu, outputs.map((name) => bound[name]!)); // prettier-ignore
  arena.destroy();
  return read.map((words) => new Float32Array(words.buffer, words.byteOffset, words.length));
}

const normals = (count: number) => Float32Array.from({ length: count }, () => draw.normal());

/** Relative distance of `got` from `want`. */
function apart(got: Float32Array, want: ArrayLike<number>): number {
  let [distance, norm] = [0, 0];
  for (const [i, x] of got.entries()) {
    distance += (x - want[i]!) ** 2;
    norm += want[i]! ** 2;
  }
  expect(norm).toBeGreaterThan(1);
  return Math.sqrt(distance / norm);
}

/** Rows and columns beyond every tile's edge, and a second part of four terms only. */
const [I, J, K] = [100, 72, 36];
const LAYOUTS = {
  a·bᵀ: { ai: K, ak: 1, bk: 1, bj: K },
  a·b: { ai: K, ak: 1, bk: J, bj: 1 },
  aᵀ·b: { ai: 1, ak: I, bk: J, bj: 1 },
} as const;
const [CHUNK, PARTS] = [32, 2];

test.each(Object.entries(LAYOUTS).flatMap(([layout, strides]) => [1, 2].map((n) => [layout, n, strides] as const)))(
  '%s in square tiles of 32 × %d equals plain sums, in parts that are added to what is there',
  async (_, quads, strides) => {
    const { ai, ak, bk, bj } = strides;
    const [a, b, c] = [normals(I * K), normals(K * J), normals(PARTS * I * J)];
    const want = Float64Array.from(c);
    for (let i = 0; i < I; i++)
      for (let j = 0; j < J; j++)
        for (let k = 0; k < K; k++)
          want[Math.floor(k / CHUNK) * I * J + i * J + j]! += a[i * ai + k * ak]! * b[k * bk + j * bj]!;
    const sizes = { I, J, K, ...strides, az: 0, bz: 0, ci: J, cz: 0, parts: PARTS, chunk: CHUNK, cp: I * J, Z: PARTS };
    const dims = { ...sizes, add: 1, block: 4, swiglu: 0, tileRows: 32 * quads, tileColumns: 32 * quads };
    const tensors = { a, b, gate_up: Float32Array.of(0, 0, 0, 0), c };
    const [got] = await dispatched(kernels.matmulTiles, tensors, ['c'], dims, { ROWS: quads, COLUMNS: quads });
    expect(apart(got!, want)).toBeLessThan(2e-6); // float32 against float64
  },
);

test('a norm and its projection come out the same in tiles of 32 rows and of 64', async () => {
  const [N, C, M] = [100, 36, 72]; // three heads of 8, turned, and the rest as they are
  const tensors = {
    ...{ x: normals(N * C), weights: normals(C + M * C + 28), positions: new Float32Array(N), table: normals(8) },
    ...{ p: new Float32Array(N * M), act: new Float32Array((N * M) / 2), xhat: new Float32Array(N * C) },
    inv: new Float32Array(N),
  };
  const offsets = { norm_at: 0, projection_at: C, bias_at: 0, bias: 0, save: 1, block: 4 };
  for (const swiglu of [0, 1]) {
    const dims = { N, C, M, half: swiglu ? M / 2 : 4, turned: swiglu ? 0 : 3, ...offsets, swiglu };
    const outputs = ['p', 'xhat', 'inv', ...(swiglu ? ['act'] : [])];
    const run = (ROWS: number) =>
      dispatched(kernels.normProjectTiles, tensors, outputs, { ...dims, tileRows: 32 * ROWS }, { ROWS });
    const [small, large] = [await run(1), await run(2)];
    for (const [n, name] of outputs.entries()) expect(apart(large[n]!, small[n]!), name).toBeLessThan(1e-6);
  }
});

test('tiles are large where those fill a GPU', () => {
  const rows = (i: number, j: number, matrices?: number) => tileFor(i, j, matrices).dims.tileRows;
  expect([rows(1024, 512), rows(1024, 511), rows(1024, 448)]).toEqual([64, 64, 32]);
  expect([rows(256, 256, 7), rows(256, 256, 8)]).toEqual([32, 64]);
});
