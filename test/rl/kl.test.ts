import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { KlEstimator, MaskSwitches } from '../../src/model/learningSettings.ts';
import { meanRowKl, nextKlCoef } from '../../src/rl/klController.ts';
import { klEstimate } from '../../src/rl/objective.ts';
import { Role } from '../../src/domain/tokens.ts';
import { close, creditOf, MASK, off, ON, REWARDS, ROW, VALUES } from './worked.ts';

/** Estimates and their derivatives by the policy's log-probability, made by test/python/write_kl_fixture.py. */
const VERL = JSON.parse(readFileSync(new URL('../fixtures/klVerl.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly ({ readonly logprob: number; readonly reference: number } & Readonly<
    Record<KlEstimator, readonly [kl: number, gradient: number]>
  >)[];
};

const softmax = (z: readonly number[]) => {
  const sum = z.reduce((a, x) => a + Math.exp(x), 0);
  return z.map((x) => Math.exp(x) / sum);
};

describe('KL estimators', () => {
  it.each([
    [-1, -1, 0.5, 0.718282, -1.718282],
    [-0.5, -0.5, 0.125, 0.148721, -0.648721],
    [0.5, 0.5, 0.125, 0.106531, 0.393469],
    [1, 1, 0.5, 0.367879, 0.632121],
  ])('agree with the worked table at δ = %f', (delta, k1, k2, k3, dk3) => {
    expect(klEstimate(delta, 0, 'k1')).toEqual({ kl: k1, gradient: 1 });
    expect(klEstimate(delta, 0, 'k2')).toEqual({ kl: k2, gradient: delta });
    const third = klEstimate(delta, 0, 'k3');
    expect(third.kl).toBeCloseTo(k3, 6);
    expect(third.gradient).toBeCloseTo(dk3, 6);
  });

  // Four tokens; the sum over them is the expectation under the policy, exactly.
  const logits = [0.2, -0.1, 0.4, 0.3];
  const reference = softmax([0.5, 0.1, -0.3, 0]);
  const policy = softmax(logits);
  const expected = (kind: KlEstimator) =>
    policy.reduce((sum, p, a) => sum + p * klEstimate(Math.log(p), Math.log(reference[a]!), kind).kl, 0);
  const divergence = (p: readonly number[]) => p.reduce((sum, x, a) => sum + x * Math.log(x / reference[a]!), 0);

  it('k1 and k3 are unbiased: their mean over the policy is the reverse KL', () => {
    expect(divergence(policy)).toBeGreaterThan(0.05);
    expect(expected('k1')).toBeCloseTo(divergence(policy), 12);
    expect(expected('k3')).toBeCloseTo(divergence(policy), 12);
    expect(Math.abs(expected('k2') - divergence(policy))).toBeGreaterThan(1e-4);
  });

  /** Expected gradient of an estimator as a loss with respect to logit k: Σ_a p_a · dk/dlogp · (1[a = k] − p_k). */
  const lossGradient = (kind: KlEstimator) =>
    policy.map((own, k) =>
      policy.reduce((sum, p, a) => {
        const { gradient } = klEstimate(Math.log(p), Math.log(reference[a]!), kind);
        return sum + p * gradient * ((a === k ? 1 : 0) - own);
      }, 0),
    );
  const reverseKlGradient = logits.map((_, k) => {
    const moved = (by: number) => divergence(softmax(logits.map((z, j) => (j === k ? z + by : z))));
    return (moved(1e-5) - moved(-1e-5)) / 2e-5;
  });

  it('k1 as a loss teaches nothing on average, and k2 teaches the exact gradient of the reverse KL', () => {
    expect(Math.max(...reverseKlGradient.map(Math.abs))).toBeGreaterThan(0.05);
    for (const g of lossGradient('k1')) expect(Math.abs(g)).toBeLessThan(1e-15);
    // Central differences of step 1e-5 are good to about 1e-10.
    close(lossGradient('k2'), reverseKlGradient, 1e-9);
    // k3 is biased.
    expect(Math.abs(lossGradient('k3')[2]! - reverseKlGradient[2]!)).toBeGreaterThan(1e-3);
  });

  it.each(VERL.cases)('are those of verl’s own code at log-probabilities $logprob and $reference', (pair) => {
    for (const kind of ['k1', 'k2', 'k3'] as const) {
      const { kl, gradient } = klEstimate(pair.logprob, pair.reference, kind);
      const [wantedKl, wantedGradient] = pair[kind];
      // both are float64: the last bits of exp may differ
      expect(Math.abs(kl - wantedKl), kind).toBeLessThanOrEqual(1e-12 * Math.max(1, Math.abs(wantedKl)));
      expect(Math.abs(gradient - wantedGradient), kind).toBeLessThanOrEqual(
        1e-12 * Math.max(1, Math.abs(wantedGradient)),
      );
    }
  });

  it('k3 is 10 and without a gradient at log-probabilities −6 and −1', () => {
    expect(klEstimate(-6, -1, 'k3')).toEqual({ kl: 10, gradient: 0 });
  });

  it.each(['k1', 'k2', 'k3'] as const)(
    '%s has the gradient that finite differences find, on both sides of its bound',
    (kind) => {
      for (const { logprob, reference } of VERL.cases) {
        const at = (x: number) => klEstimate(x, reference, kind).kl;
        const found = (at(logprob + 1e-6) - at(logprob - 1e-6)) / 2e-6;
        expect(klEstimate(logprob, reference, kind).gradient).toBeCloseTo(found, 5);
      }
    },
  );
});

describe('the adaptive coefficient', () => {
  it.each([
    [0.2, 0.00100256],
    [0.05, 0.00099744],
    [0.105, 0.00100064],
  ])('after a KL of %f is the worked one', (measured, want) => {
    expect(nextKlCoef(0.001, measured, 0.1, 1e4, 128)).toBeCloseTo(want, 12);
  });

  it('stays where it is on target, and at 0', () => {
    expect(nextKlCoef(0.001, 0.1, 0.1, 1e4, 128)).toBe(0.001);
    expect(nextKlCoef(0, 5, 0.1, 1e4, 128)).toBe(0);
  });

  it('refuses a target or a horizon of 0, and a KL that is not a number', () => {
    expect(() => nextKlCoef(0.001, 0.2, 0, 1e4, 128)).toThrow(/target 0/);
    expect(() => nextKlCoef(0.001, 0.2, 0.1, 0, 128)).toThrow(/horizon 0/);
    expect(() => nextKlCoef(0.001, NaN, 0.1, 1e4, 128)).toThrow(/KL is NaN/);
  });

  it('looks at the mean over rows of row means, without rows that have no token', () => {
    const batch = {
      rows: 3,
      length: 3,
      oldLogprobs: [0.3, 0.1, NaN, NaN, NaN, NaN, 0.6, NaN, NaN],
      refLogprobs: [0, 0, 0, 0, 0, 0, 0, 0, 0],
    };
    expect(meanRowKl(batch, [1, 1, 0, 0, 0, 0, 1, 0, 0], 'k1')).toBeCloseTo((0.2 + 0.6) / 2, 12);
    expect(meanRowKl(batch, [1, 1, 0, 0, 0, 0, 1, 0, 0], 'k2')).toBeCloseTo((0.025 + 0.18) / 2, 12);
    expect(meanRowKl(batch, new Float32Array(9), 'k1')).toBe(0);
  });
});

describe('KL in the reward', () => {
  const old = MASK.map((_, t) => -1 - t / 20);
  const reference = MASK.map((_, t) => -1.3 + t / 30);
  const kl = old.map((o, t) => o - reference[t]!);

  it('is taken off at agent tokens only, and at observations too with its mask off', () => {
    const paid = creditOf(ROW, REWARDS, { klCoef: 0.1 }, { values: VALUES, old, reference });
    close(
      paid.rewards,
      REWARDS.map((r, t) => r - 0.1 * MASK[t]! * kl[t]!),
      1e-12,
    );
    const everywhere = creditOf(
      ROW,
      REWARDS,
      { klCoef: 0.1, masks: off('klReward') },
      { values: VALUES, old, reference },
    );
    close(
      everywhere.rewards,
      REWARDS.map((r, t) => r - 0.1 * kl[t]!),
      1e-12,
    );
    // The recursion drops what stands at observations, so there it changes nothing.
    expect([...everywhere.returns]).toEqual([...paid.returns]);
    expect(paid.returns[0]).toBeCloseTo(1.1 - 0.1 * kl.reduce((a, x, t) => a + MASK[t]! * x, 0), 12);
  });

  it('reaches the returns of agent tokens from observations only where the advantage mask is off', () => {
    const returns = (masks: MaskSwitches) =>
      creditOf(ROW, REWARDS, { klCoef: 0.1, masks }, { values: VALUES, old, reference }).returns[0]!;
    expect(returns(off('advantage'))).toBeCloseTo(returns(ON), 12);
    expect(returns(off('advantage', 'klReward'))).toBeCloseTo(1.1 - 0.1 * kl.reduce((a, x) => a + x, 0), 12);
  });

  it('enters the scores of a group before they are divided by their spread', () => {
    const roles = [[Role.action], [Role.action]];
    const given = { groups: [0, 0], old: [-1, -1], reference: [-3, -1] };
    // Both were paid 1; only KL sets them apart, and grpo blows that up to a whole advantage.
    const { advantages, rewards } = creditOf(roles, [1, 1], { estimator: 'grpo', klCoef: 0.001 }, given);
    close(rewards, [0.998, 1], 1e-12);
    close(advantages, [-Math.SQRT1_2, Math.SQRT1_2], 1e-3);
    expect([...creditOf(roles, [1, 1], { estimator: 'grpo' }, given).advantages]).toEqual([0, 0]);
  });

  it('makes no turns for bi-level advantages: turns end where the agent stops writing', () => {
    const discount = { estimator: 'bi-level-gae', turnGamma: 0.5, whiten: false, klCoef: 0.1 } as const;
    const paid = creditOf(ROW, REWARDS, discount, { values: VALUES, old, reference });
    // By hand from the last turn back: ends at 11, 7 and 2, values there .8, .6, .4; 10 and 6 are paid inside their turns.
    const r = paid.rewards;
    const last = r[11]! - 0.8;
    const middle = r[7]! + 0.5 * (r[10]! + 0.8) - 0.6 + 0.5 * last;
    const first = r[2]! + 0.5 * (r[6]! + 0.6) - 0.4 + 0.5 * middle;
    close([paid.returns[11]!, paid.returns[7]!, paid.returns[2]!], [last + 0.8, middle + 0.6, first + 0.4], 1e-12);
    close([paid.returns[0]!, paid.returns[6]!], [r[0]! + r[1]! + first + 0.4, r[6]! + middle + 0.6], 1e-12);
  });

  it('reads no log-probability where nothing is paid', () => {
    const holes = (x: number[]) => x.map((l, t) => (MASK[t] === 0 ? NaN : l));
    const clean = creditOf(ROW, REWARDS, { klCoef: 0.1 }, { values: VALUES, old, reference });
    const dirty = creditOf(
      ROW,
      REWARDS,
      { klCoef: 0.1 },
      { values: holes(VALUES), old: holes(old), reference: holes(reference) },
    );
    expect(dirty).toEqual(clean);
  });
});
