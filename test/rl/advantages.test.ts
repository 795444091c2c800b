import { describe, expect, it } from 'vitest';
import { Purpose, random } from '../../src/base/rng.ts';
import { BASELINES, type GroupBaseline } from '../../src/config/estimators.ts';
import { gae, groupRelative, maskedScores, rewardToGo, whiten } from '../../src/rl/advantages.ts';
import { ALL, close, MASK, REWARDS, SHAPE, VALUES } from './worked.ts';

/** GAE the other way: masked-in tokens packed to the left, the plain recursion, and back to where they came from. */
function packedGae(rewards: number[], values: number[], mask: number[], gamma: number, lambda: number): number[] {
  const places = mask.flatMap((m, at) => (m === 0 ? [] : [at]));
  const out = mask.map(() => 0);
  let advantage = 0;
  for (let k = places.length - 1; k >= 0; k--) {
    const next = k + 1 < places.length ? values[places[k + 1]!]! : 0;
    advantage = rewards[places[k]!]! + gamma * next - values[places[k]!]! + gamma * lambda * advantage;
    out[places[k]!] = advantage;
  }
  return out;
}

describe('generalized advantage estimation', () => {
  it.each([
    [1, 1, [0.9, 0.8, 0.7, 0, 0, 0, 0.5, 0.4, 0, 0, 0.3, 0.2]],
    [1, 0.95, [0.767085, 0.702194, 0.633889, 0, 0, 0, 0.456725, 0.3755, 0, 0, 0.29, 0.2]],
    [0.9, 0.8, [0.245685, 0.244007, 0.255565, 0, 0, 0, 0.146618, 0.14808, 0, 0, 0.164, 0.2]],
  ])('walks from agent token to agent token at γ = %f, λ = %f', (gamma, lambda, want) => {
    close(gae(SHAPE, REWARDS, VALUES, MASK, { gamma, lambda }).advantages, want);
  });

  it('carried over observations it is the recursion over packed agent tokens', () => {
    const draw = random(21, Purpose.environment);
    for (let trial = 0; trial < 20; trial++) {
      const numbers = () => Array.from({ length: 30 }, () => draw.normal());
      const [rewards, values] = [numbers(), numbers()];
      const mask = rewards.map(() => (draw.next() < 0.6 ? 1 : 0));
      const { advantages } = gae({ rows: 1, length: 30 }, rewards, values, mask, { gamma: 0.97, lambda: 0.9 });
      // The same float64 operations in the same order.
      expect([...advantages]).toEqual(packedGae(rewards, values, mask, 0.97, 0.9));
    }
  });

  it.each([
    [1, 1, [0.9, 0.8, 0.7, 0.1, 0.1, 0.1, 0.5, 0.4, 0.1, 0.1, 0.3, 0.2]],
    [
      1,
      0.95,
      [0.757582, 0.692191, 0.623359, 0.024589, 0.025883, 0.027245, 0.449732, 0.368139, 0.071725, 0.0755, 0.29, 0.2],
    ],
    [
      0.9,
      0.8,
      [
        0.244971, 0.243016, 0.254188, -0.355294, -0.368464, -0.386755, 0.08784, 0.066445, -0.199382, -0.15192, 0.164,
        0.2,
      ],
    ],
  ])('decays over observations without the mask at γ = %f, λ = %f', (gamma, lambda, want) => {
    close(gae(SHAPE, REWARDS, VALUES, ALL, { gamma, lambda }).advantages, want);
  });

  it('at γ = λ = 1 un-whitened advantages on agent tokens do not depend on the advantage mask', () => {
    const on = gae(SHAPE, REWARDS, VALUES, MASK, { gamma: 1, lambda: 1 });
    const off = gae(SHAPE, REWARDS, VALUES, ALL, { gamma: 1, lambda: 1 });
    for (const [t, m] of MASK.entries()) {
      if (m === 0) continue;
      expect(on.advantages[t]).toBeCloseTo(off.advantages[t]!, 12);
      expect(on.advantages[t]).not.toBe(0);
    }
    // With λ < 1 they do.
    const decayed = (mask: number[]) => gae(SHAPE, REWARDS, VALUES, mask, { gamma: 1, lambda: 0.95 }).advantages[7]!;
    expect(decayed(MASK) - decayed(ALL)).toBeCloseTo(0.3755 - 0.368139, 6);
  });

  it('returns advantages plus values on the mask', () => {
    const { advantages, returns } = gae(SHAPE, REWARDS, VALUES, MASK, { gamma: 0.9, lambda: 0.8 });
    close(
      returns,
      MASK.map((m, t) => m * (advantages[t]! + VALUES[t]!)),
      1e-15,
    );
    expect(returns[0]).toBeCloseTo(0.445685, 6);
  });

  it('never reads what is masked out', () => {
    const values = VALUES.map((v, t) => (MASK[t] === 0 ? NaN : v));
    const rewards = REWARDS.map((r, t) => (MASK[t] === 0 ? NaN : r));
    const got = gae(SHAPE, rewards, values, MASK, { gamma: 0.9, lambda: 0.8 });
    expect([...got.advantages]).toEqual([...gae(SHAPE, REWARDS, VALUES, MASK, { gamma: 0.9, lambda: 0.8 }).advantages]);
    expect([...maskedScores(SHAPE, rewards, MASK)]).toEqual([1.1]);
  });

  it('a row that was cut off is treated as ended: nothing is bootstrapped after its last token', () => {
    const { advantages } = gae({ rows: 1, length: 3 }, [0, 0, 0], [0.2, 0.3, 0.4], [1, 1, 1], {
      gamma: 0.9,
      lambda: 1,
    });
    expect(advantages[2]).toBe(-0.4);
    close(advantages, [-0.2, -0.3, -0.4], 1e-15);
  });

  it('bootstraps from the value of the next agent token, not of the observation between', () => {
    const mask = [1, 0, 1];
    const { advantages } = gae({ rows: 1, length: 3 }, [0, 0, 0], [0.1, 9, 0.5], mask, { gamma: 0.9, lambda: 0 });
    close(advantages, [0.9 * 0.5 - 0.1, 0, -0.5], 1e-15);
  });

  it('keeps rows apart', () => {
    const twice = (x: number[]) => [...x, ...x.map(() => 0), ...x];
    const { advantages } = gae({ rows: 3, length: 12 }, twice(REWARDS), twice(VALUES), [...MASK, ...MASK, ...MASK], {
      gamma: 0.9,
      lambda: 0.8,
    });
    const alone = gae(SHAPE, REWARDS, VALUES, MASK, { gamma: 0.9, lambda: 0.8 }).advantages;
    expect([...advantages]).toEqual([...alone, ...MASK.map(() => 0), ...alone]);
  });
});

