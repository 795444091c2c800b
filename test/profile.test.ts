import { expect, test } from 'vitest';
import { GPU_CLASSES, predictMs, roofline, type Ceilings, type KernelWork } from '../src/domain/profile.ts';

const top: Ceilings = { gflops: 10, gbps: 2, launchUs: 50, readbackUs: 1000 };
const kernel = (calls: number, flops: number, bytes: number, ms: number | null): KernelWork => ({
  ...{ name: 'a', source: '', calls, flops, bytes, ms },
});

test('a kernel is limited by the ceiling it meets first, and its share is of that ceiling', () => {
  // 10 MFLOP take 1 ms at 10 GFLOP/s, 1 MB half a ms at 2 GB/s, one dispatch 0.05 ms
  expect(roofline(kernel(1, 1e7, 1e6, 4), top)).toEqual({ gflops: 2.5, gbps: 0.25, limiter: 'compute', share: 0.25 });
  expect(roofline(kernel(1, 1e6, 1e6, 1), top)).toMatchObject({ limiter: 'memory', share: 0.5 });
  expect(roofline(kernel(40, 1e6, 1e6, 4), top)).toMatchObject({ limiter: 'launch', share: 0.5 });
  expect(roofline(kernel(1, 1e6, 1e6, null), top)).toBeNull();
});

test('a prediction keeps each kernel’s share of its ceiling, and adds read-backs', () => {
  const there = { gflops: 100, gbps: 20, launchUs: 5, readbackUs: 500 };
  // ten times as fast throughout: 4 ms become 0.4; a kernel that was not timed counts with its least, 0.1 ms
  expect(predictMs([kernel(1, 1e7, 1e6, 4)], top, there, 0)).toBeCloseTo(0.4, 9);
  expect(predictMs([kernel(1, 1e7, 1e6, 4), kernel(1, 1e7, 0, null)], top, there, 2)).toBeCloseTo(1.5, 9);
  for (const one of GPU_CLASSES) expect(predictMs([kernel(1, 1e7, 1e6, 4)], top, one, 0)).toBeLessThan(0.4);
});
