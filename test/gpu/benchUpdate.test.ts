import { expect, test } from 'vitest';
import { updates } from '../../bench/update.mjs';

test('the benchmark of whole updates takes updates, tells the time of each stage, and its policy learns', async () => {
  const size = { V: 16, C: 16, L: 1, H: 2, T: 16, B: 16, F: 32, lr: 1e-2 };
  const { updateMs, stageMs, counts, firstReward, lastReward } = await updates(size, navigator.gpu, {
    seconds: 1,
    storage: 'f32',
  });
  expect(updateMs.median).toBeGreaterThan(0);
  for (const stage of ['sampling', 'scoring', 'updating'] as const) expect(stageMs[stage], stage).toBeGreaterThan(0);
  expect(counts.dispatches).toBeGreaterThan(0);
  expect(lastReward).toBeGreaterThan(firstReward);
});
