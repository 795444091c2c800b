import { describe, expect, it } from 'vitest';
import type { ObjectiveBatch } from '../../src/model/learningMath.ts';
import type { MaskSwitches } from '../../src/model/learningSettings.ts';
import { objective } from '../../src/rl/objective.ts';
import { Role } from '../../src/domain/tokens.ts';
import { AGGREGATIONS, gradients, plainBatch, PPO, randomBatch } from './objectiveBatches.ts';
import { creditOf, off, ON } from './worked.ts';

const everyRow = (rows: number) => Int32Array.from({ length: rows }, (_, b) => b);

describe('splitting a minibatch', () => {
  it('the mean of two micro-batch means is not the mean: 2.05 for .75', () => {
    const losses = (sum: number, count: number) => new Array<number>(count).fill(-sum / count);
    const batch = plainBatch(10, [losses(8, 2), losses(1, 10)]);
    const of = (rows: Int32Array) => objective(batch, rows, PPO, gradients(20)).policyLoss;
    expect((of(Int32Array.of(0)) + of(Int32Array.of(1))) / 2).toBeCloseTo(2.05, 12);
    // What one call over both gives, whatever is run in parts inside a backend.
    expect(of(Int32Array.of(0, 1))).toBeCloseTo(0.75, 12);
  });

  it.each(AGGREGATIONS)('does not depend on the order of its rows, with %s', (aggregation) => {
    const batch = randomBatch(8, 5);
    const settings = { ...PPO, aggregation, klCoef: 0.1, entropyCoef: 0.01 };
    const [straight, dealt] = [gradients(40), gradients(40)];
    const want = objective(batch, everyRow(8), settings, straight);
    const got = objective(batch, Int32Array.of(5, 2, 7, 0, 3, 6, 1, 4), settings, dealt);
    // Sums in another order: a few roundings of 1e-16.
    expect(got.total).toBeCloseTo(want.total, 13);
    expect(dealt).toEqual(straight);
    expect(Math.abs(want.total)).toBeGreaterThan(0.01);
  });

  it('token-mean of the whole is the token-weighted mean of its parts, split 2×4 or 8×1', () => {
    const batch = randomBatch(8, 5);
    const whole = objective(batch, everyRow(8), PPO, gradients(40));
    for (const size of [4, 1]) {
      const parts = Array.from({ length: 8 / size }, (_, i) =>
        objective(batch, everyRow(8).slice(i * size, (i + 1) * size), PPO, gradients(40)),
      );
      const tokens = parts.reduce((a, part) => a + part.tokens, 0);
      expect(tokens).toBe(whole.tokens);
      const mean = parts.reduce((a, part) => a + part.policyLoss * part.tokens, 0) / tokens;
      expect(mean).toBeCloseTo(whole.policyLoss, 12);
    }
  });

  it.each(AGGREGATIONS)('rows that only fill a batch up change no number and no gradient, with %s', (aggregation) => {
    const settings = { ...PPO, aggregation, klCoef: 0.1, entropyCoef: 0.01 };
    const batch = randomBatch(4, 5);
    const padded = Object.fromEntries(
      Object.entries(batch).map(([name, all]) => [
        name,
        typeof all === 'number'
          ? all
          : Float64Array.from({ length: 30 }, (_, at) => all[at] ?? (name.endsWith('Mask') ? 0 : NaN)),
      ]),
    ) as unknown as ObjectiveBatch;
    const [alone, filled] = [gradients(20), gradients(30)];
    const want = objective(batch, everyRow(4), settings, alone);
    expect(objective(padded, everyRow(6), settings, filled)).toEqual(want);
    expect([...filled.dlogprobs]).toEqual([...alone.dlogprobs, ...new Array<number>(10).fill(0)]);
    expect([...filled.dvalues]).toEqual([...alone.dvalues, ...new Array<number>(10).fill(0)]);
  });
});

