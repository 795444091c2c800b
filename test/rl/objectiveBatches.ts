import type { ObjectiveBatch, TokenGradients } from '../../src/model/learningMath.ts';
import type { ObjectiveSettings } from '../../src/model/learningSettings.ts';
import { Purpose, random } from '../../src/base/rng.ts';

/** PPO with a dual clip, nothing else in the total but half the value loss. */
export const PPO: ObjectiveSettings = {
  surrogate: 'clipped',
  clipLow: 0.2,
  clipHigh: 0.2,
  dualClip: 3,
  klEstimator: 'k3',
  klTimesRatio: 'off',
  observationLoss: 0,
  teacherCoef: 0,
  klCoef: 0,
  entropyCoef: 0,
  valueCoef: 0.5,
  valueClip: 0.5,
  aggregation: 'token-mean',
};

export const AGGREGATIONS = [
  'token-mean',
  'seq-mean-token-sum',
  'seq-mean-token-mean',
  'seq-mean-token-sum-norm',
] as const;

/** Room for the gradients of a batch of `size` tokens. */
export const gradients = (size: number): TokenGradients => ({
  dlogprobs: new Float64Array(size),
  policyWeights: new Float64Array(size),
  dentropies: new Float64Array(size),
  dvalues: new Float64Array(size),
});

/** A batch of B rows of T with random numbers and three different random masks. */
export function randomBatch(rows: number, length: number): ObjectiveBatch & Record<string, Float64Array | number> {
  const draw = random(3, Purpose.environment);
  const size = rows * length;
  const numbers = (scale: number, shift = 0) =>
    Float64Array.from({ length: size }, () => shift + scale * draw.normal());
  const mask = () => Float64Array.from({ length: size }, () => (draw.next() < 0.6 ? 1 : 0));
  const logprobs = numbers(0.4, -1.5);
  return {
    length,
    logprobs,
    entropies: numbers(0.2, 1),
    values: numbers(0.5),
    oldLogprobs: logprobs.map((l) => l + 0.3 * draw.normal()),
    refLogprobs: logprobs.map((l) => l + 0.3 * draw.normal()),
    oldValues: numbers(0.5),
    advantages: numbers(1),
    returns: numbers(0.5),
    lossMask: mask(),
    regularizerMask: mask(),
    valueMask: mask(),
    observationMask: mask(),
  };
}

/**
 * A batch at ratio 1, so that a token's loss is −A: rows of T tokens with the given advantages, shorter ones masked out at the
 * end. Log-probabilities, entropies, values and returns are 0.
 */
export function plainBatch(length: number, advantages: readonly (readonly number[])[]): ObjectiveBatch {
  const zeros = new Float64Array(advantages.length * length);
  const pad = (row: readonly number[], filler: number) => [
    ...row,
    ...new Array<number>(length - row.length).fill(filler),
  ];
  const lossMask = advantages.flatMap((row) =>
    pad(
      row.map(() => 1),
      0,
    ),
  );
  return {
    length,
    logprobs: zeros,
    entropies: zeros,
    values: zeros,
    oldLogprobs: zeros,
    refLogprobs: zeros,
    oldValues: zeros,
    advantages: advantages.flatMap((row) => pad(row, NaN)),
    returns: zeros,
    lossMask,
    regularizerMask: lossMask,
    valueMask: zeros,
    observationMask: zeros,
  };
}
