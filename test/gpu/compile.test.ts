import { afterAll, beforeAll, expect, test } from 'vitest';
import { SecondDevice, compile } from '../../src/gpu/compile.ts';
import { openGpu, type Gpu } from '../../src/gpu/device.ts';
import { kernel } from '../../src/gpu/kernel.ts';
import { rotary, swigluBackward, swigluForward } from '../../src/gpu/kernels/index.ts';
import { Pipelines } from '../../src/gpu/pipelines.ts';

const BROKEN = kernel('broken', swigluForward.wgsl.replace('let f = id.x;', 'let f = id.q;'), {
  bind: ['gate_up', 'act'],
  grid: () => [1],
  flops: () => 0,
  bytes: () => 0,
});
let gpu: Gpu;
let seconds: Gpu[] = [];
/** An adapter that compiles at first use, as far as `compile` can see. */
let lazy: Gpu;

beforeAll(async () => {
  gpu = await openGpu(navigator.gpu);
  const another = async () => {
    const second = await gpu.openAnother();
    seconds.push(second);
    return second;
  };
  lazy = { ...gpu, software: true, lanes: 8, openAnother: another };
});
afterAll(() => gpu.device.destroy());

test('whatever was wanted is compiled, once, and progress counts it', async () => {
  const pipelines = new Pipelines(gpu);
  const entries = [swigluForward, swigluBackward].map((each) => pipelines.request(each, {}));
  const heard: string[] = [];
  const progress = (done: number, total: number) => heard.push(`${done}/${total}`);
  await compile({ gpu, pipelines }, progress, entries.slice(1));
  expect(entries.map(({ pipeline }) => pipeline !== null)).toEqual([false, true]);
  await compile({ gpu, pipelines }, progress);
  const creations = gpu.counters.creations;
  await compile({ gpu, pipelines }, progress);
  expect(gpu.counters.creations).toBe(creations);
  expect(heard).toEqual(['0/1', '1/1', '0/1', '1/1']);
  expect(entries.map(({ pipeline }) => pipeline !== null)).toEqual([true, true]);
});

test('where pipelines compile at first use a second device is opened, and given back when all are there', async () => {
  seconds = [];
  const pipelines = new Pipelines(lazy);
  const entries = [swigluForward, swigluBackward, rotary].map((each) => pipelines.request(each, {}));
  await compile({ gpu: lazy, pipelines });
  expect(entries.map(({ pipeline }) => pipeline !== null)).toEqual([true, true, true]);
  expect(seconds).toHaveLength(1);
  expect((await seconds[0]!.device.lost).reason).toBe('destroyed');
  expect(gpu.uncaughtErrors).toEqual([]);
});

test('a companion runs a pipeline once on its own device', async () => {
  seconds = [];
  const pipelines = new Pipelines(lazy);
  const [good, bad] = [pipelines.request(swigluForward, {}), pipelines.request(BROKEN, {})];
  const companion = (await SecondDevice.open(lazy, [good, bad]))!;
  const before = { ...seconds[0]!.counters };
  await companion.use(good);
  await companion.use(bad); // the first device says what is wrong with it
  expect(seconds[0]!.counters.dispatches).toBe(before.dispatches + 1);
  expect(good.pipeline).toBeNull(); // of the first device, still to be made there
  companion.close();
});

test('without a second device the first compiles alone', async () => {
  const alone = { ...lazy, openAnother: () => Promise.reject(new Error('one is all there is')) };
  expect(await SecondDevice.open(alone, [])).toBeNull();
  const pipelines = new Pipelines(alone);
  const entries = [swigluForward, swigluBackward].map((each) => pipelines.request(each, {}));
  await compile({ gpu: alone, pipelines });
  expect(entries.map(({ pipeline }) => pipeline !== null)).toEqual([true, true]);
});

test.each(['on hardware', 'where a second device helps'])(
  'WGSL that does not compile is reported by file and line, %s',
  async (where) => {
    const on = where === 'on hardware' ? { ...gpu, software: false } : lazy;
    const pipelines = new Pipelines(on);
    on.device.pushErrorScope('validation');
    pipelines.request(BROKEN, {});
    pipelines.request(swigluBackward, {});
    await expect(compile({ gpu: on, pipelines })).rejects.toThrow(/broken\.wgsl:\d+:\d+/);
    await on.device.popErrorScope();
    expect(gpu.uncaughtErrors).toEqual([]);
  },
);
