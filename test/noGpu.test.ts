import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { parseConfig } from '../src/config/config.ts';
import { PRESETS } from '../src/config/presets.ts';
import { bytesInMemory } from '../src/formats/byteSource.ts';
import { offersSoftwareOnly } from '../src/gpu/gpuAdapter.ts';
import { openGpu } from '../src/gpu/device.ts';
import { chooseBackend } from '../src/session/chooseBackend.ts';
import { openGpuPolicy } from '../src/model/gpu/gpuPolicy.ts';
import type { Host } from '../src/session/host.ts';
import { plannedTraining } from '../src/session/plannedTraining.ts';
import { openSession } from '../src/session/session.ts';
import { memoryPlan, openReadingModel } from '../src/speaking/readingModel.ts';
import { openTextCheckpoint, openBase } from '../src/speaking/textCheckpoint.ts';
import { waitingWords } from '../src/page/words/sentences.ts';
import { tinyGguf } from './speaking/tinyGguf.ts';

const never = () => new Promise<never>(() => undefined);
const rejects = () => Promise.reject(new Error('The platform is blocklisted'));
const throws = () => {
  throw new TypeError('not a function');
};
const adapter = (requestDevice: () => unknown) => ({
  ...{ features: new Set(), limits: {}, info: { vendor: 'v', architecture: 'a', device: '', description: '' } },
  requestDevice,
});
const gives = (found: unknown) => () => Promise.resolve(found);

/** What a browser's `navigator.gpu` does, and what is said of it. */
const UNUSABLE: readonly (readonly [string, () => unknown, RegExp])[] = [
  ['requestAdapter rejects', rejects, /^WebGPU refused the adapter: The platform is blocklisted\.$/],
  ['requestAdapter throws', throws, /^WebGPU refused the adapter: not a function\.$/],
  ['requestAdapter never settles', never, /^WebGPU gave no adapter within 5 seconds\.$/],
  ['requestAdapter finds none', gives(null), /^WebGPU found no adapter\.$/],
  ['requestDevice rejects', gives(adapter(rejects)), /^WebGPU refused the device: The platform is blocklisted\.$/],
  ['requestDevice throws', gives(adapter(throws)), /^WebGPU refused the device: not a function\.$/],
  ['requestDevice never settles', gives(adapter(never)), /^WebGPU gave no device within 5 seconds\.$/],
  ['the adapter is empty', gives({}), /^WebGPU refused the device: .+\.$/],
];
const gpuThat = (requestAdapter: () => unknown) => ({ requestAdapter }) as unknown as GPU;
const hostOf = (gpu: GPU): Host => ({
  gpu,
  openGpuPolicy,
  chooseBackend: (of, spec) => chooseBackend(of, spec, undefined, { now: () => 0, wait: () => Promise.resolve() }),
  shippedFile: () => Promise.resolve(null),
  now: () => 0,
  yieldToEvents: () => Promise.resolve(),
});
const tiny = { path: 'tiny.gguf', source: bytesInMemory('tiny.gguf', tinyGguf()) };

// the browser's patience is tested, not waited for
beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => vi.useRealTimers());

