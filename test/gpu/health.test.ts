import { expect, test } from 'vitest';
import { relativeError } from '../../tools/golden/goldenFixture.ts';
import { parameterCount, weightsHash } from '../../src/model/architecture.ts';
import { openGpuPolicy, type GpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import { setsThatDrawTurns } from './sets.ts';
import { BackendError } from '../../src/model/policy.ts';
import {
  CREDIT,
  EVEN,
  OBJECTIVE,
  OPTIMIZER,
  roughWeights,
  SMALL,
  someGrammar,
  someRecord,
  someRewards,
  specOf,
} from './policies.ts';

const SPEC = specOf(SMALL, 'shared', 6, 14, 3);

function prepare(policy: GpuPolicy): void {
  const grammar = someGrammar(SPEC.model.vocab_size);
  const record = someRecord(SPEC, grammar);
  policy.setGrammar(grammar);
  policy.load(record);
  policy.score(1, { reference: true, values: true });
  policy.credit({ rewards: someRewards(record), groups: new Int32Array(6) }, CREDIT);
}
const learn = (policy: GpuPolicy) => policy.learn(Int32Array.of(0, 2, 4), OBJECTIVE, OPTIMIZER, 1);
const hash = async (policy: GpuPolicy) => weightsHash(policy.model, (await policy.readState()).policy.weights);

test('a NaN planted in a weight is found and named, and the update changes nothing', async () => {
  const policy = await openGpuPolicy(navigator.gpu, SPEC, { seed: 1 });
  const weights = new Map(roughWeights(SPEC.model, 3));
  const culprit = 'model.layers.1.mlp.up_proj.weight';
  weights.set(
    culprit,
    (weights.get(culprit) ?? new Float32Array()).map((w, i) => (i === 7 ? NaN : w)),
  );
  policy.writeWeights(weights);
  prepare(policy);
  const before = await policy.readState();
  learn(policy);
  const { steps } = await policy.report();
  const after = await policy.readState();
  expect(steps[0]?.skipped).toBe('non-finite');
  expect(steps[0]?.culprit).toBe(`weight ${culprit}`);
  expect(weightsHash(SPEC.model, after.policy.weights)).toBe(weightsHash(SPEC.model, before.policy.weights));
  expect(after.policy.steps).toBe(0);
  policy.writeWeights(roughWeights(SPEC.model, 3));
  prepare(policy);
  learn(policy);
  expect((await policy.report()).steps[0]?.skipped).toBe('');
  policy.destroy();
});

test('a minibatch with nothing to learn from is skipped, Adam included', async () => {
  const policy = await openGpuPolicy(navigator.gpu, SPEC, { seed: 1 });
  prepare(policy);
  learn(policy);
  const before = await hash(policy);
  policy.load({
    tokens: new Int32Array(6 * 14),
    roles: new Uint8Array(6 * 14).fill(1),
    states: new Uint8Array(6 * 14),
  });
  policy.credit({ rewards: new Float32Array(6 * 14), groups: new Int32Array(6) }, CREDIT);
  learn(policy);
  const { steps } = await policy.report();
  expect(steps.map((s) => s.skipped)).toEqual(['', 'empty']);
  expect(await hash(policy)).toBe(before);
  policy.destroy();
});

test('going on from a saved state equals going on', async () => {
  const policy = await openGpuPolicy(navigator.gpu, SPEC, { seed: 1 });
  prepare(policy);
  learn(policy);
  learn(policy);
  const saved = await policy.readState();
  learn(policy);
  const straight = await hash(policy);
  policy.writeState(saved);
  learn(policy);
  expect(await hash(policy)).toBe(straight);
  policy.destroy();
});

test('once made, scoring, credit, learning and reporting create no buffer, bind group or pipeline', async () => {
  const policy = await openGpuPolicy(navigator.gpu, SPEC, { seed: 1 });
  const before = policy.counters();
  prepare(policy);
  learn(policy);
  learn(policy);
  await policy.report();
  const after = policy.counters();
  expect(after.creations - before.creations).toBe(0);
  expect(after.readbacks - before.readbacks).toBe(1);
  expect(after.submits - before.submits).toBe(5); // score, credit, two steps, report
  policy.destroy();
});

test('a model too large for the adapter is refused before allocation, naming the limit and the sizes', async () => {
  const huge = {
    ...SMALL,
    hidden_size: 65536,
    head_dim: 64,
    num_attention_heads: 1024,
    num_key_value_heads: 1024,
    intermediate_size: 65536,
  };
  const failure = await openGpuPolicy(navigator.gpu, specOf(huge, 'none', 2, 4), { seed: 1 }).catch(
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(BackendError);
  expect((failure as BackendError).message).toMatch(/maxStorageBufferBindingSize|maxBufferSize/);
  expect((failure as BackendError).demands).toContain('width');
});

test('micro-batches give the update of the whole minibatch', async () => {
  const changes: Float32Array[] = [];
  for (const [minibatchRows, microRows] of [
    [6, 6],
    [6, 2],
    [3, 3], // more rows than the usual minibatch, as a warm start has
  ] as const) {
    const spec = specOf(SMALL, 'shared', 6, 14, minibatchRows);
    const policy = await openGpuPolicy(navigator.gpu, spec, { seed: 1, microRows });
    prepare(policy);
    policy.learn(Int32Array.of(0, 1, 2, 3, 4), OBJECTIVE, OPTIMIZER, 1);
    const { steps } = await policy.report();
    changes.push(
      Float32Array.of(steps[0]!.total, steps[0]!.gradNorm, steps[0]!.entropy, steps[0]!.valueLoss, steps[0]!.tokens),
    );
    policy.destroy();
  }
  expect(changes[0]!.every((part) => part !== 0)).toBe(true);
  // the same sums in another order
  expect(relativeError(changes[1]!, changes[0]!)).toBeLessThanOrEqual(1e-5);
  expect(relativeError(changes[2]!, changes[0]!)).toBeLessThanOrEqual(1e-5);
});

const turnSets = await setsThatDrawTurns();

test('plans hold the dispatches and the arithmetic they are said to', async () => {
  for (const [variant, model, critic, layer, constant, token, draw] of [
    // norms, rotary and SwiGLU inside the products
    ['plain', SMALL, 'none', 15, 19, 5, 4],
    ['shared', SMALL, 'shared', 15, 21, 5, 4],
    ['shared', EVEN, 'shared', 15, 22, 5, 4],
    // sizes that do not fit
    ['plain', { ...SMALL, intermediate_size: 26 }, 'none', 20, 19, 9, 4],
    ['shared', { ...SMALL, head_dim: 12 }, 'none', 20, 19, 9, 4],
    ['plain', { ...SMALL, qk_norm: true }, 'none', 21, 21, 9, 4],
  ] as const) {
    const spec = specOf(model, critic, 6, 14, 6);
    const policy = await openGpuPolicy(navigator.gpu, spec, { seed: 1, kernels: variant, work: [] });
    const recorded = policy.recorded;
    policy.destroy();
    const L = model.num_hidden_layers;
    expect(recorded.step.dispatches).toBe(layer * L + constant);
    expect(recorded.token.dispatches).toBe(turnSets.includes(variant) && !spec.model.qk_norm ? 1 : token * L + draw);
    // 2 FLOPs a weight and token forward, 4 backward; attention, norms and SwiGLU come on top
    const products = 6 * parameterCount(spec.model) * 6 * 14;
    expect(recorded.step.flops).toBeGreaterThan(0.95 * products);
    expect(recorded.step.flops).toBeLessThan(1.6 * products);
    const drawing = products / 3 / 14; // one token of each row, forward
    expect(recorded.token.flops).toBeGreaterThan(0.95 * drawing);
    expect(recorded.token.flops).toBeLessThan(1.6 * drawing);
  }
});
