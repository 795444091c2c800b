import { afterAll, beforeAll, expect, test } from 'vitest';
import { compile } from '../../src/gpu/compile.ts';
import { openGpu, submit, type Gpu } from '../../src/gpu/device.ts';
import { kernel } from '../../src/gpu/kernel.ts';
import { swigluBackward, swigluForward } from '../../src/gpu/kernels/index.ts';
import { Pipelines } from '../../src/gpu/pipelines.ts';
import { Plan, ShapeUniforms, type Recorder } from '../../src/gpu/plan.ts';
import { readOnce } from '../../src/gpu/readback.ts';
import { Arena, LimitError, slice, write, type Tensor } from '../../src/gpu/tensor.ts';

let gpu: Gpu;
let recorder: Recorder;
let pair: Tensor;
let act: Tensor;

beforeAll(async () => {
  gpu = await openGpu(navigator.gpu);
  recorder = { gpu, pipelines: new Pipelines(gpu), shapes: new ShapeUniforms(gpu) };
  const arena = new Arena(gpu);
  pair = arena.declare('pair', [3, 10]);
  act = arena.declare('act', [3, 5]);
  await arena.allocate();
});
afterAll(() => gpu.device.destroy());

test('a recorded plan replays without making anything, and counts its dispatches and submits', async () => {
  const plan = new Plan(recorder, 'replay');
  plan.dispatch(swigluForward, { gate_up: pair, act }, { N: 3, F: 5 });
  await compile(recorder);
  write(
    gpu,
    pair,
    Float32Array.from({ length: 30 }, (_, i) => (i % 10) - 5),
  );
  const before = { ...gpu.counters };
  submit(gpu, (encoder) => plan.encode(encoder, 3));
  expect(gpu.counters.creations).toBe(before.creations);
  expect(gpu.counters.dispatches).toBe(before.dispatches + 3);
  expect(gpu.counters.submits).toBe(before.submits + 1);
  const [words] = await readOnce(gpu, [act]);
  const got = new Float32Array(words!.buffer, words!.byteOffset, words!.length);
  // row: gates −5 … −1, ups 0 … 4
  const want = [-5, -4, -3, -2, -1].map((gate, i) => (gate / (1 + Math.exp(-gate))) * i);
  for (const [i, x] of want.entries()) expect(got[i]).toBeCloseTo(x, 5);
  expect(gpu.uncaughtErrors).toEqual([]);
});

test('a plan refuses missing, stray and aliased tensors, missing sizes and grids past the limit, by name', () => {
  const plan = new Plan(recorder, 'wrong');
  const dims = { N: 3, F: 5 };
  expect(() => plan.dispatch(swigluForward, { gate_up: pair }, dims)).toThrow(
    /wrong \/ swiglu_forward: there is no tensor for act/,
  );
  expect(() => plan.dispatch(swigluForward, { gate_up: pair, act, x: act }, dims)).toThrow(/there is a tensor for x/);
  expect(() => plan.dispatch(swigluForward, { gate_up: act, act }, dims)).toThrow(
    /written while act of the same buffer/,
  );
  expect(() => plan.dispatch(swigluForward, { gate_up: pair, act }, { N: 3 })).toThrow(/shape field F is missing/);
  expect(() => plan.dispatch(swigluForward, { gate_up: pair, act }, { N: 3, F: 2e6 })).toThrow(/grid of 125000/);
  expect(plan.dispatchCount).toBe(0);
});

test('halves are bound to kernels that can hold them only, alike within an alias, at offsets of 256 bytes', async () => {
  const arena = new Arena(gpu);
  const halves = arena.declare('halves', [3, 129], [], 0, 'f16');
  await arena.allocate();
  expect(halves.bytes).toBe(776); // 387 halves are 774 bytes, in whole words
  expect(slice(halves, 'late', 128, [2]).offset).toBe(256);
  expect(() => slice(halves, 'odd', 64, [2])).toThrow(/multiple of 128/);
  const plan = new Plan(recorder, 'mixed');
  const dims = { N: 3, F: 5 };
  expect(() => plan.dispatch(swigluForward, { gate_up: halves, act }, dims)).toThrow(
    /act holds f32, and other tensors of Kept hold halves/,
  );
  const grads = { gate_up: halves, dact: slice(halves, 'dact', 0, [5]), dgate_up: pair };
  expect(() => plan.dispatch(swigluBackward, grads, dims)).toThrow(/dact holds halves; dact wants f32/);
  expect(plan.dispatchCount).toBe(0);
  arena.destroy();
});

test('a kernel whose declaration and WGSL disagree is refused when it is declared', () => {
  const flat = { grid: () => [1] as const, flops: () => 0, bytes: () => 0 };
  expect(() => kernel('swiglu_forward', swigluForward.wgsl, { ...flat, bind: ['act', 'gate_up'] })).toThrow(
    /binds "gate_up act"/,
  );
  expect(() => kernel('bare', '@compute fn main() {}', { ...flat, bind: [] })).toThrow(/struct Shape/);
});

test('a tensor past the adapter’s limit is refused before anything is allocated', async () => {
  const arena = new Arena(gpu);
  arena.declare('small', [4]);
  arena.declare('huge', [gpu.device.limits.maxBufferSize], ['width']);
  const before = gpu.counters.creations;
  const failure = await arena.allocate().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(LimitError);
  expect((failure as LimitError).message).toMatch(/huge needs \d+ bytes; this adapter's max\w+ is \d+/);
  expect((failure as LimitError).dimensions).toEqual(['width']);
  expect(gpu.counters.creations).toBe(before);
});

test('a view must be aligned and stay inside its tensor', () => {
  expect(() => slice(pair, 'late', 3, [2])).toThrow(/multiple of 64/);
  expect(() => slice(pair, 'long', 0, [31])).toThrow(/past the end of pair/);
});
