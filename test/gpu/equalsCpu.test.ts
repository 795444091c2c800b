import { describe, expect, test } from 'vitest';
import { relativeError } from '../../tools/golden/goldenFixture.ts';
import type { Estimator } from '../../src/config/estimators.ts';
import type { ModelConfig } from '../../src/model/architecture.ts';
import { createCpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import { openGpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import type { PolicySpec } from '../../src/model/policy.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { setsHere } from './sets.ts';
import { EVEN, ODD, SMALL, specOf } from './policies.ts';
import { scoreAndLearn } from './scoreAndLearn.ts';
import { NAIVE } from '../model/naiveArithmetic.ts';

// f32 against float64, as for the PyTorch fixtures; the update's change passes through Adam's division.
const BOUND = 1e-4;
const CHANGE_BOUND = 5e-4;
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
  'observationMask',
] as const;

const cases: readonly (readonly [string, ModelConfig, PolicySpec['critic'], Estimator, boolean])[] = [
  ['odd sizes, biases, untied head, GAE with a value head', ODD, 'shared', 'gae', true],
  ['odd sizes, no critic, groups, both masks off', ODD, 'none', 'grpo', false],
  ['sizes divisible by four, biases, grouped heads', EVEN, 'shared', 'gae', true],
  ['norms of q and k', { ...EVEN, qk_norm: true }, 'shared', 'gae', true],
  ['a separate critic', SMALL, 'separate', 'gae', true],
  ['a separate critic, both masks off', SMALL, 'separate', 'gae', false],
  ['a separate critic, turns', SMALL, 'separate', 'bi-level-gae', true],
  ['a separate critic that has nothing to learn', SMALL, 'separate', 'reinforce++', true],
];

describe.each(await setsHere())('the %s kernels equal the float64 CPU policy', (choice) => {
  test.each(cases)('in scores, credit, three updates: %s', async (_, model, critic, estimator, on) => {
    const spec = specOf(model, critic, 7, 23, 5);
    const gpu = await openGpuPolicy(navigator.gpu, spec, { seed: 1, kernels: choice });
    const cpu = createCpuPolicy(spec, learningMath, { loops: NAIVE.f64, seed: 1, reason: '' });
    const got = await scoreAndLearn(gpu, spec, estimator, on);
    const want = await scoreAndLearn(cpu, spec, estimator, on);
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
        'observationLoss',
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
    expect(got.scored.earlierEpochs).toEqual([]);
    expect(got.learned.earlierEpochs.length).toBe(2);
    for (const [k, pass] of want.learned.earlierEpochs.entries()) {
      const mine = got.learned.earlierEpochs[k];
      expect(Math.hypot(...pass.policyWeights)).toBeGreaterThan(0);
      expect(relativeError(mine?.gradWeights ?? [], pass.gradWeights), `pass ${k + 1}`).toBeLessThanOrEqual(1e-3);
      expect(relativeError(mine?.policyWeights ?? [], pass.policyWeights)).toBeLessThanOrEqual(1e-3);
    }
    // passes differ: what is kept is not the last one over and over
    expect(relativeError(got.learned.earlierEpochs[0]?.gradWeights ?? [], got.learned.gradWeights)).toBeGreaterThan(
      1e-2,
    );
  });
});
