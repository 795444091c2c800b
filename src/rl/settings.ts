import type { RunConfig } from '../config/config.ts';
import { pickKnobs } from '../config/fields.ts';
import { CORRECTION_KNOBS, OBJECTIVE_KNOBS } from '../config/objectiveKnobs.ts';
import type { DrawCounters, Sampling } from '../model/decoding.ts';
import type { CreditSettings, MaskSwitches, ObjectiveSettings, OptimizerSettings } from '../model/learningSettings.ts';
import { pcg4d, Purpose, streamKey } from '../base/rng.ts';
import { usesCritic } from '../config/estimators.ts';
import { agentOnly } from '../config/masks.ts';
import type { FilterSettings } from './filter.ts';

/** The six mask switches, from the two main switches and their overrides. True: agent tokens only. */
function maskSwitches(config: RunConfig): MaskSwitches {
  return {
    advantage: agentOnly(config, 'advantageTokens'),
    whiten: agentOnly(config, 'whitenTokens'),
    value: agentOnly(config, 'valueTokens'),
    klReward: agentOnly(config, 'klRewardTokens'),
    policy: agentOnly(config, 'policyTokens'),
    regularizer: agentOnly(config, 'regularizerTokens'),
  };
}

/** `klCoef` comes from the KL controller, `scale` from the group filter. */
export function creditSettings(config: RunConfig, klCoef: number, scale: number): CreditSettings {
  const { estimator, gamma, lambda, turnGamma, stateWeight, klRewardEstimator } = config;
  return {
    estimator,
    gamma,
    lambda,
    turnGamma,
    stateWeight,
    divideByStd: config.divideByStd === 'on',
    whiten: config.whiten === 'on',
    remask: config.remask === 'on',
    klCoef,
    klEstimator: klRewardEstimator,
    scale,
    ...(config.correction !== 'none' && { correction: pickKnobs(config, CORRECTION_KNOBS) }),
    masks: maskSwitches(config),
    trainTurns: config.trainTurns,
    choicesOnly: config.choiceMask === 'on',
  };
}

export function filterSettings(config: RunConfig): FilterSettings {
  const { filter: mode, filterShare: share, filterTopP: topP, filterScaling: scaling } = config;
  return { mode, share, topP, scaling };
}

export function objectiveSettings(config: RunConfig): ObjectiveSettings {
  return pickKnobs(config, OBJECTIVE_KNOBS);
}

export function optimizerSettings(config: RunConfig, update: number): OptimizerSettings {
  const { beta1, beta2, adamEps, weightDecay, maxGradNorm } = config;
  const warmupFactor = Math.min(1, update / Math.max(1, config.rateWarmup));
  const [learningRate, criticLearningRate] = [
    config.learningRate * warmupFactor,
    config.criticLearningRate * warmupFactor,
  ];
  // without a critic, freezing the policy would only waste updates
  const criticOnly = update <= config.criticWarmup && usesCritic(config.estimator);
  return { learningRate, criticLearningRate, beta1, beta2, eps: adamEps, weightDecay, maxGradNorm, criticOnly };
}

export function trainSampling(config: RunConfig, update: number): Sampling {
  const { seed, temperature, topK, topP } = config;
  return { key: streamKey(seed, Purpose.trainSample), update, temperature, greedy: false, topK, topP };
}

/** The sampling settings of an evaluation. Its random stream is never used in training. */
export function evalSampling(config: RunConfig, update: number, greedy: boolean): Sampling {
  const { seed, temperature, topK, topP } = config;
  const key = streamKey(seed, Purpose.evalSample);
  return { key, update: evalCounters(update, 0, 1).update, temperature, greedy, topK, topP };
}

/** The number of the task's batch and its place there, with `rows` tasks at a time. They don't depend on the row that plays it. */
export function evalCounters(update: number, index: number, rows: number): DrawCounters {
  // evalTasks is at most 4096, so no evaluation has more batches
  return { update: update * 4096 + Math.floor(index / rows), rollout: index % rows };
}

const HELD_OUT_BIT = 0x80000000;

/**
 * Seed of the task of `group` in `update`: 31 bits, with the top bit clear. The seeds of a batch are consecutive, so an
 * environment with few tasks gives each equally often. With independent draws, number hunt learned half as fast
 * (docs/journal/learning.md).
 */
export function trainTaskSeed(seed: number, update: number, group: number): number {
  return (hash(streamKey(seed, Purpose.trainTask), update, 0) + group) & ~HELD_OUT_BIT;
}

/** Seed of the environment's random events for the rollout in `row` of `update`, if each rollout has its own. */
export function trainEnvironmentSeed(seed: number, update: number, row: number): number {
  return hash(streamKey(seed, Purpose.environmentSeed), update, row);
}

/** The top bit is set, so no training task has this seed. Consecutive, so an environment with few tasks gives each equally often. */
export function evalTaskSeed(seed: number, index: number): number {
  const first = hash(streamKey(seed, Purpose.evalTask), 0, 0) & 0x3fffffff;
  return (HELD_OUT_BIT + first + index) >>> 0;
}

const hashWords = new Uint32Array(4);
function hash(key: number, a: number, b: number): number {
  pcg4d(key, a, b, 0, hashWords);
  return hashWords[0] ?? 0;
}
