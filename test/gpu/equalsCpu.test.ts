import { describe, expect, test } from 'vitest';
import { relativeError } from '../../src/cli/goldenFixture.ts';
import type { Estimator } from '../../src/estimators.ts';
import type { ModelConfig } from '../../src/model/architecture.ts';
import { openGpu } from '../../src/gpu/device.ts';
import { createCpuPolicy } from '../../src/model/cpu/policy.ts';
import { variantsFor } from '../../src/model/gpu/layers.ts';
import { openGpuPolicy } from '../../src/model/gpuPolicy.ts';
import type { Policy, PolicySpec } from '../../src/model/policy.ts';
import { learningMath } from '../../src/rl/learningMath.ts';
import {
  CREDIT,
  masks,
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

// f32 against float64, as for the PyTorch fixtures; the update's change passes through Adam's division.
const BOUND = 1e-4;
const CHANGE_BOUND = 5e-4;
const TEMPERATURE = 0.7;
const TABLES = [
  'logprobs',
  'refLogprobs',
  'entropies',
  'values',
  'rewards',
  'advantages',
  'returns',
  'lossMask',
  'regularizerMask',
  'valueMask',
  'advantageMask',
  'whitenMask',
] as const;

async function run(policy: Policy, spec: PolicySpec, estimator: Estimator, on: boolean) {
  const weights = roughWeights(spec.model, 3);
  const grammar = someGrammar(spec.model.vocab_size);
  const record = someRecord(spec, grammar);
  policy.writeWeights(weights);
  policy.freezeReference();
  policy.setGrammar(grammar);
  policy.load(record);
  policy.score(TEMPERATURE, { reference: true, values: true });
  const groups = Int32Array.from({ length: spec.rows }, (_, b) => b % 2);
  const settings = { ...CREDIT, estimator, masks: masks(on) };
  policy.credit({ rewards: someRewards(record), groups }, settings);
  const scored = await policy.report();
  const rows = Int32Array.from({ length: spec.minibatchRows }, (_, i) => (i * 3) % spec.rows);
  for (let step = 0; step < 3; step++) policy.learn(rows, OBJECTIVE, OPTIMIZER, TEMPERATURE);
  const learned = await policy.report();
  const state = await policy.readState();
  const change = [...state.policy.weights].map(
    ([name, after]) => [name, after.map((w, i) => w - (weights.get(name)?.[i] ?? 0))] as const,
  );
  const critic = [...(state.critic?.weights ?? [])].filter(([name]) => name.startsWith('value_head'));
  return { scored, learned, change, critic };
}

const probe = await openGpu(navigator.gpu);
const VARIANTS = variantsFor(probe);
probe.device.destroy();

/** SMALL with heads and widths that split into vectors of four, which the broadcast kernels ask for. */
const EVEN: ModelConfig = { ...SMALL, vocab_size: 20, hidden_size: 32, num_attention_heads: 4, num_key_value_heads: 2 };

const cases: readonly (readonly [string, ModelConfig, PolicySpec['critic'], Estimator, boolean])[] = [
  ['odd sizes, biases, untied head, GAE with a value head', ODD, 'shared', 'gae', true],
  ['odd sizes, no critic, groups, both masks off', ODD, 'none', 'grpo', false],
  ['sizes divisible by four, grouped heads', EVEN, 'shared', 'gae', true],
  ['a separate critic', SMALL, 'separate', 'gae', true],
  ['a separate critic, both masks off', SMALL, 'separate', 'gae', false],
  ['a separate critic, turns', SMALL, 'separate', 'bi-level-gae', true],
  ['a separate critic that has nothing to learn', SMALL, 'separate', 'reinforce++', true],
];

describe.each(VARIANTS)('the %s kernels equal the float64 CPU policy', (variant) => {
  test.each(cases)('in scores, credit, three updates: %s', async (_, model, critic, estimator, on) => {
    const spec = specOf(model, critic, 7, 23, 5);
    const gpu = await openGpuPolicy(navigator.gpu, spec, { seed: 1, variant });
    const cpu = createCpuPolicy(spec, learningMath, { precision: 'f64', seed: 1, reason: '' });
    const got = await run(gpu, spec, estimator, on);
    const want = await run(cpu, spec, estimator, on);
    gpu.destroy();
    for (const name of TABLES) {
      expect(relativeError(got.scored[name], want.scored[name]), name).toBeLessThanOrEqual(BOUND);
    }
    expect(Math.hypot(...want.scored.advantages)).toBeGreaterThan(1);
    for (const [i, step] of want.learned.steps.entries()) {
      const mine = got.learned.steps[i];
      for (const name of [
        'policyLoss',
        'entropy',
        'kl',
        'clipFraction',
        'approxKl',
        'valueLoss',
        'total',
        'gradNorm',
        'criticGradNorm',
        'tokens',
      ] as const) {
        // parts that pass through zero are held to an absolute 1e-6
        expect(Math.abs((mine?.[name] ?? NaN) - step[name]), `${name} of step ${i}`).toBeLessThanOrEqual(
          1e-6 + 3e-4 * Math.abs(step[name]),
        );
      }
      expect(mine?.skipped).toBe('');
    }
    for (const [i, [name, change]] of want.change.entries()) {
      expect(relativeError(got.change[i]?.[1] ?? [], change), name).toBeLessThanOrEqual(CHANGE_BOUND);
    }
    for (const [i, [name, weights]] of want.critic.entries()) {
      expect(relativeError(got.critic[i]?.[1] ?? [], weights), `critic ${name}`).toBeLessThanOrEqual(CHANGE_BOUND);
    }
    expect(relativeError(got.learned.gradWeights, want.learned.gradWeights)).toBeLessThanOrEqual(1e-3);
    expect(relativeError(got.learned.policyWeights, want.learned.policyWeights)).toBeLessThanOrEqual(1e-3);
  });
});
