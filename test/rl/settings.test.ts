import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import {
  creditSettings,
  evalCounters,
  evalSampling,
  evalTaskSeed,
  filterSettings,
  objectiveSettings,
  optimizerSettings,
  trainEnvironmentSeed,
  trainSampling,
  trainTaskSeed,
} from '../../src/rl/settings.ts';

describe('what the trainer is told', () => {
  it.each([
    ['divideByStd', 'divideByStd'],
    ['whiten', 'whiten'],
    ['remask', 'remask'],
    ['choiceMask', 'choicesOnly'],
  ] as const)('%s on and off reach credit', (knob, setting) => {
    for (const value of ['on', 'off'] as const)
      expect(creditSettings(parseConfig({ [knob]: value }), 0, 1)[setting]).toBe(value === 'on');
  });

  it.each([
    ['advantageTokens', 'advantage', 'advantageMask'],
    ['whitenTokens', 'whiten', 'advantageMask'],
    ['valueTokens', 'value', 'advantageMask'],
    ['klRewardTokens', 'klReward', 'advantageMask'],
    ['policyTokens', 'policy', 'lossMask'],
    ['regularizerTokens', 'regularizer', 'lossMask'],
  ] as const)('%s is its own or follows', (knob, mask, group) => {
    for (const above of ['on', 'off'] as const) {
      for (const own of ['on', 'off', 'follow'] as const) {
        const { masks } = creditSettings(parseConfig({ [knob]: own, [group]: above }), 0, 1);
        expect(masks[mask]).toBe((own === 'follow' ? above : own) === 'on');
      }
    }
  });

  it('numbers arrive under the names of the parts they are for', () => {
    const config = parseConfig({
      ...{ estimator: 'gae', critic: 'separate', gamma: 0.9, lambda: 0.8, turnGamma: 0.7, klRewardEstimator: 'k2' },
      ...{ filter: 'top-p', filterShare: 0.3, filterTopP: 0.6, filterScaling: 'sqrt' },
      ...{ surrogate: 'clipped', clipLow: 0.1, clipHigh: 0.25, dualClip: 4, klEstimator: 'k1', klCoef: 0.01 },
      ...{ klTimesRatio: 'on', entropyCoef: 0.02, valueCoef: 0.4, valueClip: 0.6, aggregation: 'seq-mean-token-sum' },
      ...{ observationLoss: 0.07, teacherCoef: 0.6, trainTurns: 'last' },
      ...{ learningRate: 0.002, criticLearningRate: 0.003, beta1: 0.8, beta2: 0.95, adamEps: 1e-7 },
      ...{ weightDecay: 0.05, maxGradNorm: 2, criticWarmup: 5 },
    });
    expect(creditSettings(config, 0.3, 0.5)).toMatchObject({
      ...{ estimator: 'gae', gamma: 0.9, lambda: 0.8, turnGamma: 0.7, klEstimator: 'k2', klCoef: 0.3, scale: 0.5 },
      trainTurns: 'last',
    });
    const corrected = { correction: 'masked', correctionLevel: 'sequence', correctionLow: 0.8, correctionHigh: 3 };
    expect(creditSettings(parseConfig(corrected), 0, 1).correction).toEqual(corrected);
    expect(creditSettings(config, 0, 1).correction).toBeUndefined();
    expect(filterSettings(config)).toEqual({
      mode: 'top-p',
      share: 0.3,
      topP: 0.6,
      scaling: 'sqrt',
    });
    expect(objectiveSettings(config)).toEqual({
      ...{ surrogate: 'clipped', clipLow: 0.1, clipHigh: 0.25, dualClip: 4, klEstimator: 'k1', klCoef: 0.01 },
      ...{ klTimesRatio: 'on', entropyCoef: 0.02, valueCoef: 0.4, valueClip: 0.6, aggregation: 'seq-mean-token-sum' },
      observationLoss: 0.07,
      teacherCoef: 0.6,
    });
    const adam = {
      ...{ learningRate: 0.002, criticLearningRate: 0.003, beta1: 0.8, beta2: 0.95, eps: 1e-7 },
      ...{ weightDecay: 0.05, maxGradNorm: 2 },
    };
    expect(optimizerSettings(config, 5)).toEqual({ ...adam, criticOnly: true });
    expect(optimizerSettings(config, 6)).toEqual({ ...adam, criticOnly: false });
    expect(optimizerSettings(parseConfig({ ...config, estimator: 'grpo' }), 5).criticOnly).toBe(false);
  });

  it('the rates rise in a line over the updates of the warm-up, and stand from then on', () => {
    const config = parseConfig({ learningRate: 8e-4, criticLearningRate: 4e-3, rateWarmup: 4 });
    const rates = [1, 2, 4, 5].map((update) => {
      const { learningRate, criticLearningRate } = optimizerSettings(config, update);
      return [learningRate, criticLearningRate];
    });
    // quarters and halves of a rate are exact
    expect(rates).toEqual([
      [2e-4, 1e-3],
      [4e-4, 2e-3],
      [8e-4, 4e-3],
      [8e-4, 4e-3],
    ]);
    expect(optimizerSettings(parseConfig({ learningRate: 8e-4 }), 1).learningRate).toBe(8e-4);
  });

  it('training is drawn as asked, evaluation greedy or not, from streams that differ', () => {
    const config = parseConfig({ seed: 7, temperature: 0.5, topK: 3, topP: 0.8 });
    const trained = trainSampling(config, 4);
    expect(trained).toMatchObject({ update: 4, temperature: 0.5, topK: 3, topP: 0.8, greedy: false });
    for (const greedy of [true, false]) {
      const evaluated = evalSampling(config, 4, greedy);
      expect(evaluated).toMatchObject({ update: 4 * 4096, temperature: 0.5, topK: 3, topP: 0.8, greedy });
      expect(evaluated.key).not.toBe(trained.key);
    }
  });
});

