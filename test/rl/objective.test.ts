import { describe, expect, it } from 'vitest';
import type { ObjectiveBatch, ObjectiveSettings, TokenGradients } from '../../src/model/policy.ts';
import { Purpose, random } from '../../src/rng.ts';
import { clippedValueLoss, klEstimate, objective, surrogate } from '../../src/rl/objective.ts';

const PPO: ObjectiveSettings = {
  surrogate: 'clipped',
  clipLow: 0.2,
  clipHigh: 0.2,
  dualClip: 3,
  klEstimator: 'k3',
  klCoef: 0,
  entropyCoef: 0,
  valueCoef: 0.5,
  valueClip: 0.5,
  aggregation: 'token-mean',
};

const gradients = (size: number): TokenGradients => ({
  dlogprobs: new Float64Array(size),
  dentropies: new Float64Array(size),
  dvalues: new Float64Array(size),
});

/** A batch of B rows of T with random numbers and masks. */
function randomBatch(rows: number, length: number): ObjectiveBatch & Record<string, Float64Array | number> {
  const draw = random(3, Purpose.environment);
  const numbers = (scale: number, shift = 0) =>
    Float64Array.from({ length: rows * length }, () => shift + scale * draw.normal());
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
    lossMask: Float64Array.from({ length: rows * length }, () => (draw.next() < 0.6 ? 1 : 0)),
    valueMask: Float64Array.from({ length: rows * length }, () => (draw.next() < 0.6 ? 1 : 0)),
  };
}

describe('the clipped surrogate', () => {
  const branches: [number, number, number, number, number, boolean, boolean][] = [
    // A, ρ, clipHigh, loss, gradient, clipped, lower clip
    [1, 0.5, 0.2, -0.5, -0.5, false, false],
    [1, 1.2, 0.2, -1.2, -1.2, false, false],
    [1, 1.21, 0.2, -1.2, 0, true, false],
    [1, 1.21, 0.28, -1.21, -1.21, false, false],
    [1, 1.3, 0.2, -1.2, 0, true, false],
    [1, 1.3, 0.28, -1.28, 0, true, false],
    [-1, 0.5, 0.2, 0.8, 0, true, false],
    [-1, 0.79, 0.2, 0.8, 0, true, false],
    [-1, 1.3, 0.2, 1.3, 1.3, false, false],
    [-1, 2.9, 0.2, 2.9, 2.9, false, false],
    [-1, 3.5, 0.2, 3, 0, false, true],
    [0, 3.5, 0.2, 0, 0, false, false],
  ];
  it.each(branches)(
    'at A = %f, ρ = %f, clipHigh = %f',
    (advantage, ratio, clipHigh, loss, gradient, clipped, lower) => {
      // 1.2 is the boundary itself, and log then exp would miss it by a rounding.
      const logprob = ratio === 1.2 ? Math.log(ratio) - 1e-15 : Math.log(ratio);
      const got = surrogate(logprob, 0, advantage, { ...PPO, clipHigh });
      expect(got.loss).toBeCloseTo(loss, 12);
      if (gradient === 0) expect(Math.abs(got.gradient)).toBe(0);
      else expect(got.gradient).toBeCloseTo(gradient, 12);
      expect([got.clipped, got.lowerClipped]).toEqual([clipped, lower]);
    },
  );

  it('stays finite and flat where the log-ratio leaves ±20', () => {
    const far = surrogate(100, 0, -1, { ...PPO, dualClip: 0 });
    expect(far.loss).toBeCloseTo(Math.exp(20), 0);
    expect(far.gradient).toBe(0);
  });

  it('without a dual clip follows a negative advantage past any ratio', () => {
    expect(surrogate(Math.log(3.5), 0, -1, { ...PPO, dualClip: 0 }).gradient).toBeCloseTo(3.5, 12);
  });
});

describe('the worked per-logit example', () => {
  it('gives its loss and gradient', () => {
    const logits = [0.2, -0.1, 0.4, 0.3].map((z) => z / 0.7);
    const norm = Math.log(logits.reduce((a, z) => a + Math.exp(z), 0));
    const logp = logits.map((z) => z - norm);
    const entropy = -logp.reduce((a, l) => a + Math.exp(l) * l, 0);
    const one = (x: number) => [x];
    const out = gradients(1);
    const settings = { ...PPO, clipHigh: 0.28, entropyCoef: 0.01, klCoef: 0.05 };
    const parts = objective(
      {
        length: 1,
        logprobs: one(logp[2]!),
        entropies: one(entropy),
        values: one(0),
        oldLogprobs: one(-1.2),
        refLogprobs: one(-1),
        oldValues: one(0),
        advantages: one(0.8),
        returns: one(0),
        lossMask: one(1),
        valueMask: one(0),
      },
      Int32Array.of(0),
      settings,
      out,
    );
    expect(parts.total).toBeCloseTo(-0.867712, 6);
    const want = [0.297461, 0.192814, -0.833985, 0.34371];
    for (const [k, l] of logp.entries()) {
      const p = Math.exp(l);
      const dz = (out.dlogprobs[0]! * ((k === 2 ? 1 : 0) - p) - out.dentropies[0]! * p * (l + entropy)) / 0.7;
      expect(dz).toBeCloseTo(want[k]!, 6);
    }
  });
});

