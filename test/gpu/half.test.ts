import { describe, expect, test } from 'vitest';
import { checkGolden } from '../../tools/golden/goldenCheck.ts';
import { relativeError } from '../../tools/golden/goldenFixture.ts';
import type { KernelSet } from '../../src/config/kernelChoice.ts';
import { weightsHash, type Weights } from '../../src/model/architecture.ts';
import { createCpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import { openGpuPolicy, type GpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import { BackendError, type PolicySpec } from '../../src/model/policy.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { setsHere } from './sets.ts';
import { goldens } from './fixtures.ts';
import { storesHalves, wantHalves } from './halves.ts';
import {
  CREDIT,
  EVEN,
  OBJECTIVE,
  ODD,
  OPTIMIZER,
  roughWeights,
  SMALL,
  someGrammar,
  someRecord,
  someRewards,
  specOf,
} from './policies.ts';
import { scoreAndLearn } from './scoreAndLearn.ts';
import { NAIVE } from '../model/naiveArithmetic.ts';

const halves = await storesHalves();

/** Rounding to a half moves a number by at most 2^-11 of itself. */
const ROUNDING = 2 ** -11;
// weights and some ten saved activations on the way to a score are rounded, each by a third of that on average, and add up as
// their root: eight roundings; the same as for the PyTorch fixtures
const TABLE_BOUND = 8 * ROUNDING;

const open = (spec: PolicySpec, choice?: KernelSet, seed = 1): Promise<GpuPolicy> =>
  openGpuPolicy(navigator.gpu, spec, { seed, storage: 'f16', ...(choice ? { kernels: choice } : {}) });

const SPEC = specOf(SMALL, 'separate', 6, 14, 3);

function prepare(policy: GpuPolicy): void {
  const grammar = someGrammar(policy.model.vocab_size);
  const record = someRecord({ ...SPEC, model: policy.model }, grammar);
  policy.setGrammar(grammar);
  policy.load(record);
  policy.score(1, { reference: true, values: true });
  policy.credit({ rewards: someRewards(record), groups: new Int32Array(6) }, CREDIT);
}
const learn = (policy: GpuPolicy, learningRate = OPTIMIZER.learningRate) =>
  policy.learn(Int32Array.of(0, 2, 4), OBJECTIVE, { ...OPTIMIZER, learningRate }, 1);
const hash = async (policy: GpuPolicy) => weightsHash(policy.model, (await policy.readState()).policy.weights);

/** Weights with one parameter changed. */
function changed(weights: Weights, name: string, change: (w: number, i: number) => number): Weights {
  return new Map([...weights].map(([key, w]) => [key, key === name ? w.map(change) : w]));
}

test('an adapter without shader-f16 refuses to store halves, naming the knob', async ({ skip }) => {
  skip(halves, 'adapter has shader-f16');
  const failure = await open(SPEC).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(BackendError);
  expect((failure as BackendError).message).toContain('shader-f16');
  expect((failure as BackendError).demands).toEqual(['storage']);
});

const fixtures = await goldens();

describe.each(await setsHere())('in halves the %s kernels', (choice) => {
  wantHalves(halves);

  test('agree with PyTorch on all fixtures, from logits to AdamW', async () => {
    let flipped = 0;
    for (const golden of fixtures) {
      const lines = await checkGolden(navigator.gpu, golden, { kernels: choice, storage: 'f16' });
      expect(lines.length).toBeGreaterThanOrEqual(9);
      // a token whose ratio lies within rounding of a clip edge is clipped or not, and the loss jumps there
      const jumps = lines.some(({ worst, error, bound }) => worst === 'clip_fraction' && error > bound);
      if (jumps) flipped++;
      for (const { group, worst, error, bound } of lines) {
        if (jumps && /^(policy|adamw)/.test(group)) continue;
        expect(error, `${golden.name} ${group} (${worst})`).toBeLessThanOrEqual(bound);
      }
    }
    expect(flipped).toBeLessThanOrEqual(1);
  });

  test.each([
    ['odd sizes, biases, untied head, a value head', specOf(ODD, 'shared', 7, 23, 5), 'gae'],
    ['sizes divisible by four, a separate critic', specOf(EVEN, 'separate', 7, 23, 5), 'bi-level-gae'],
  ] as const)('score, credit and learn as the float64 CPU policy: %s', async (_, spec, estimator) => {
    const gpu = await open(spec, choice);
    const cpu = createCpuPolicy(spec, learningMath, { loops: NAIVE.f64, seed: 1, reason: '' });
    const got = await scoreAndLearn(gpu, spec, estimator, true);
    const want = await scoreAndLearn(cpu, spec, estimator, true);
    gpu.destroy();
    for (const name of ['logprobs', 'refLogprobs', 'entropies', 'values', 'advantages', 'returns'] as const) {
      expect(relativeError(got.scored[name], want.scored[name]), name).toBeLessThanOrEqual(TABLE_BOUND);
    }
    expect(got.scored.lossMask).toEqual(want.scored.lossMask);
    expect(got.learned.steps.map((step) => step.skipped)).toEqual(['', '', '']);
    // the first step, before a ratio can reach a clip edge; losses are sums that cancel
    for (const name of ['policyLoss', 'entropy', 'valueLoss', 'total', 'gradNorm', 'criticGradNorm'] as const) {
      const [mine, step] = [got.learned.steps[0]![name], want.learned.steps[0]![name]];
      expect(Math.abs(mine - step), name).toBeLessThanOrEqual(4 * TABLE_BOUND * Math.abs(step) + 1e-3);
    }
  });
});

describe('with storage in halves', () => {
  wantHalves(halves);

  test('scores of the same weights have no KL to the reference, to the bit', async () => {
    const policy = await open(SPEC);
    prepare(policy);
    const { logprobs, refLogprobs } = await policy.report();
    expect(Math.hypot(...logprobs)).toBeGreaterThan(1);
    expect(refLogprobs).toEqual(logprobs);
    policy.destroy();
  });

  test('the same steps give the same bits twice, and going on from a saved state equals going on', async () => {
    const policy = await open(SPEC);
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
    const again = await open(SPEC);
    prepare(again);
    for (let step = 0; step < 3; step++) learn(again);
    expect(await hash(again)).toBe(straight);
    again.destroy();
  });

  test('steps too small for a half add up in the weights, which stay f32', async () => {
    const policy = await open(SPEC);
    prepare(policy);
    const before = (await policy.readState()).policy.weights.get('model.layers.0.mlp.down_proj.weight')!;
    for (let step = 0; step < 8; step++) learn(policy, 1e-7);
    const after = (await policy.readState()).policy.weights.get('model.layers.0.mlp.down_proj.weight')!;
    policy.destroy();
    const moves = before.map((w, i) => Math.abs(after[i]! - w) / Math.abs(w));
    const median = moves.toSorted()[Math.floor(moves.length / 2)]!;
    expect(median).toBeGreaterThan(1e-6);
    expect(median).toBeLessThan(ROUNDING);
  });

  test('a weight beyond 65,504 is found and named, and the update changes nothing', async () => {
    const policy = await open(SPEC);
    const culprit = 'model.layers.1.mlp.up_proj.weight';
    policy.writeWeights(changed(roughWeights(policy.model, 3), culprit, (w, i) => (i === 7 ? 1e5 : w)));
    prepare(policy);
    const before = await hash(policy);
    learn(policy);
    const { steps } = await policy.report();
    expect(steps[0]).toMatchObject({ skipped: 'non-finite', culprit: `weight ${culprit} in f16` });
    expect(await hash(policy)).toBe(before);
    policy.destroy();
  });

  test('an activation beyond 65,504 is found and named where f32 goes on', async () => {
    const grown = ({ model }: GpuPolicy) =>
      changed(roughWeights(model, 3), 'model.layers.1.mlp.up_proj.weight', (w) => 60_000 * w);
    const spec = specOf(SMALL, 'none', 6, 14, 3);
    const floats = await openGpuPolicy(navigator.gpu, spec, { seed: 1 });
    const policy = await open(spec);
    for (const one of [floats, policy]) {
      one.writeWeights(grown(one));
      prepare(one);
      learn(one);
    }
    expect((await floats.report()).steps[0]?.skipped).toBe('');
    const { steps } = await policy.report();
    expect(steps[0]).toMatchObject({ skipped: 'non-finite', culprit: 'gates or ups of layer 1 in f16' });
    floats.destroy();
    policy.destroy();
  });

  test('once made, an update creates nothing; cache, activations and what products read take half the memory', async () => {
    const floats = await openGpuPolicy(navigator.gpu, SPEC, { seed: 1 });
    const policy = await open(SPEC);
    const before = policy.counters().creations;
    prepare(policy);
    learn(policy);
    await policy.report();
    expect(policy.counters().creations).toBe(before);
    const now = () => performance.now();
    const bytes = async (of: GpuPolicy) => new Map((await of.profile(now)).memory.map((m) => [m.purpose, m.bytes]));
    const [wide, narrow] = [await bytes(floats), await bytes(policy)];
    expect(narrow.get('key-value cache')).toBe(wide.get('key-value cache')! / 2);
    expect(narrow.get('gradients')).toBe(wide.get('gradients'));
    // x, logits, lse and inv stay f32
    expect(narrow.get('activations')! / wide.get('activations')!).toBeLessThan(0.65);
    expect(policy.memoryBytes).toBeLessThan(floats.memoryBytes);
    floats.destroy();
    policy.destroy();
  });
});
