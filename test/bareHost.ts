import type { Host } from '../src/session/host.ts';

/** A host that has nothing: no GPU, no shipped file, a clock that stands still. */
export const bareHost: Host = {
  gpu: undefined,
  shippedFile: () => Promise.resolve(null),
  now: () => 0,
  yieldToEvents: () => Promise.resolve(),
};
