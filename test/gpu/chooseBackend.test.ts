import { expect, test } from 'vitest';
import { offersSoftwareOnly } from '../../src/gpu/gpuAdapter.ts';
import { chooseBackend, decide } from '../../src/session/chooseBackend.ts';
import { SMALL, specOf } from './policies.ts';

const clock = {
  now: () => performance.now(),
  wait: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
};

const software = await offersSoftwareOnly(navigator.gpu);
const ON_GPU = 'adapter is no software adapter';

test('on a software adapter both are measured, or the adapter is found late, and the reason says what was found', async ({
  skip,
}) => {
  skip(!software, ON_GPU);
  const spec = specOf({ ...SMALL, hidden_size: 32, intermediate_size: 96 }, 'none', 64, 24);
  const { kind, reason } = await chooseBackend(navigator.gpu, spec, undefined, clock);
  // SwiftShader makes 1 to 3 GFLOP/s on products, WebAssembly SIMD 25 and more on one core
  expect(kind).toBe('cpu');
  expect(reason).toMatch(
    /is a CPU behind WebGPU(?:: measured .* GFLOP\/s there and .* GFLOP\/s in WebAssembly SIMD| and was not ready)/,
  );
});

test('a software adapter that never gets ready does not hold up a run', async ({ skip }) => {
  skip(!software, ON_GPU);
  const spec = specOf(SMALL, 'none', 4, 8);
  const choice = await chooseBackend(navigator.gpu, spec, undefined, { ...clock, wait: () => Promise.resolve() });
  expect(choice).toMatchObject({ kind: 'cpu' });
  expect(choice.reason).toContain('not ready');
});

test('the adapter is kept only where its products are twice as fast, or where there is no SIMD', () => {
  expect(decide('llvmpipe', 60, 25)).toMatchObject({ kind: 'gpu' });
  expect(decide('llvmpipe', 45, 25)).toMatchObject({ kind: 'cpu' });
  expect(decide('llvmpipe', null, 25)).toMatchObject({ kind: 'cpu' });
  expect(decide('llvmpipe', 1, null)).toMatchObject({ kind: 'gpu' });
  expect(decide('llvmpipe', 60, 25).reason).toContain('60 GFLOP/s there and 25 GFLOP/s in WebAssembly SIMD');
});
