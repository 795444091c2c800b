import { describe, expect, it } from 'vitest';
import { clippedValueLoss, objective, surrogate } from '../../src/rl/objective.ts';
import { AGGREGATIONS, gradients, plainBatch, PPO, randomBatch } from './objectiveBatches.ts';
import { close } from './worked.ts';

describe('the clipped surrogate', () => {
  it.each([
    // A, ρ, clipHigh, loss, gradient, clipped, lower clip
    [1, 0.5, 0.2, -0.5, -0.5, false, false],
    [1, 1.2, 0.2, -1.2, -1.2, false, false],
    [1, 1.21, 0.2, -1.2, 0, true, false],
    [1, 1.21, 0.28, -1.21, -1.21, false, false],
    [1, 1.3, 0.2, -1.2, 0, true, false],
    [1, 1.3, 0.28, -1.28, 0, true, false],
    [-1, 0.5, 0.2, 0.8, 0, true, false],
    [-1, 0.79, 0.2, 0.8, 0, true, false],
    [-1, 0.8, 0.2, 0.8, 0.8, false, false],
    [-1, 1.3, 0.2, 1.3, 1.3, false, false],
    [-1, 2.9, 0.2, 2.9, 2.9, false, false],
    [-1, 3.5, 0.2, 3, 0, false, true],
    [1, 3.5, 0.2, -1.2, 0, true, false],
    [2, 0.5, 0.2, -1, -1, false, false],
  ] as const)(
    'takes its branch at A = %f, ρ = %f, clipHigh = %f',
    (advantage, ratio, clipHigh, loss, gradient, clipped, lower) => {
      // On a boundary log then exp would miss it by a rounding; step inside.
      const inside = { 1.2: -1e-15, 0.8: 1e-15 }[ratio as number] ?? 0;
      const got = surrogate(Math.log(ratio) + inside, 0, advantage, { ...PPO, clipHigh });
      expect(got.loss).toBeCloseTo(loss, 12);
      if (gradient === 0) expect(Math.abs(got.gradient)).toBe(0);
      else expect(got.gradient).toBeCloseTo(gradient, 12);
      expect([got.clipped, got.lowerClipped]).toEqual([clipped, lower]);
    },
  );

  it('without a dual clip follows a negative advantage past any ratio', () => {
    expect(surrogate(Math.log(3.5), 0, -1, { ...PPO, dualClip: 0 }).gradient).toBeCloseTo(3.5, 12);
  });

  it.each([0.1, 0.79, 1, 1.5, 3.5])('does not count a token without an advantage as clipped at ρ = %f', (ratio) => {
    const got = surrogate(Math.log(ratio), 0, 0, PPO);
    expect([got.clipped, got.lowerClipped]).toEqual([false, false]);
    expect(Math.abs(got.gradient)).toBe(0);
  });

  it('does not count a ratio outside the band that its advantage pulls back in', () => {
    expect(surrogate(Math.log(0.5), 0, 1, PPO).clipped).toBe(false);
    expect(surrogate(Math.log(1.5), 0, -1, PPO).clipped).toBe(false);
    const batch = { ...plainBatch(2, [[1, -1]]), logprobs: [Math.log(0.5), Math.log(0.5)] };
    expect(objective(batch, Int32Array.of(0), PPO, gradients(2)).clipFraction).toBe(0.5);
  });

  it('stays finite and flat where the log-ratio leaves ±20', () => {
    const far = surrogate(100, 0, -1, { ...PPO, dualClip: 0 });
    // e^20 = 485165195.4
    expect(far.loss).toBeCloseTo(Math.exp(20), 0);
    expect(far.gradient).toBe(0);
    expect(Math.abs(surrogate(-100, 0, 1, PPO).gradient)).toBe(0);
    expect(surrogate(19.9, 0, -1, { ...PPO, dualClip: 0 }).gradient).toBeCloseTo(Math.exp(19.9), 0);
  });

  it('plain is REINFORCE, −A·logprob, whatever the old log-probability', () => {
    const plain = { ...PPO, surrogate: 'plain' } as const;
    expect(surrogate(-1.5, 3, 2, plain)).toEqual({ loss: 3, gradient: -2, clipped: false, lowerClipped: false });
  });
});

