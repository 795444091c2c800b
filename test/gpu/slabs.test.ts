import { describe, expect, test } from 'vitest';
import { checkGolden } from '../../tools/golden/goldenCheck.ts';
import { relativeError } from '../../tools/golden/goldenFixture.ts';
import { weightsHash, type ModelConfig, type Weights } from '../../src/model/architecture.ts';
import { setsHere } from './sets.ts';
import { createCpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import { openGpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import type { Policy, PolicySpec } from '../../src/model/policy.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { firstRows } from '../weekly.ts';
import { goldens } from './fixtures.ts';
import {
  CREDIT,
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
import { NAIVE } from '../model/naiveArithmetic.ts';

const ROWS = Int32Array.of(0, 2, 3, 5, 6);

async function prepare(policy: Policy, spec: PolicySpec): Promise<void> {
  const grammar = someGrammar(spec.model.vocab_size);
  const record = someRecord(spec, grammar);
  policy.writeWeights(roughWeights(spec.model, 3));
  policy.freezeReference();
  policy.setGrammar(grammar);
  policy.load(record);
  await policy.score(1, { reference: true, values: true });
  policy.credit({ rewards: someRewards(record), groups: new Int32Array(spec.rows) }, CREDIT);
}

const norm = (gradients: Weights) =>
  Math.sqrt([...gradients.values()].flatMap((g) => [...g]).reduce((s, x) => s + x * x, 0));

const EVEN: ModelConfig = { ...SMALL, vocab_size: 20, hidden_size: 32, num_attention_heads: 4, num_key_value_heads: 2 };
const fixtures = await goldens();

const MODELS = [
  ['sizes divisible by four', EVEN, [[2, 5]]],
  [
    'odd sizes, biases, untied head',
    ODD,
    [
      [3, 2],
      [8, 5],
    ],
  ],
] as const;

describe.each(await setsHere())('%s products whose sums over tokens are cut', (variant) => {
  test.each(firstRows(MODELS, 1))(
    'give the gradients of sums in one piece, and their norm on the device: %s',
    async (_, model, cuts) => {
      const spec = specOf(model, 'shared', 7, 23, 5); // 115 tokens in a micro-batch: no multiple of a part
      const kernels = variant;
      const of = async (slabs: number, microRows: number) => {
        const policy = await openGpuPolicy(navigator.gpu, spec, {
          seed: 1,
          kernels,
          storage: 'f32',
          partials: slabs,
          microRows,
        });
        await prepare(policy, spec);
        const { gradients } = await policy.gradients(ROWS, OBJECTIVE, OPTIMIZER, 1);
        policy.learn(ROWS, OBJECTIVE, OPTIMIZER, 1);
        policy.learn(ROWS, OBJECTIVE, OPTIMIZER, 1); // slabs are empty again
        const { steps } = await policy.report();
        policy.destroy();
        return { gradients, steps };
      };
      const whole = await of(1, 5);
      expect(norm(whole.gradients)).toBeGreaterThan(0.1);
      for (const [slabs, microRows] of cuts) {
        const cut = await of(slabs, microRows);
        // the same f32 sums in another order
        for (const [name, g] of whole.gradients) {
          expect(relativeError(cut.gradients.get(name) ?? [], g), `${name}, ${slabs} slabs`).toBeLessThanOrEqual(2e-5);
        }
        expect(Math.abs((cut.steps[0]?.gradNorm ?? 0) / norm(cut.gradients) - 1)).toBeLessThanOrEqual(1e-5);
        expect(Math.abs((cut.steps[1]?.gradNorm ?? 0) / (whole.steps[1]?.gradNorm ?? 1) - 1)).toBeLessThanOrEqual(1e-4);
      }
    },
  );

  test('agree with PyTorch from logits to AdamW', async () => {
    const golden = fixtures.find(({ model }) => model.value_head && model.attention_bias) ?? fixtures[0];
    if (!golden) throw new Error('no fixture');
    const lines = await checkGolden(navigator.gpu, golden, { kernels: variant, partials: 3 });
    expect(lines.length).toBeGreaterThanOrEqual(9);
    for (const { group, worst, error, bound } of lines) {
      expect(error, `${group} (${worst})`).toBeLessThanOrEqual(bound);
    }
  });
});

test('the embedding’s gradient of more tokens than are sorted together, a row of them missing, equals the float64 policy’s', async () => {
  const spec = specOf(SMALL, 'none', 50, 14, 49); // 686 tokens
  const rows = Int32Array.from({ length: 48 }, (_, i) => (i * 7) % 50);
  const moved = async (policy: Policy) => {
    await prepare(policy, spec);
    await policy.learn(rows, OBJECTIVE, { ...OPTIMIZER, weightDecay: 0 }, 1);
    await policy.report();
    const name = 'model.embed_tokens.weight';
    const after = (await policy.readState()).policy.weights.get(name) ?? [];
    const before = roughWeights(spec.model, 3).get(name) ?? new Float32Array();
    return before.map((w, i) => (after[i] ?? NaN) - w);
  };
  const want = await moved(createCpuPolicy(spec, learningMath, { loops: NAIVE.f64, seed: 1, reason: '' }));
  expect(Math.hypot(...want)).toBeGreaterThan(1e-3);
  for (const slabs of [1, 2]) {
    const policy = await openGpuPolicy(navigator.gpu, spec, { seed: 1, storage: 'f32', partials: slabs });
    expect(relativeError(await moved(policy), want), `${slabs} slabs`).toBeLessThanOrEqual(5e-4); // through Adam's division
    policy.destroy();
  }
});

test('cut sums give the same bits every time, and a NaN in a weight is found as without', async () => {
  const spec = specOf(SMALL, 'separate', 7, 23, 5);
  const after = async () => {
    const policy = await openGpuPolicy(navigator.gpu, spec, { seed: 1, partials: 3 });
    await prepare(policy, spec);
    policy.learn(ROWS, OBJECTIVE, OPTIMIZER, 1);
    policy.learn(ROWS, OBJECTIVE, OPTIMIZER, 1);
    const state = await policy.readState();
    return {
      policy,
      hashes: [state.policy, state.critic].map((n) => weightsHash(spec.model, n?.weights ?? new Map())),
    };
  };
  const first = await after();
  const second = await after();
  expect(second.hashes).toEqual(first.hashes);
  expect(first.hashes[0]).not.toBe(weightsHash(spec.model, roughWeights(spec.model, 3)));
  first.policy.destroy();
  const name = 'model.layers.1.mlp.up_proj.weight';
  const broken = new Map(roughWeights(spec.model, 3));
  broken.set(name, broken.get(name)?.map((w, i) => (i === 7 ? NaN : w)) ?? new Float32Array());
  second.policy.writeWeights(broken);
  await second.policy.report();
  second.policy.learn(ROWS, OBJECTIVE, OPTIMIZER, 1);
  expect((await second.policy.report()).steps[0]).toMatchObject({ skipped: 'non-finite', culprit: `weight ${name}` });
  second.policy.destroy();
});
