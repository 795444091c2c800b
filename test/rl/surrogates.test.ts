import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ObjectiveBatch } from '../../src/model/learningMath.ts';
import type { ObjectiveSettings } from '../../src/model/learningSettings.ts';
import { groupRelative } from '../../src/rl/advantages.ts';
import { objective, surrogate } from '../../src/rl/objective.ts';
import { gradients, PPO } from './objectiveBatches.ts';
import { close } from './worked.ts';

type Numbers = readonly number[];
interface Outcome {
  readonly loss: number;
  readonly gradient: Numbers;
}
/** Made by test/python/write_surrogate_fixture.py with verl, TRL and SkyRL. */
const OTHERS = JSON.parse(readFileSync(new URL('../fixtures/surrogates.json', import.meta.url), 'utf8')) as {
  readonly rows: number;
  readonly length: number;
  readonly batch: Readonly<Record<'logprobs' | 'oldLogprobs' | 'refLogprobs' | 'lossMask' | 'advantages', Numbers>>;
  readonly losses: readonly (Outcome &
    Pick<ObjectiveSettings, 'surrogate' | 'clipLow' | 'clipHigh' | 'dualClip' | 'aggregation'> & {
      readonly clipped: number;
      readonly clippedLower: number;
    })[];
  readonly kl: readonly (Outcome & Pick<ObjectiveSettings, 'klTimesRatio'>)[];
  readonly maxrl: readonly { readonly scores: Numbers; readonly groups: Numbers; readonly advantages: Numbers }[];
};
const { length, rows: rowCount } = OTHERS;
const zeros = new Float64Array(rowCount * length);
const batch = {
  ...{ length, ...OTHERS.batch, regularizerMask: OTHERS.batch.lossMask, valueMask: zeros },
  observationMask: zeros,
  ...{ entropies: zeros, values: zeros, oldValues: zeros, returns: zeros },
};
/** Parts and gradients of the first `count` rows. */
function computed(settings: Partial<ObjectiveSettings>, count: number, given: ObjectiveBatch = batch) {
  const out = gradients(rowCount * length);
  const rows = Int32Array.from({ length: count }, (_, row) => row);
  return { ...objective(given, rows, { ...PPO, valueCoef: 0, ...settings }, out), out };
}

describe('loss, gradient and clipped shares of each surrogate are verl’s', () => {
  test.each(OTHERS.losses)('$surrogate, $clipLow to $clipHigh, cap $dualClip, $aggregation', (verl) => {
    const { surrogate: name, clipLow, clipHigh, dualClip, aggregation } = verl;
    const got = computed({ surrogate: name, clipLow, clipHigh, dualClip, aggregation }, rowCount);
    // verl adds 1e-8 to the number of tokens that it divides by
    close([got.policyLoss], [verl.loss], 1e-8 * Math.max(1, Math.abs(verl.loss)));
    close([...got.out.policyWeights], [...verl.gradient], 1e-8 * Math.max(1, ...verl.gradient.map(Math.abs)));
    close([got.clipFraction, got.clipFractionLower], [verl.clipped, verl.clippedLower], 1e-8);
    expect(verl.gradient.some((each) => each !== 0)).toBe(true);
  });
});

test.each(OTHERS.kl)('KL in the loss, and its gradient, with klTimesRatio $klTimesRatio are TRL’s', (trl) => {
  const count = trl.gradient.length / length;
  const still = { ...batch, advantages: zeros };
  const got = computed({ klCoef: 1, klTimesRatio: trl.klTimesRatio }, count, still);
  close([got.kl], [trl.loss], 1e-9);
  close([...got.out.dlogprobs.subarray(0, trl.gradient.length)], [...trl.gradient], 1e-9);
});

test('at ratio 1, KL × ratio gives k3 the gradient δ of the reverse KL itself', () => {
  const at = (delta: number) => ({
    ...batch,
    advantages: zeros,
    logprobs: [-1],
    oldLogprobs: [-1],
    refLogprobs: [-1 - delta],
  });
  const slope = (delta: number, klTimesRatio: 'on' | 'off') => {
    const one = { ...at(delta), length: 1, lossMask: [1], regularizerMask: [1], valueMask: [0], observationMask: [0] };
    const out = gradients(1);
    objective(one, Int32Array.of(0), { ...PPO, klCoef: 1, klTimesRatio }, out);
    return out.dlogprobs[0];
  };
  // δ = ±1: e^−1 = .367879, e = 2.718282
  close([slope(1, 'off')!, slope(-1, 'off')!, slope(1, 'on')!, slope(-1, 'on')!], [0.632121, -1.718282, 1, -1], 1e-6);
});

test.each(OTHERS.maxrl)('MaxRL’s advantages of $scores are SkyRL’s', ({ scores, groups, advantages }) => {
  close([...groupRelative(scores, groups, 'mean-over-mean')], [...advantages], 1e-9);
});

test('MaxRL gives no advantage in a group whose mean score is not above 0: divided by it, the sign would turn', () => {
  expect([...groupRelative([-1, 0, -1, 0], [0, 0, 0, 0], 'mean-over-mean')]).toEqual([0, 0, 0, 0]);
});

test('a token that CISPO clips still learns, and DPPO-TV looks at probabilities, not at ratios', () => {
  const at = (name: ObjectiveSettings['surrogate'], now: number, before: number) =>
    surrogate(Math.log(now), Math.log(before), 1, { ...PPO, surrogate: name });
  // the ratio doubles, the probability rises by .01: PPO stops, CISPO goes on at its limit, DPPO-TV at the ratio
  expect(at('clipped', 0.02, 0.01)).toMatchObject({ clipped: true, gradient: 0 });
  close([at('cispo', 0.02, 0.01).gradient, at('dppo-tv', 0.02, 0.01).gradient], [-1.2, -2], 1e-12);
  // the ratio rises by 1.9, the probability from .3 to .57: only DPPO-TV's limit of .2 is on probabilities
  expect(at('dppo-tv', 0.57, 0.3)).toMatchObject({ clipped: true });
  expect(Math.abs(at('dppo-tv', 0.57, 0.3).gradient)).toBe(0);
});
