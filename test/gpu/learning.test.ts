import { expect, test } from 'vitest';
import { LEARNABLE, success } from '../rl/learnable.ts';
import { firstRows } from '../weekly.ts';
import { host } from './host.ts';

const TASKS = [
  ['bandit', LEARNABLE.bandit],
  ['number-hunt', LEARNABLE['number-hunt']],
] as const;

test.each(firstRows(TASKS, 1))('on the GPU %s is learned: success rises from random weights', async (_, task) => {
  const { first, last } = await success(host, task, { backend: 'gpu' });
  expect(last - first).toBeGreaterThan(task.rise);
});
