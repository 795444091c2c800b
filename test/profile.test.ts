import { expect, test } from 'vitest';
import { roofline, type Ceilings, type KernelWork } from '../src/domain/profile.ts';

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
