import { describe, expect, test } from 'vitest';
import { LEARNABLE, success } from './learnable.ts';
import { bareHost } from '../bareHost.ts';
import { firstRows } from '../weekly.ts';

const TASKS = Object.entries(LEARNABLE);

test.each(TASKS)('on the CPU %s is learned: success rises from random weights', async (_, task) => {
  const { first, last } = await success(bareHost, task);
  expect(last - first).toBeGreaterThan(task.rise);
});

test.each(firstRows(TASKS, 1))('on the CPU %s is not learned where nothing is paid', async (_, task) => {
  const { first, last } = await success(bareHost, task, { outcomeReward: 0, processReward: 0, invalidPenalty: 0 });
  expect(last - first).toBeLessThan(0.5 * task.rise);
});

describe('on the CPU, with a training row for each turn', () => {
  const hunt = LEARNABLE['number-hunt'];

  test.each([
    ['everything shown', {}],
    ['the last turn shown, GAE over turns', { shown: 'last-turns', estimator: 'turn-gae', lambda: 0.9, turnGamma: 1 }],
  ])('number hunt is learned: %s', async (_, knobs) => {
    const { first, last } = await success(bareHost, hunt, { rows: 'turn', ...knobs });
    expect(last - first).toBeGreaterThan(hunt.rise);
  });
});