describe('reward to go', () => {
  it('is carried over observations, not set back there', () => {
    close(rewardToGo(SHAPE, REWARDS, MASK, 0.9), [0.612441, 0.68049, 0.7561, 0, 0, 0, 0.729, 0.81, 0, 0, 0.9, 1]);
  });
});

describe('whitening', () => {
  const worked = (mask: number[], lambda = 1) => gae(SHAPE, REWARDS, VALUES, mask, { gamma: 1, lambda }).advantages;
  const SKIP = [1.354488, 0.975231, 0.595975, 0, 0, 0, -0.162539, -0.541795, 0, 0, -0.921052, -1.300308];

  it('agrees with the worked row and is exactly 0 at observations', () => {
    const advantages = worked(MASK);
    whiten(advantages, MASK, MASK);
    close(advantages, SKIP);
    for (const [t, m] of MASK.entries()) if (m === 0) expect(advantages[t]).toBe(0);
  });

  it('leaves −mean/std at observations that are kept', () => {
    const advantages = worked(MASK);
    whiten(advantages, MASK, ALL);
    close(
      advantages,
      SKIP.map((a, t) => (MASK[t] === 0 ? -2.058822 : a)),
    );
  });

  it('agrees with the worked row at λ = .95', () => {
    const advantages = worked(MASK, 0.95);
    whiten(advantages, MASK, MASK);
    close(advantages, [1.283819, 0.983875, 0.668144, 0, 0, 0, -0.150766, -0.526214, 0, 0, -0.921424, -1.337434]);
  });

  it('takes observations into its statistics when they are in the mask: the visible effect at γ = λ = 1', () => {
    const advantages = worked(ALL);
    whiten(advantages, ALL, ALL);
    const obs = -0.861474;
    close(advantages, [1.806316, 1.472842, 1.139368, obs, obs, obs, 0.472421, 0.138947, obs, obs, -0.194526, -0.528]);
  });

  it('leaves mean 0 and unbiased variance 1 over the mask', () => {
    const advantages = worked(MASK, 0.95);
    whiten(advantages, MASK, MASK);
    const kept = [...advantages].filter((_, t) => MASK[t] === 1);
    const mean = kept.reduce((a, x) => a + x, 0) / kept.length;
    expect(mean).toBeCloseTo(0, 12);
    // The eps of 1e-8 beside a variance of 0.05 costs 2e-7.
    expect(kept.reduce((a, x) => a + (x - mean) ** 2, 0) / (kept.length - 1)).toBeCloseTo(1, 6);
  });

  it.each([
    ['no token', [3, 4], [0, 0]],
    ['one token', [3, 4], [0, 1]],
    ['tokens that are all the same', [0.7, 0.7, 0.7], [1, 1, 1]],
  ])('gives 0, not NaN, for %s', (_, values, mask) => {
    const advantages = Float64Array.from(values);
    whiten(
      advantages,
      mask,
      mask.map(() => 1),
    );
    // A mean off by a rounding of 1e-16, times at most 1/√1e-8.
    if (mask.every((m) => m === 1)) for (const a of advantages) expect(Math.abs(a)).toBeLessThan(1e-11);
    else expect([...advantages].map(Math.abs)).toEqual(values.map(() => 0));
  });

  it('weighs by tokens: rows whose centred score is 0 come out with another', () => {
    const lengths = [4, 2, 3, 3];
    const advantages = Float64Array.from(lengths.flatMap((n, b) => new Array<number>(n).fill([0.5, -0.5, 0, 0][b]!)));
    const all = lengths.flatMap((n) => new Array<number>(n).fill(1));
    whiten(advantages, all, all);
    close(
      advantages,
      lengths.flatMap((n, b) => new Array<number>(n).fill([1.161051, -1.625471, -0.23221, -0.23221][b]!)),
    );
  });
});

