import { expect, test } from 'vitest';
import { createBuffer, submit, upload } from '../../src/gpu/device.ts';
import { shareGpu } from '../../src/gpu/sharedDevice.ts';
import { openGpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import { weightsHash } from '../../src/model/architecture.ts';
import { SMALL, specOf } from './policies.ts';

const SPEC = specOf(SMALL, 'none', 6, 12);

test('parts of a device share it; closing one gives back its buffers alone', async () => {
  const [one, other] = [await shareGpu(navigator.gpu), await shareGpu(navigator.gpu)];
  expect(other.device).toBe(one.device);
  const usage = GPUBufferUsage.COPY_DST;
  const gone = createBuffer(one, 'gone', 16, usage);
  const kept = createBuffer(other, 'kept', 16, usage);
  one.close();
  const refusal = async (buffer: GPUBuffer) => {
    other.device.pushErrorScope('validation');
    submit(other, (encoder) => encoder.clearBuffer(buffer));
    return (await other.device.popErrorScope())?.message ?? '';
  };
  expect(await refusal(gone)).toMatch(/destroyed/);
  expect(await refusal(kept)).toBe('');
  expect(() => upload(one, kept, 0, Uint32Array.of(1))).toThrow(/upload: the device was given back/);
  expect(() => createBuffer(one, 'late', 16, usage)).toThrow(/late: the device was given back/);
  other.close();
});

test('a second run finds its pipelines compiled, and begins with the same weights', async () => {
  const used = await shareGpu(navigator.gpu); // maybe by other tests
  used.device.destroy();
  await used.lost;
  const states = [];
  const creations = [];
  for (let run = 0; run < 2; run++) {
    const before = await shareGpu(navigator.gpu);
    const begun = before.counters.creations;
    const policy = await openGpuPolicy(navigator.gpu, SPEC, { seed: 1 });
    creations.push(policy.counters().creations - begun);
    states.push(weightsHash(SPEC.model, (await policy.readState()).policy.weights));
    policy.destroy();
    before.close();
  }
  expect(states[1]).toBe(states[0]);
  expect(creations[1]).toBeLessThan(creations[0]! - 20); // a run's pipelines, and on software adapters their first uses
  expect(creations[1]).toBeGreaterThan(0); // its buffers
});

test('those that still have a part hear that the device is lost; the next gets another', async () => {
  const [closed, open] = [await shareGpu(navigator.gpu), await shareGpu(navigator.gpu)];
  const heard: string[] = [];
  void closed.lost.then(() => heard.push('closed'));
  void open.lost.then(() => heard.push('open'));
  closed.close();
  open.device.destroy();
  await open.lost;
  const next = await shareGpu(navigator.gpu);
  expect(next.device).not.toBe(open.device);
  expect(heard).toEqual(['open']);
  next.close();
});

test('a policy on a device of its own takes that device with it', async () => {
  const heard: string[] = [];
  const onLost = (message: string) => heard.push(message);
  const alone = await openGpuPolicy(navigator.gpu, SPEC, { seed: 1, ownDevice: true, onLost });
  const shared = await openGpuPolicy(navigator.gpu, SPEC, { seed: 1, onLost });
  alone.destroy();
  expect((await shared.readState()).policy.steps).toBe(0); // not lost with it
  await expect(alone.readState()).rejects.toThrow(/the device was given back/);
  expect(heard).toEqual([]); // who closes it need not be told
  shared.destroy();
});

test('a policy that cannot be opened leaves nothing behind on the device that others share', async () => {
  const part = await shareGpu(navigator.gpu);
  const weights = () => {
    throw new Error('no weights');
  };
  const spec = specOf(SMALL, 'none', 2, 4);
  await expect(openGpuPolicy(navigator.gpu, spec, { seed: 1, weights })).rejects.toThrow('no weights');
  await expect(part.device.popErrorScope()).rejects.toThrow(); // there is none to end
  part.close();
});

test('errors of runs that are gone are not told to the next', async () => {
  const part = await shareGpu(navigator.gpu);
  const buffer = createBuffer(part, 'too short', 16, GPUBufferUsage.COPY_DST);
  submit(part, (encoder) => encoder.clearBuffer(buffer, 0, 32));
  await part.device.queue.onSubmittedWorkDone();
  await expect.poll(() => part.uncaughtErrors.length).toBeGreaterThan(0); // events come after
  part.close();
  const next = await shareGpu(navigator.gpu);
  expect(next.device).toBe(part.device);
  expect(next.uncaughtErrors).toEqual([]);
  next.close();
});
