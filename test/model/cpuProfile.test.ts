import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { openSession } from '../../src/session/session.ts';
import { bareHost } from '../bareHost.ts';

test('the CPU backend counts and times its kernels from tally on', async () => {
  const tiny = { prompts: 2, groupSize: 2, minibatches: 1, updates: 2, evalEvery: 0, evalTasks: 4, warmStart: 'none' };
  let at = 0;
  const host = { ...bareHost, now: () => (at += 1) };
  const { events, policy } = await openSession(parseConfig({ ...tiny, backend: 'cpu' }), host, () => undefined);
  for await (const event of events) {
    if (event.type === 'metrics' && event.update === 0) policy.startProfile(host.now);
    if (event.type === 'metrics' && event.update === 1) break;
  }
  const { kernels, clock, ceilings, memory } = await policy.profile(host.now);
  expect(clock).toBe('CPU');
  const by = new Map(kernels.map((kernel) => [kernel.name, kernel]));
  const { num_hidden_layers: L } = policy.model;
  // in each backward pass every layer attends once and has two norms, and the model has one more
  const passes = (by.get('attention, backward')?.calls ?? 0) / L;
  expect(passes).toBeGreaterThanOrEqual(1);
  expect(by.get('RMSNorm, backward')).toMatchObject({ calls: passes * (2 * L + 1) });
  // every call reads this clock at its beginning and its end
  for (const { name, ms, calls } of kernels) expect(ms, name).toBe(calls);
  expect(by.get('product xᵀ·w (weight gradients)')?.flops).toBeGreaterThan(0);
  expect(ceilings.gflops).toBeGreaterThan(0);
  expect(memory.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(policy.memoryBytes);
  policy.destroy();
});
