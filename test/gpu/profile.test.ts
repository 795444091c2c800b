import { expect, test } from 'vitest';
import { weightsHash } from '../../src/model/architecture.ts';
import { openGpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import { CREDIT, OBJECTIVE, OPTIMIZER, SMALL, someGrammar, someRecord, someRewards, specOf } from './policies.ts';
import { rollOut, SAMPLING } from './rollOut.ts';
import { setsThatDrawTurns } from './sets.ts';

test('a profile counts what ran, times it, and leaves weights and optimizer as they were', async () => {
  const spec = specOf(SMALL, 'none', 4, 8);
  const policy = await openGpuPolicy(navigator.gpu, spec, {
    seed: 3,
    kernels: 'shared',
  });
  const grammar = someGrammar(SMALL.vocab_size);
  const record = someRecord(spec, grammar);
  policy.setGrammar(grammar);
  const update = async () => {
    await rollOut(policy, SAMPLING, [1], 3, 4, 1);
    policy.load(record);
    policy.score(1, { reference: false, values: false });
    policy.credit(
      { rewards: someRewards(record), groups: Int32Array.of(0, 0, 1, 1) },
      { ...CREDIT, estimator: 'grpo' },
    );
    policy.learn(Int32Array.of(0, 1, 2, 3), OBJECTIVE, OPTIMIZER, 1);
    return policy.report();
  };
  await update();
  const before = policy.counters().dispatches;
  policy.startProfile();
  await update();
  const ran = policy.counters().dispatches - before;
  const hash = async () => {
    const { policy: network } = await policy.readState();
    return [network.weights, network.adamM, network.adamV].map((w) => weightsHash(policy.model, w)).join();
  };
  const kept = await hash();
  const { kernels, ceilings, memory, variant } = await policy.profile(() => performance.now());
  expect(await hash()).toBe(kept);
  expect(variant).toBe('shared');
  expect(kernels.reduce((sum, { calls }) => sum + calls, 0)).toBe(ran);
  for (const { name, ms, source } of kernels) {
    expect(source, name).toContain('fn main');
    expect(ms === null, name).toBe(name === 'decode_turn'); // where rows have ended it does nothing
  }
  const drawsTurns = (await setsThatDrawTurns()).includes('shared');
  expect(kernels.some(({ name }) => name === 'decode_turn')).toBe(drawsTurns);
  expect(kernels.find(({ name }) => name === 'adamw')).toMatchObject({ calls: 1 });
  expect(ceilings.gflops).toBeGreaterThan(0.01);
  expect(ceilings.gbps).toBeGreaterThan(0.01);
  expect(memory.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(policy.memoryBytes);
  policy.destroy();
});