describe('the clipped value loss', () => {
  it.each([
    [1.2, 0.5, 1, 0.02, 0.2],
    [1.2, 0.5, 2, 0.5, 0],
    [0.6, 0.5, 1, 0.08, -0.4],
    [1.2, 0.5, 3, 2, 0], // the bounded error is −2, the other −1.8
  ])('at v = %f, old = %f, return = %f is the worked one', (value, old, target, loss, gradient) => {
    const got = clippedValueLoss(value, old, target, 0.5);
    expect(got.loss).toBeCloseTo(loss, 12);
    expect(got.gradient).toBeCloseTo(gradient, 12);
  });

  it('has no gradient outside the value mask, whatever stands there', () => {
    const batch = { ...randomBatch(2, 3), values: [1, 2, 3, NaN, 5, 6], valueMask: [1, 0, 0, 0, 1, 0] };
    const out = gradients(6);
    objective(batch, Int32Array.of(0, 1), { ...PPO, valueClip: 100 }, out);
    // Half (v − R) over two tokens.
    const want = [0, 4].map((at) => (0.5 * (batch.values[at]! - batch.returns[at]!)) / 2);
    expect([...out.dvalues]).toEqual([want[0], 0, 0, 0, want[1], 0]);
  });
});

describe('aggregation', () => {
  // Rows whose token losses are all 1 and all 3, of four and two tokens.
  const ROWS = [
    [-1, -1, -1, -1],
    [-3, -3],
  ];

  it.each([
    ['token-mean', 10 / 6],
    ['seq-mean-token-sum', 5],
    ['seq-mean-token-mean', 2],
    ['seq-mean-token-sum-norm', 1.25],
  ] as const)('%s is the worked one, and rows without a loss token do not count', (aggregation, want) => {
    for (const advantages of [ROWS, [...ROWS, [], []], [[], ...ROWS]]) {
      const batch = plainBatch(4, advantages);
      const rows = Int32Array.from(advantages, (_, b) => b);
      const got = objective(batch, rows, { ...PPO, aggregation }, gradients(4 * rows.length));
      expect(got.policyLoss).toBeCloseTo(want, 12);
      expect(got.tokens).toBe(6);
    }
  });

  it.each([
    ['token-mean', 10 / 6],
    ['seq-mean-token-sum', 5],
    ['seq-mean-token-mean', 2],
    ['seq-mean-token-sum-norm', 1.25],
  ] as const)('%s is also that of entropy and value loss, over their own masks', (aggregation, want) => {
    const ones = [1, 1, 1, 1, 3, 3, NaN, NaN];
    const mask = [1, 1, 1, 1, 1, 1, 0, 0];
    const batch = {
      ...plainBatch(4, [[0], [0]]),
      ...{ entropies: ones, regularizerMask: mask, valueMask: mask },
      values: ones.map((x) => Math.sqrt(2 * x)), // half its square is the row's number, as the return is 0
    };
    const out = gradients(8);
    const settings = { ...PPO, aggregation, entropyCoef: 0.5, valueClip: 100 };
    const got = objective(batch, Int32Array.of(0, 1), settings, out);
    expect([got.entropy, got.valueLoss].map((x) => x.toFixed(12))).toEqual([want, want].map((x) => x.toFixed(12)));
    expect(got.total).toBeCloseTo(-0.5 * want + 0.5 * want, 12);
    // a row's share of the gradient is its share of the number
    const first = out.dentropies.slice(0, 4).reduce((a, g) => a + g, 0);
    const second = out.dentropies.slice(4).reduce((a, g) => a + g, 0);
    expect(first + 3 * second).toBeCloseTo(-0.5 * want, 12);
  });

  it('entropy and value loss have one of their own where a fixture says so', () => {
    const batch = randomBatch(4, 6);
    const all = Int32Array.of(0, 1, 2, 3);
    const token = objective(batch, all, PPO, gradients(24));
    const norm = { ...PPO, aggregation: 'seq-mean-token-sum-norm' } as const;
    const own = { ...norm, entropyAggregation: 'token-mean', valueAggregation: 'token-mean' } as const;
    const got = objective(batch, all, own, gradients(24));
    expect([got.entropy, got.valueLoss]).toEqual([token.entropy, token.valueLoss]);
    expect(got.policyLoss).toBe(objective(batch, all, norm, gradients(24)).policyLoss);
    expect(objective(batch, all, norm, gradients(24)).entropy).toBeLessThan(0.7 * token.entropy);
  });

  it('twice the tokens of a row are twice its share of the gradient with token-mean, not with seq-mean-token-mean', () => {
    for (const [aggregation, share] of [
      ['token-mean', 2],
      ['seq-mean-token-mean', 1],
    ] as const) {
      const batch = plainBatch(4, [
        [1, 1, 1, 1],
        [1, 1],
      ]);
      const out = gradients(8);
      objective(batch, Int32Array.of(0, 1), { ...PPO, aggregation }, out);
      const sum = (from: number) => out.dlogprobs.slice(from, from + 4).reduce((a, g) => a + g, 0);
      expect(sum(4)).toBeLessThan(0);
      expect(sum(0) / sum(4)).toBeCloseTo(share, 12);
    }
  });

  it('takes the KL with the counts of its own mask', () => {
    const batch = {
      ...plainBatch(4, [[0, 0], []]),
      refLogprobs: new Float64Array(8).fill(-1),
      regularizerMask: [1, 1, 1, 1, 1, 0, 0, 0],
    };
    const kl = (aggregation: (typeof AGGREGATIONS)[number]) =>
      objective(batch, Int32Array.of(0, 1), { ...PPO, klEstimator: 'k1', aggregation }, gradients(8)).kl;
    expect(AGGREGATIONS.map(kl)).toEqual([1, 2.5, 1, 0.625]);
  });
});