describe('KL estimators', () => {
  it.each([
    [-1, -1, 0.5, 0.718282, -1.718282],
    [-0.5, -0.5, 0.125, 0.148721, -0.648721],
    [0.5, 0.5, 0.125, 0.106531, 0.393469],
    [1, 1, 0.5, 0.367879, 0.632121],
  ])('at δ = %f', (delta, k1, k2, k3, dk3) => {
    expect(klEstimate(delta, 0, 'k1')).toEqual({ kl: k1, gradient: 1 });
    expect(klEstimate(delta, 0, 'k2')).toEqual({ kl: k2, gradient: delta });
    const third = klEstimate(delta, 0, 'k3');
    expect(third.kl).toBeCloseTo(k3, 6);
    expect(third.gradient).toBeCloseTo(dk3, 6);
  });

  it('pulls hardest where the policy has drifted most: k3 is not clamped at three nats', () => {
    expect(klEstimate(-3, 0, 'k3').gradient).toBeCloseTo(-19.0855, 3);
  });
});

describe('the clipped value loss', () => {
  it.each([
    [1.2, 0.5, 1, 0.02, 0.2],
    [1.2, 0.5, 2, 0.5, 0],
    [0.6, 0.5, 1, 0.08, -0.4],
  ])('at v = %f, old = %f, return = %f', (value, old, target, loss, gradient) => {
    const got = clippedValueLoss(value, old, target, 0.5);
    expect(got.loss).toBeCloseTo(loss, 12);
    expect(got.gradient).toBeCloseTo(gradient, 12);
  });
});

/** Two rows whose token losses are all 1 and all 3: A = −1 and −3 at ratio 1. */
const twoRows = (extra: number) => {
  const lossMask = [1, 1, 1, 1, 1, 1, 0, 0, ...Array.from({ length: 4 * extra }, () => 0)];
  const zeros = lossMask.map(() => 0);
  return {
    length: 4,
    logprobs: zeros,
    entropies: zeros,
    values: zeros,
    oldLogprobs: zeros,
    refLogprobs: zeros,
    oldValues: zeros,
    advantages: lossMask.map((_, i) => (i < 4 ? -1 : -3)),
    returns: zeros,
    lossMask,
    valueMask: zeros,
  };
};

describe('aggregation', () => {
  it.each([
    ['token-mean', 10 / 6],
    ['seq-mean-token-sum', 5],
    ['seq-mean-token-mean', 2],
  ] as const)('%s, and rows without a loss token do not count', (aggregation, want) => {
    for (const extra of [0, 2]) {
      const batch = twoRows(extra);
      const rows = Int32Array.from({ length: 2 + extra }, (_, i) => i);
      expect(objective(batch, rows, { ...PPO, aggregation }, gradients(batch.lossMask.length)).policyLoss).toBeCloseTo(
        want,
        12,
      );
    }
  });

  it('shares the gradient of a row by tokens or by rows: twice the tokens is twice the share of token-mean only', () => {
    for (const [aggregation, share] of [
      ['token-mean', 2],
      ['seq-mean-token-mean', 1],
    ] as const) {
      const batch = { ...twoRows(0), advantages: new Array<number>(8).fill(1) };
      const out = gradients(8);
      objective(batch, Int32Array.of(0, 1), { ...PPO, aggregation }, out);
      const sum = (from: number) => out.dlogprobs.slice(from, from + 4).reduce((a, g) => a + g, 0);
      expect(sum(0) / sum(4)).toBeCloseTo(share, 12);
    }
  });
});

describe('the objective', () => {
  const rows = Int32Array.of(0, 2, 3);

  it.each(['token-mean', 'seq-mean-token-sum', 'seq-mean-token-mean'] as const)(
    'has the gradients that finite differences find, with %s',
    (aggregation) => {
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
          }
        }
      }
    },
  );

  it('never reads what its masks leave out, and touches no other row', () => {
    const clean = randomBatch(4, 6);
    const dirty = randomBatch(4, 6);
    for (let at = 0; at < 24; at++) {
      const loss = ['logprobs', 'entropies', 'oldLogprobs', 'refLogprobs', 'advantages'];
      const value = ['values', 'oldValues', 'returns'];
      for (const name of clean.lossMask[at] === 0 ? loss : []) (dirty[name] as Float64Array)[at] = NaN;
      for (const name of clean.valueMask[at] === 0 ? value : []) (dirty[name] as Float64Array)[at] = NaN;
    }
    const out = gradients(24);
    out.dlogprobs.fill(7);
    const want = objective(clean, rows, { ...PPO, klCoef: 0.1, entropyCoef: 0.1 }, gradients(24));
    expect(objective(dirty, rows, { ...PPO, klCoef: 0.1, entropyCoef: 0.1 }, out)).toEqual(want);
    expect([...out.dlogprobs.slice(6, 12)]).toEqual([7, 7, 7, 7, 7, 7]);
    for (let at = 12; at < 24; at++) if (clean.lossMask[at] === 0) expect(out.dlogprobs[at]).toBe(0);
    expect(out.dlogprobs.slice(12).some((g) => g !== 0)).toBe(true);
    expect([...out.dlogprobs, ...out.dvalues, ...out.dentropies].some(Number.isNaN)).toBe(false);
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
  });

  it('has nothing to learn from rows whose masks are empty', () => {
    const batch = { ...randomBatch(4, 6), lossMask: new Float64Array(24), valueMask: new Float64Array(24) };
    const out = gradients(24);
    const parts = objective(batch, rows, { ...PPO, klCoef: 1, entropyCoef: 1 }, out);
    expect(Object.values(parts).every((x) => x === 0)).toBe(true);
    expect([...out.dlogprobs, ...out.dentropies, ...out.dvalues].every((x) => x === 0)).toBe(true);
  });
});