describe('group-relative advantages', () => {
  const relative = (scores: number[], baseline: Parameters<typeof groupRelative>[2], groups = scores.map(() => 0)) => [
    ...groupRelative(scores, groups, baseline),
  ];
  const comparisons = Object.keys(BASELINES) as GroupBaseline[];

  it('divide by the n − 1 standard deviation (GRPO)', () => {
    close(relative([1, 0, 0, 1], 'mean-over-std'), [0.866024, -0.866024, -0.866024, 0.866024]);
    close(relative([1, 0, 0, 0], 'mean-over-std'), [1.499997, -0.499999, -0.499999, -0.499999]);
    // Printed to one digit; the eps of 1e-6 beside a spread of .8 costs 2e-6.
    close(relative([0.6, 0.6, 0.6, -1], 'mean-over-std'), [0.5, 0.5, 0.5, -1.5], 2e-6);
  });

  it('only subtract the mean without the division (Dr. GRPO)', () => {
    close(relative([1, 0, 0, 1], 'mean'), [0.5, -0.5, -0.5, 0.5], 1e-15);
  });

  it('compare with the mean of the others (RLOO)', () => {
    close(relative([1, 0, 0, 1], 'leave-one-out'), [0.666667, -0.666667, -0.666667, 0.666667]);
    close(relative([1, 0, 0, 0], 'leave-one-out'), [1, -0.333333, -0.333333, -0.333333]);
  });

  it.each(comparisons)('are exactly 0 for equal scores, by %s', (baseline) => {
    expect(relative([0.3, 0.3, 0.3], baseline)).toEqual([0, 0, 0]);
  });

  it.each(comparisons)('are exactly 0 where only float32 noise sets scores apart, by %s', (baseline) => {
    let noisy = 0;
    for (let i = 0; i < 10; i++) noisy = Math.fround(noisy - Math.fround(0.1));
    expect(noisy).not.toBe(-1);
    expect(relative([-1, noisy, -1, noisy], baseline)).toEqual([0, 0, 0, 0]);
  });

  it.each(comparisons)('are 0 in a group of one: alone it says nothing about better or worse, by %s', (baseline) => {
    expect(relative([5, 2, 0], baseline, [0, 1, 1])[0]).toBe(0);
    expect(relative([5, 2, 0], baseline, [0, 1, 1])[1]).not.toBe(0);
  });

  it('follow group ids, not places', () => {
    close(relative([1, 10, 0, 30], 'mean', [7, 3, 7, 3]), [0.5, -10, -0.5, 10], 1e-12);
    const scores = [1, 0, 0, 0, 0.2, 0.7, 0.4, 0.4];
    const groups = [0, 0, 0, 0, 1, 1, 1, 1];
    const order = Int32Array.from(scores, (_, b) => b);
    random(6, Purpose.shuffle).shuffle(order);
    const dealt = relative(
      [...order].map((b) => scores[b]!),
      'mean-over-std',
      [...order].map((b) => groups[b]!),
    );
    const sorted = relative(scores, 'mean-over-std', groups);
    close(
      dealt,
      [...order].map((b) => sorted[b]!),
      1e-12,
    );
  });

  it('leave rows of no group out of every statistic', () => {
    expect(relative([1, 100, 0, -100], 'mean', [0, -1, 0, -1])).toEqual([0.5, 0, -0.5, 0]);
  });
});
