import { expect, test } from 'vitest';
import { openGpu } from '../../src/gpu/device.ts';
import { KERNEL_SET_NAMES } from '../../src/config/kernelChoice.ts';
import { defaultSet } from '../../src/model/gpu/kernelSets.ts';
import { tune, type TuningResult } from '../../src/model/gpu/tuner.ts';
import { distance, referenceNumbers, trialsOn, trialSpec } from '../../src/model/gpu/tuningTrial.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { NO_HALVES } from './halves.ts';
import { SMALL, specOf } from './policies.ts';

const MODEL = { ...SMALL, vocab_size: 20, hidden_size: 32, num_attention_heads: 4, num_key_value_heads: 2 };
const TOLERANCE = { f32: 1e-3, f16: 3e-2 }; // float32 on both sides, another order; halves are rounded to 5e-4 at each of several places
const NO_BOX = 3_600_000; // a set the box closes on is neither right nor wrong; a busy machine took more than a minute
const gpu = await openGpu(navigator.gpu);
gpu.device.destroy();

const spec = trialSpec(specOf(MODEL, 'shared', 8, 16, 4), true);

async function tuned(storage: 'f32' | 'f16' = 'f32'): Promise<TuningResult> {
  const reference = await referenceNumbers(spec, learningMath);
  const open = trialsOn(navigator.gpu, spec, storage, () => Promise.resolve(reference));
  const run = tune(defaultSet(gpu), open, { timeLimitMs: NO_BOX, tolerance: TOLERANCE[storage], rounds: 2 }, () =>
    performance.now(),
  );
  let result = await run.next();
  while (!result.done) result = await run.next();
  if (!result.value) throw new Error('It ended without a result.');
  return result.value;
}

test('tuning on this adapter compiles both sets, finds them right, and takes one', async () => {
  const { choice, tried } = await tuned();
  expect(tried.map(({ set }) => set).toSorted()).toEqual([...KERNEL_SET_NAMES].toSorted());
  for (const { set, ms, error, refused } of tried) {
    expect(refused, set).toBe('');
    expect(error, set).toBeLessThan(1e-4);
    expect(error, set).toBeGreaterThan(0); // two different computations round differently
    expect(ms, set).toBeGreaterThan(0);
  }
  expect(tried.filter(({ taken }) => taken).map(({ set }) => set)).toEqual([choice]);
});

test('in halves both sets are as right as halves are', async ({ skip }) => {
  skip(!gpu.device.features.has('shader-f16'), NO_HALVES);
  const { tried } = await tuned('f16');
  for (const { set, error, refused } of tried) {
    expect(refused, set).toBe('');
    expect(error, set).toBeLessThan(1e-2);
    expect(error, set).toBeGreaterThan(1e-5); // halves there are
  }
});

test('the distance sees one wrong tensor and a number that is none, and not the rounding of a gradient that is zero', () => {
  const numbers = (logprob: number, ...gradients: number[]) => ({
    logprobs: Float32Array.of(logprob, -2),
    gradients: new Map(gradients.map((g, i) => [`g${i}`, Float32Array.of(g, g)])),
  });
  expect(distance(numbers(-1, 3, 0), numbers(-1, 3, 0))).toBe(0);
  expect(distance(numbers(-1, 3, 1e-8), numbers(-1, 3, 2e-8))).toBeLessThan(1e-5);
  expect(distance(numbers(-1, 3, 0.1), numbers(-1, 3, 0.2))).toBeCloseTo(0.5);
  expect(distance(numbers(-1.5, 3), numbers(-1, 3))).toBeGreaterThan(0.2);
  expect(distance(numbers(-1, NaN), numbers(-1, 3))).toBeNaN();
  expect(distance(numbers(-1), numbers(-1, 3))).toBeNaN(); // a tensor that is missing
});