/** Result of `work` while seconds fly by; modules that it loads take their own time. */
async function soon<T>(work: Promise<T>): Promise<T> {
  const state = { over: false };
  const ended = () => (state.over = true);
  work.then(ended, ended);
  const until = performance.now() + 200_000; // modules load slowly on a busy machine
  while (!state.over && performance.now() < until) {
    await vi.advanceTimersByTimeAsync(1000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (!state.over) throw new Error('It waits for ever.');
  return work;
}

describe.each(UNUSABLE)('where %s', (_, requestAdapter, reason) => {
  test('a run trains on the CPU and says why', async () => {
    const small = { prompts: 4, groupSize: 2, minibatches: 2, evalTasks: 16, warmStart: 'none' };
    const opening = openSession(parseConfig(small), hostOf(gpuThat(requestAdapter)), () => undefined);
    const { policy, dispose } = await soon(opening);
    expect(policy.backend).toMatchObject({ kind: 'cpu', reason: expect.stringMatching(reason) as string });
    dispose();
  });

  test('a run beside a checkpoint is planned and opened on the CPU', async () => {
    const base = await openBase('tiny.gguf', [tiny]);
    const few = { prompts: 1, groupSize: 2, adapterRank: 2, imitationSteps: 1 };
    const config = parseConfig({ ...PRESETS['smollm2-hunt'].set, ...few });
    const host = hostOf(gpuThat(requestAdapter));
    expect(await soon(plannedTraining(config, base, host))).toMatchObject({ engine: 'cpu' });
    const { policy, dispose } = await soon(openSession(config, host, () => undefined, { openedBase: base }));
    expect(policy.backend).toMatchObject({ kind: 'cpu', reason: expect.stringMatching(reason) as string });
    dispose();
  });

  test('a model that is talked to is offered the CPU alone, and the plan says why', async () => {
    const checkpoint = await openTextCheckpoint([tiny]);
    const plan = await soon(memoryPlan(checkpoint, { length: 64, engine: 'gpu' }, gpuThat(requestAdapter)));
    expect(plan).toMatchObject({ engine: 'cpu', engines: ['cpu'], refusal: null });
    expect(plan.whyNoGpu).toMatch(reason);
  });
});

test('a GPU that is gone when the model opens leads to the CPU, with a plan that says why', async () => {
  const checkpoint = await openTextCheckpoint([tiny]);
  const gpu = gpuThat(gives(adapter(rejects)));
  const planned = {
    ...(await memoryPlan(checkpoint, { length: 64, engine: null }, undefined)),
    engine: 'gpu',
  } as const;
  const moved: unknown[] = [];
  const listener = {
    onRead: () => undefined,
    onLost: () => undefined,
    onCpuFallback: (plan: unknown) => moved.push(plan),
  };
  const model = await soon(openReadingModel(checkpoint, planned, { gpu }, listener));
  expect(model.backend).toBe('WebAssembly SIMD');
  expect(moved).toMatchObject([{ engine: 'cpu', whyNoGpu: 'WebGPU refused the device: The platform is blocklisted.' }]);
  model.destroy();
});

test('a browser that did not answer is not waited for twice, and is asked again once it has', async () => {
  const answers: ((found: null) => void)[] = [];
  const gpu = gpuThat(() => new Promise((resolve) => answers.push(resolve)));
  const silent = /gave no adapter within 5 seconds/;
  await expect(soon(offersSoftwareOnly(gpu))).rejects.toThrow(silent);
  await expect(offersSoftwareOnly(gpu)).rejects.toThrow(silent); // no second goes by
  expect(answers).toHaveLength(1);
  answers[0]?.(null);
  await vi.advanceTimersByTimeAsync(0);
  const again = offersSoftwareOnly(gpu);
  answers[1]?.(null);
  await expect(again).rejects.toThrow('WebGPU found no adapter.');
});

test('a device that comes too late is given back', async () => {
  let late: (device: unknown) => void = () => undefined;
  const gpu = gpuThat(gives(adapter(() => new Promise((resolve) => (late = resolve)))));
  await expect(soon(openGpu(gpu))).rejects.toThrow(/gave no device/);
  const destroy = vi.fn();
  late({ destroy });
  await vi.advanceTimersByTimeAsync(0);
  expect(destroy).toHaveBeenCalledOnce();
});

test('an adapter that says nothing of itself is used, unnamed', async () => {
  const device = { features: new Set(), addEventListener: () => undefined, lost: never() };
  const gpu = gpuThat(gives({ ...adapter(gives(device)), info: undefined }));
  expect(await openGpu(gpu)).toMatchObject({ adapter: 'unnamed adapter', software: false, lanes: 0 });
});

test('shaders are named only where some are compiled', () => {
  const waits = {
    starting: true,
    paused: false,
    update: 0,
    secondsLeft: null,
    rollouts: 8,
    phase: 'compiling',
  } as const;
  expect(waitingWords({ ...waits, done: 0, total: 0 })).not.toMatch(/shader/i);
  expect(waitingWords({ ...waits, done: 3, total: 9 })).toContain('Compiling shaders 3/9');
});