describe('seeds and counters', () => {
  it('an evaluated task has the counters of its place in its batch, different for every task and update', () => {
    expect(evalCounters(3, 0, 16)).toEqual({ update: 12_288, rollout: 0 });
    expect(evalCounters(3, 35, 16)).toEqual({ update: 12_290, rollout: 3 });
    const met = new Set<string>();
    for (let update = 0; update < 3; update++)
      for (let at = 0; at < 4096; at++) met.add(JSON.stringify(evalCounters(update, at, 16)));
    expect(met.size).toBe(3 * 4096);
  });

  it('tasks of a batch are consecutive, training and evaluation told apart by the top bit', () => {
    for (const seed of [1, 2, 77]) {
      const first = trainTaskSeed(seed, 5, 0);
      const held = evalTaskSeed(seed, 0);
      for (let at = 0; at < 50; at++) {
        expect(trainTaskSeed(seed, 5, at)).toBe((first + at) & 0x7fffffff);
        expect(evalTaskSeed(seed, at)).toBe(held + at);
        expect([trainTaskSeed(seed, 5, at) >>> 31, evalTaskSeed(seed, at) >>> 31]).toEqual([0, 1]);
      }
      expect(trainTaskSeed(seed, 6, 0)).not.toBe(first);
    }
    expect(new Set([1, 2, 3, 4].map((seed) => evalTaskSeed(seed, 0))).size).toBe(4);
  });

  it('the environment seed is another number for every row, update and seed, and the same one again', () => {
    const met = new Set<number>();
    for (const seed of [1, 2])
      for (const update of [1, 2, 3])
        for (let row = 0; row < 64; row++) met.add(trainEnvironmentSeed(seed, update, row));
    expect(met.size).toBe(2 * 3 * 64);
    expect(met.has(0)).toBe(false);
    expect(trainEnvironmentSeed(2, 3, 5)).toBe(trainEnvironmentSeed(2, 3, 5));
  });
});
