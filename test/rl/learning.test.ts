import { describe, expect, test } from 'vitest';
import { LEARNABLE, success } from './learnable.ts';
import { bareHost } from '../bareHost.ts';

describe.each(Object.entries(LEARNABLE))('on the CPU %s', (_, task) => {
  test('is learned: success rises from random weights', async () => {
    const { first, last } = await success(bareHost, task);
    expect(last - first).toBeGreaterThan(task.rise);
  });

  test('is not learned where nothing is paid', async () => {
    const { first, last } = await success(bareHost, task, { outcomeReward: 0, processReward: 0, invalidPenalty: 0 });
    expect(last - first).toBeLessThan(0.5 * task.rise);
  });
});
