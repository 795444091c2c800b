import { expect, test } from 'vitest';
import { LEARNABLE, success } from '../rl/learnable.ts';
import { host } from './host.ts';

test.each([
  ['bandit', LEARNABLE.bandit],
  ['number-hunt', LEARNABLE['number-hunt']],
])('on the GPU %s is learned: success rises from random weights', async (_, task) => {
  const { first, last } = await success(host, task, { backend: 'gpu' });
  expect(last - first).toBeGreaterThan(task.rise);
});
