import { openGpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import type { Host } from '../../src/session/host.ts';

/** A session's surroundings with the adapter of the tests and no shipped files. */
export const host: Host = {
  gpu: navigator.gpu,
  openGpuPolicy,
  shippedFile: () => Promise.resolve(null),
  now: () => performance.now(),
  yieldToEvents: () => Promise.resolve(),
};
