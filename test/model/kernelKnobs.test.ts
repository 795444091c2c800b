import { describe, expect, test } from 'vitest';
import { BASELINES } from '../../src/config/estimators.ts';
import { FIELDS } from '../../src/config/fields.ts';
import { uniformOf } from '../../src/gpu/kernel.ts';
import * as kernels from '../../src/gpu/kernels/index.ts';
import { choiceCode, fieldOffset, uniformStruct, uniformWords } from '../../src/gpu/uniform.ts';
import { stepInputWords, CREDIT_KNOBS_SCALARS, creditKnobs, STEP_KNOBS_SCALARS } from '../../src/model/gpu/knobs.ts';
import type { CreditSettings, ObjectiveSettings, OptimizerSettings } from '../../src/model/learningSettings.ts';

// every number once, and exact in float32, so that a swap shows
const OBJECTIVE: ObjectiveSettings = {
  ...{ surrogate: 'plain', clipLow: 0.125, clipHigh: 0.25, dualClip: 3.5, klEstimator: 'k2', klCoef: 0.375 },
  ...{
    klTimesRatio: 'on',
    entropyCoef: 0.0625,
    observationLoss: 0.1875,
    teacherCoef: 0.3125,
    valueCoef: 0.5,
    valueClip: 100,
    aggregation: 'seq-mean-token-sum',
  },
  ...{ entropyAggregation: 'seq-mean-token-mean', valueAggregation: 'seq-mean-token-sum-norm' },
};
const OPTIMIZER: OptimizerSettings = {
  ...{ learningRate: 2 ** -10, criticLearningRate: 2 ** -8, beta1: 0.875, beta2: 0.96875, eps: 2 ** -17 },
  ...{ weightDecay: 0.75, maxGradNorm: 6, criticOnly: false },
};
const CREDIT: CreditSettings = {
  ...{
    estimator: 'bi-level-gae',
    gamma: 0.875,
    lambda: 0.75,
    turnGamma: 0.625,
    stateWeight: 1.5,
    divideByStd: false,
    whiten: true,
  },
  ...{ remask: false, klCoef: 0.375, klEstimator: 'k3', scale: 2.5, trainTurns: 'all', choicesOnly: true },
  correction: { correction: 'masked', correctionLevel: 'sequence', correctionLow: 0.25, correctionHigh: 4 },
  masks: { advantage: false, whiten: true, value: false, klReward: true, policy: false, regularizer: true },
};

const structs = Object.values(kernels).flatMap(({ name, bindings }) =>
  bindings.flatMap(({ struct }) => (struct ? [{ kernel: name, struct }] : [])),
);

/** Words of a uniform by field, as a kernel that declares it reads them. */
function read(kernel: Parameters<typeof uniformOf>[0], binding: string, words: Uint32Array): Record<string, number> {
  const { fields } = uniformOf(kernel, binding);
  const floats = new Float32Array(words.buffer, words.byteOffset, words.length);
  return Object.fromEntries(fields.map(({ name, type }, at) => [name, (type === 'f32' ? floats : words)[at] ?? NaN]));
}

test('kernels that name a uniform’s struct alike declare the same fields in the same order', () => {
  expect(structs.map(({ struct }) => struct.name)).toEqual(expect.arrayContaining(['Knobs', 'Credit', 'Sampling']));
  for (const { kernel, struct } of structs) {
    const first = structs.find((other) => other.struct.name === struct.name)!;
    expect(struct, `${kernel} beside ${first.kernel}`).toEqual(first.struct);
  }
});

describe('each kernel of an optimizer step reads every knob from the field of its name, all in one order', () => {
  const step = [kernels.objective, kernels.lossWeights, kernels.adamCorrections, kernels.adamw, kernels.languageHead];
  const words = () => stepInputWords(2 * STEP_KNOBS_SCALARS + 4, Int32Array.of(7, 5), 1.5, OBJECTIVE, OPTIMIZER, 9);
  const knobs = (value_coef: number, learning_rate: number) => [
    ...Object.entries({
      temperature: 1.5,
      aggregation: 1 + 4 * 2 + 16 * 3,
      surrogate: 4,
      clip_low: 0.125,
      clip_high: 0.25,
    }),
    ...Object.entries({
      dual_clip: 3.5,
      kl_estimator: 2,
      kl_times_ratio: 1,
      kl_coef: 0.375,
      entropy_coef: 0.0625,
      observation_loss: 0.1875,
      teacher_coef: 0.3125,
      value_coef,
    }),
    ...Object.entries({ value_clip: 100, learning_rate, beta1: 0.875, rest1: 0.125, beta2: 0.96875, rest2: 0.03125 }),
    ...Object.entries({ adam_eps: 2 ** -17, weight_decay: 0.75, max_grad_norm: 6, slot: 9 }),
  ];

  test.each(step)('$name', (kernel) => {
    const all = words();
    expect(Object.entries(read(kernel, 'knobs', all))).toEqual(knobs(0.5, 2 ** -10)); // the policy's
    expect(Object.entries(read(kernel, 'knobs', all.subarray(STEP_KNOBS_SCALARS)))).toEqual(knobs(1, 2 ** -8)); // the critic's
  });

  test('the minibatch’s rows follow the knobs of policy and critic, padded with none', () => {
    expect([...words().subarray(2 * STEP_KNOBS_SCALARS)]).toEqual([7, 5, 0xffffffff, 0xffffffff]);
  });
});

