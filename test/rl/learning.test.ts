import { describe, expect, test } from 'vitest';
import type { Host } from '../../src/session/host.ts';
import { LEARNABLE, success } from './learnable.ts';

const host: Host = {
  gpu: undefined,
  shippedFile: () => Promise.resolve(null),
  now: () => 0,
  yieldToEvents: () => Promise.resolve(),
};

describe.each(Object.entries(LEARNABLE))('on the CPU %s', (_, task) => {
  test('is learned: success rises from random weights', async () => {
    const { first, last } = await success(host, task);
    expect(last - first).toBeGreaterThan(task.rise);
  });

  test('is not learned where nothing is paid', async () => {
    const { first, last } = await success(host, task, { outcomeReward: 0, processReward: 0, invalidPenalty: 0 });
    expect(last - first).toBeLessThan(0.5 * task.rise);
  });
});