describe('the objective', () => {
  const rows = Int32Array.of(0, 2, 3);

  it('tells clipped and dual-clipped shares and old − new as means over the tokens of the loss mask', () => {
    // ratios 3.5 (dual clip), 1.5 (clip), 1 and 1; the row's last two tokens are outside the mask
    const logprobs = [Math.log(3.5), Math.log(1.5), 0, 0, 5, NaN];
    const batch = { ...plainBatch(6, [[-1, 1, 1, -1]]), logprobs };
    const got = objective(batch, Int32Array.of(0), PPO, gradients(6));
    expect([got.clipFraction, got.clipFractionLower]).toEqual([0.25, 0.25]);
    expect(got.approxKl).toBeCloseTo(-(Math.log(3.5) + Math.log(1.5)) / 4, 12);
  });

  it('without a coefficient a reference that is no number reaches neither total nor gradient', () => {
    const batch = { ...plainBatch(2, [[1, -1]]), refLogprobs: [NaN, NaN] };
    const out = gradients(2);
    expect(objective(batch, Int32Array.of(0), PPO, out).total).toBe(0);
    expect([...out.dlogprobs]).toEqual([-0.5, 0.5]);
  });

  it.each(AGGREGATIONS)('has the gradients that finite differences find, with %s', (aggregation) => {
    for (const klEstimator of ['k1', 'k2', 'k3'] as const) {
      for (const kind of ['clipped', 'plain'] as const) {
        const settings = { ...PPO, surrogate: kind, klEstimator, aggregation, klCoef: 0.05, entropyCoef: 0.01 };
        const batch = randomBatch(4, 6);
        const out = gradients(24);
        objective(batch, rows, settings, out);
        for (const [name, gradient] of [
          ['logprobs', out.dlogprobs],
          ['entropies', out.dentropies],
          ['values', out.dvalues],
        ] as const) {
          const numbers = batch[name] as Float64Array;
          for (let at = 0; at < 24; at++) {
            const kept = numbers[at]!;
            const total = (x: number) => {
              numbers[at] = x;
              return objective(batch, rows, settings, gradients(24)).total;
            };
            const found = (total(kept + 1e-6) - total(kept - 1e-6)) / 2e-6;
            numbers[at] = kept;
            expect(gradient[at], `${name} ${at}`).toBeCloseTo(found, 7);
          }
          expect(gradient.filter((g) => g !== 0).length).toBeGreaterThan(6);
        }
      }
    }
  });

  it('sets the policy loss apart in its gradient: the rest is KL, and 0 without it', () => {
    const batch = randomBatch(4, 6);
    const [both, alone] = [gradients(24), gradients(24)];
    objective(batch, rows, { ...PPO, klCoef: 0.1 }, both);
    objective(batch, rows, PPO, alone);
    expect([...both.policyWeights]).toEqual([...alone.dlogprobs]);
    expect([...alone.policyWeights]).toEqual([...alone.dlogprobs]);
    const pulled = batch.regularizerMask as Float64Array;
    for (const row of rows) {
      for (let at = row * 6; at < row * 6 + 6; at++) {
        expect(both.dlogprobs[at] !== both.policyWeights[at]).toBe(pulled[at] === 1);
      }
    }
  });

  it('never reads what its masks leave out, and touches no other row', () => {
    const clean = randomBatch(4, 6);
    const dirty = randomBatch(4, 6);
    const readers: Record<string, string[]> = {
      advantages: ['lossMask'],
      oldLogprobs: ['lossMask'],
      logprobs: ['lossMask', 'regularizerMask', 'observationMask'],
      refLogprobs: ['regularizerMask'],
      entropies: ['regularizerMask'],
      values: ['valueMask'],
      oldValues: ['valueMask'],
      returns: ['valueMask'],
    };
    let poisoned = 0;
    for (const [name, masks] of Object.entries(readers)) {
      for (let at = 0; at < 24; at++) {
        if (masks.some((mask) => (clean[mask] as Float64Array)[at] !== 0)) continue;
        (dirty[name] as Float64Array)[at] = at % 2 === 0 ? NaN : Infinity;
        poisoned++;
      }
    }
    expect(poisoned).toBeGreaterThan(40);
    const settings = { ...PPO, klCoef: 0.1, entropyCoef: 0.1, observationLoss: 0.1 };
    const [want, got] = [gradients(24), gradients(24)];
    for (const out of [want, got]) out.dlogprobs.fill(7);
    expect(objective(dirty, rows, settings, got)).toEqual(objective(clean, rows, settings, want));
    expect(got).toEqual(want);
    expect([...got.dlogprobs.slice(6, 12)]).toEqual([7, 7, 7, 7, 7, 7]);
    for (const all of Object.values(got) as Float64Array[]) expect(all.every(Number.isFinite)).toBe(true);
  });

  it('at ratio 1 has no clipping, no drift, and the gradient of REINFORCE', () => {
    const batch = randomBatch(4, 6);
    const first = { ...batch, oldLogprobs: batch.logprobs };
    const clipped = gradients(24);
    const plain = gradients(24);
    const parts = objective(first, rows, PPO, clipped);
    objective(first, rows, { ...PPO, surrogate: 'plain' }, plain);
    expect([parts.approxKl, parts.clipFraction, parts.clipFractionLower]).toEqual([0, 0, 0]);
    expect([...clipped.dlogprobs]).toEqual([...plain.dlogprobs]);
    expect(clipped.dlogprobs.some((g) => Math.abs(g) > 0.01)).toBe(true);
  });

  it('observation loss: the plain mean −log π of its own tokens, whatever the aggregation', () => {
    const rows = Int32Array.of(0, 1);
    for (const aggregation of AGGREGATIONS) {
      const batch = { ...plainBatch(4, [[1], [1]]), logprobs: [0, -1, -3, -9, 0, -9, -9, -2] };
      // worked: (1 + 3)/2 = 2, and .05·2 = .1; then (1 + 3 + 2)/3 = 2, and .3·2 = .6
      for (const [mask, observationLoss, added, pull] of [
        [[0, 1, 1, 0, 0, 0, 0, 0], 0.05, 0.1, -0.025],
        [[0, 1, 1, 0, 0, 0, 0, 1], 0.3, 0.6, -0.1],
      ] as const) {
        const [out, without] = [gradients(8), gradients(8)];
        const settings = { ...PPO, aggregation };
        const parts = objective({ ...batch, observationMask: mask }, rows, { ...settings, observationLoss }, out);
        const before = objective({ ...batch, observationMask: mask }, rows, settings, without);
        close([parts.observationLoss, parts.total - before.total], [2, added], 1e-12);
        close(
          out.dlogprobs.map((g, at) => g - without.dlogprobs[at]!),
          mask.map((m) => (m === 1 ? pull : 0)),
          1e-12,
        );
        expect([...out.policyWeights]).toEqual([...without.policyWeights]);
        expect(before.observationLoss).toBe(0);
      }
    }
  });

  it('observation loss: its gradient is what finite differences of the total find, beside all other terms', () => {
    const batch = randomBatch(4, 6);
    const settings = { ...PPO, klCoef: 0.1, entropyCoef: 0.1, observationLoss: 0.7 };
    const out = gradients(24);
    objective(batch, rows, settings, out);
    const found = batch.logprobs as Float64Array;
    const total = (at: number, by: number) =>
      objective({ ...batch, logprobs: found.map((x, i) => (i === at ? x + by : x)) }, rows, settings, gradients(24))
        .total;
    for (const row of rows)
      for (let at = row * 6; at < row * 6 + 6; at++)
        expect(out.dlogprobs[at]!, `token ${at}`).toBeCloseTo((total(at, 1e-5) - total(at, -1e-5)) / 2e-5, 6);
  });

  it('has nothing to learn from rows whose masks are empty, and divides nothing by 0', () => {
    const none = new Float64Array(24);
    const batch = {
      ...randomBatch(4, 6),
      lossMask: none,
      regularizerMask: none,
      valueMask: none,
      observationMask: none,
    };
    for (const aggregation of AGGREGATIONS) {
      const out = gradients(24);
      const parts = objective(batch, rows, { ...PPO, klCoef: 1, entropyCoef: 1, aggregation }, out);
      expect(Object.values(parts).every((x) => x === 0)).toBe(true);
      for (const all of Object.values(out) as Float64Array[]) expect(all.every((x) => x === 0)).toBe(true);
    }
  });

  it('entropy and KL act where the policy loss is masked out', () => {
    const batch = { ...randomBatch(4, 6), lossMask: new Float64Array(24) };
    const out = gradients(24);
    const parts = objective(batch, rows, { ...PPO, klCoef: 0.1, entropyCoef: 0.1 }, out);
    expect(parts.policyLoss).toBe(0);
    expect(parts.entropy).toBeGreaterThan(0.5);
    expect(out.dlogprobs.some((g) => Math.abs(g) > 1e-4)).toBe(true);
    expect(out.policyWeights.every((g) => g === 0)).toBe(true);
  });
});