describe('each kernel of credit reads every knob from the field of its name, all in one order', () => {
  const { corrections, creditMasks, gae, groupAdvantages, stateAdvantages, whitenApply } = kernels;
  test.each([corrections, creditMasks, gae, groupAdvantages, stateAdvantages, whitenApply])('$name', (kernel) => {
    const words = creditKnobs(CREDIT);
    expect(words.length).toBe(CREDIT_KNOBS_SCALARS);
    const want = {
      ...{
        gamma: 0.875,
        lambda: 0.75,
        turn_gamma: 0.625,
        state_weight: 1.5,
        sums_turns: 0,
        shares_progress: 0,
        scores: 1,
        solved: 0,
        turns: 1,
        whole_turns: 0,
        critic: 1,
        baseline: 0,
      },
      ...{ whiten: 1, remask: 0 },
      ...{ scale: 2.5, kl_coef: 0.375, kl_estimator: 3, policy_mask: 0, regularizer_mask: 1, value_mask: 0 },
      ...{ advantage_mask: 0, whiten_mask: 1, kl_mask: 1 },
      ...{ correction: 2, correction_of_row: 1, correction_low: 0.25, correction_high: 4 },
    };
    expect(Object.entries(read(kernel, 'settings', words))).toEqual(Object.entries(want));
  });

  test('without a critic λ is 1, and a group’s comparison has the number that its kernel knows', () => {
    const baseline = (estimator: CreditSettings['estimator'], divideByStd: boolean) =>
      read(groupAdvantages, 'settings', creditKnobs({ ...CREDIT, estimator, divideByStd }))['baseline'];
    expect([baseline('grpo', false), baseline('grpo', true), baseline('rloo', false)]).toEqual([0, 1, 2]);
    expect(read(gae, 'settings', creditKnobs({ ...CREDIT, estimator: 'reinforce' }))['lambda']).toBe(1);
  });
});

test('every choice of a knob has a number of its own in the kernel that reads it', () => {
  const choices = [
    [kernels.objective, 'KL', FIELDS.klEstimator.choices],
    [kernels.objective, 'SURROGATE', FIELDS.surrogate.choices],
    [kernels.creditMasks, 'KL', FIELDS.klRewardEstimator.choices],
    [kernels.lossWeights, 'AGGREGATION', FIELDS.aggregation.choices],
    [kernels.corrections, 'CORRECTION', FIELDS.correction.choices],
    [kernels.groupAdvantages, 'BASELINE', Object.keys(BASELINES)],
  ] as const;
  for (const [{ name, wgsl }, prefix, names] of choices) {
    const codes = names.map((choice) => choiceCode(wgsl, prefix, choice));
    expect(new Set(codes).size, name).toBe(names.length);
  }
  expect(() => choiceCode(kernels.objective.wgsl, 'KL', 'k4')).toThrow('const KL_K4');
});

test('a value without a field, a field without a value, and a field that is no scalar are errors that name them', () => {
  const pair = uniformStruct('struct Pair { // two\n  low: f32, // one\n  high: u32,\n}', 'Pair');
  expect([...uniformWords(pair, { high: 3, low: 1 })]).toEqual([0x3f800000, 3]);
  expect(fieldOffset(pair, 'high')).toBe(4);
  expect(() => uniformWords(pair, { low: 1, high: 3, hihg: 3 })).toThrow('has no field hihg');
  expect(() => uniformWords(pair, { low: 1 })).toThrow('no value for high');
  expect(() => fieldOffset(pair, 'middle')).toThrow('no field middle');
  expect(() => uniformStruct('struct Pair { low: vec2f }', 'Pair')).toThrow('low: vec2f');
  expect(() => uniformStruct('struct Pair { low: f32 }', 'Knobs')).toThrow('struct Knobs');
});