/** Two rows that differ in length and score, credited by grpo and put into an objective at ratio 1. */
function learned(masks: MaskSwitches, settings = PPO) {
  const { action, observation, prompt, pad } = Role;
  const roles = [
    [prompt, action, action, observation, observation, action, pad],
    [prompt, action, observation, observation, observation, action, action],
  ];
  const flat = roles.flat();
  const rewards = flat.map((_, at) => (at === 5 ? 1 : 0));
  const { masks: made, advantages } = creditOf(roles, rewards, { estimator: 'grpo', masks }, { groups: [0, 0] });
  const zeros = flat.map(() => 0);
  const out = gradients(14);
  const parts = objective(
    {
      length: 7,
      logprobs: flat.map(() => -1),
      entropies: flat.map(() => 0.5),
      values: zeros,
      oldLogprobs: flat.map(() => -1),
      refLogprobs: flat.map(() => -1.5),
      oldValues: zeros,
      advantages,
      returns: zeros,
      lossMask: made.policy,
      regularizerMask: made.regularizer,
      valueMask: made.value,
      observationMask: made.observation,
    },
    Int32Array.of(0, 1),
    settings,
    out,
  );
  return { flat, parts, out };
}

describe('the masks in the loss', () => {
  it('every forced token has a gradient of exactly 0, KL and entropy included', () => {
    const { flat, out } = learned(ON, { ...PPO, klCoef: 0.1, entropyCoef: 0.1 });
    for (const [at, role] of flat.entries()) {
      const all = [out.dlogprobs[at], out.policyWeights[at], out.dentropies[at]];
      if (role === Role.action) for (const g of all) expect(g).not.toBe(0);
      else expect(all).toEqual([0, 0, 0]);
    }
  });

  it('the first step of grpo has a loss of 0 and a gradient that is not', () => {
    const { parts, out } = learned(ON);
    // Advantages of ±.707 over three agent tokens each.
    expect(Math.abs(parts.policyLoss)).toBeLessThan(1e-15);
    for (const at of [1, 2, 5]) expect(out.dlogprobs[at]).toBeCloseTo(-Math.SQRT1_2 / 6, 6);
    for (const at of [8, 12, 13]) expect(out.dlogprobs[at]).toBeCloseTo(Math.SQRT1_2 / 6, 6);
  });

  it('with both masks off observations carry a gradient and count in the mean', () => {
    const { flat, parts, out } = learned(off('advantage', 'policy', 'regularizer'));
    const response = flat.filter((role) => role === Role.action || role === Role.observation).length;
    expect(parts.tokens).toBe(response);
    for (const [at, role] of flat.entries()) {
      const g = out.dlogprobs[at]!;
      if (role === Role.action || role === Role.observation) {
        expect(Math.abs(g)).toBeCloseTo(Math.SQRT1_2 / response, 6);
      } else expect(g).toBe(0);
    }
  });

  it('with only the loss mask off observations dilute the mean, and only entropy and KL act on them', () => {
    const settings = { ...PPO, klCoef: 0.1, entropyCoef: 0.1 };
    const { flat, parts, out } = learned(off('policy', 'regularizer'), settings);
    expect(parts.tokens).toBe(11);
    for (const [at, role] of flat.entries()) {
      if (role !== Role.observation) continue;
      expect(Math.abs(out.policyWeights[at]!)).toBe(0);
      expect(out.dlogprobs[at]).not.toBe(0);
      expect(out.dentropies[at]).toBeCloseTo(-0.1 / 11, 12);
    }
    expect(out.policyWeights[1]).toBeCloseTo(-Math.SQRT1_2 / 11, 6);
  });

  it('the advantage mask alone changes no gradient of grpo when rewards are paid on agent tokens', () => {
    const [on, without] = [learned(ON), learned(off('advantage', 'whiten', 'value'))];
    expect(without).toEqual(on);
    expect(on.out.dlogprobs.some((g) => Math.abs(g) > 0.1)).toBe(true);
  });

  it('the entropy bonus pulls towards more entropy', () => {
    const { out, parts } = learned(ON, { ...PPO, entropyCoef: 0.1 });
    // A step against the gradient of the total raises what has a negative one.
    expect(out.dentropies[1]).toBeCloseTo(-0.1 / 6, 12);
    expect(parts.total).toBeCloseTo(parts.policyLoss - 0.1 * 0.5, 12);
  });
});
