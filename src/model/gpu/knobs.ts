import type { CreditSettings, ObjectiveSettings, OptimizerSettings } from '../settings.ts';
import { baselineOf, BASELINES, ESTIMATORS } from '../../config/estimators.ts';

const KL = { k1: 1, k2: 2, k3: 3 } as const;
const AGGREGATION = {
  'token-mean': 0,
  'seq-mean-token-sum': 1,
  'seq-mean-token-mean': 2,
  'seq-mean-token-sum-norm': 3,
} as const;

/** Two bits each, from the lowest: of policy loss and KL, of entropy, of the value loss. */
function aggregations(o: ObjectiveSettings): number {
  const { aggregation, entropyAggregation = aggregation, valueAggregation = aggregation } = o;
  return AGGREGATION[aggregation] + 4 * AGGREGATION[entropyAggregation] + 16 * AGGREGATION[valueAggregation];
}

/** Scalars of the `Knobs` uniform; a multiple of 64, so that what follows it stays aligned. */
export const KNOBS_SCALARS = 64;

/** The `Knobs` uniform of the objective and optimizer kernels, field by field in their order. */
function knobs(
  temperature: number,
  o: ObjectiveSettings,
  opt: OptimizerSettings,
  learningRate: number,
  valueCoef: number,
  slot: number,
): readonly number[] {
  return [
    temperature,
    aggregations(o),
    o.surrogate === 'plain' ? 1 : 0,
    o.clipLow,
    o.clipHigh,
    o.dualClip,
    KL[o.klEstimator],
    o.klCoef,
    o.entropyCoef,
    valueCoef,
    o.valueClip,
    learningRate,
    opt.beta1,
    1 - opt.beta1,
    opt.beta2,
    1 - opt.beta2,
    opt.eps,
    opt.weightDecay,
    opt.maxGradNorm,
    slot,
  ];
}

/** Scalars of the `Credit` uniform, rounded up to 16 bytes. */
export const CREDIT_SCALARS = 20;

// by the numbers that group_advantages.wgsl knows them by
const BASELINE_NAMES = Object.keys(BASELINES);

/** The `Credit` uniform of the credit kernels, field by field in their order. */
export function creditKnobs(s: CreditSettings): Float32Array {
  const bit = (on: boolean) => (on ? 1 : 0);
  const { core, critic, whitens } = ESTIMATORS[s.estimator];
  return Float32Array.of(
    s.gamma,
    critic ? s.lambda : 1, // reward to go is GAE with λ = 1 and values of 0
    s.turnGamma,
    bit(core === 'turns'),
    bit(critic),
    BASELINE_NAMES.indexOf(baselineOf(s.estimator, s.divideByStd)),
    bit(s.whiten && whitens),
    bit(s.remask),
    s.scale,
    s.klCoef,
    KL[s.klEstimator],
    bit(s.masks.policy),
    bit(s.masks.regularizer),
    bit(s.masks.value),
    bit(s.masks.advantage),
    bit(s.masks.whiten),
    bit(s.masks.klReward),
    bit(s.choicesOnly),
  );
}

/** The one upload of an optimizer step: knobs of policy and critic, then the minibatch's rows, padded with none. */
export function controlWords(
  size: number,
  rows: Int32Array,
  temperature: number,
  objective: ObjectiveSettings,
  optimizer: OptimizerSettings,
  line: number,
): Uint32Array {
  const words = new Uint32Array(size).fill(0xffffffff);
  const floats = new Float32Array(words.buffer);
  const { learningRate, criticLearningRate } = optimizer;
  floats.set(knobs(temperature, objective, optimizer, learningRate, objective.valueCoef, line));
  floats.set(knobs(temperature, objective, optimizer, criticLearningRate, 1, line), KNOBS_SCALARS);
  words.set(rows, 2 * KNOBS_SCALARS);
  return words;
}
