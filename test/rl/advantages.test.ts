import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CreditSettings } from '../../src/model/policy.ts';
import { credit, gae, groupRelative, maskedScores, responseMask, whiten } from '../../src/rl/advantages.ts';

const SETTINGS: CreditSettings = {
  estimator: 'gae',
  gamma: 1,
  lambda: 1,
  divideByStd: true,
  whiten: true,
  lossMask: true,
  advantageMask: true,
};
// One row of twelve response tokens: three turns of the agent, two observations between them.
const MASK = [1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 1, 1];
const REWARDS = [0, 0, 0.1, 0, 0, 0, 0, 0, 0, 0, 0, 1];
const VALUES = [0.2, 0.3, 0.4, 0.9, 0.9, 0.9, 0.5, 0.6, 0.9, 0.9, 0.7, 0.8];
const SHAPE = { rows: 1, length: 12 };
const ALL = MASK.map(() => 1);

/** The given digits of printed numbers: half a unit of the last one, and a little for the rounding of the sums. */
const close = (got: ArrayLike<number>, want: readonly number[], tolerance = 6e-7) => {
  expect(got.length).toBe(want.length);
  for (const [i, x] of want.entries())
    expect(Math.abs(got[i]! - x), `entry ${i}: ${got[i]} for ${x}`).toBeLessThan(tolerance);
};

describe('generalized advantage estimation', () => {
  const agent: [number, number, number[]][] = [
    [1, 1, [0.9, 0.8, 0.7, 0, 0, 0, 0.5, 0.4, 0, 0, 0.3, 0.2]],
    [1, 0.95, [0.767085, 0.702194, 0.633889, 0, 0, 0, 0.456725, 0.3755, 0, 0, 0.29, 0.2]],
    [0.9, 0.8, [0.245685, 0.244007, 0.255565, 0, 0, 0, 0.146618, 0.14808, 0, 0, 0.164, 0.2]],
  ];
  it.each(agent)('walks from agent token to agent token at γ = %f, λ = %f', (gamma, lambda, want) => {
    close(gae(SHAPE, REWARDS, VALUES, MASK, { gamma, lambda }).advantages, want);
  });

  const plain: [number, number, number[]][] = [
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
  ];
  it.each(plain)('decays over observations without the mask at γ = %f, λ = %f', (gamma, lambda, want) => {
    close(gae(SHAPE, REWARDS, VALUES, ALL, { gamma, lambda }).advantages, want);
  });

  it('gives the same agent tokens with and without the mask at γ = λ = 1, and returns = advantages + values', () => {
    const on = gae(SHAPE, REWARDS, VALUES, MASK, { gamma: 1, lambda: 1 });
    const off = gae(SHAPE, REWARDS, VALUES, ALL, { gamma: 1, lambda: 1 });
    for (const [t, m] of MASK.entries()) {
      if (m === 0) continue;
      expect(on.advantages[t]).toBeCloseTo(off.advantages[t]!, 12);
      expect(on.returns[t]).toBeCloseTo(on.advantages[t]! + VALUES[t]!, 12);
    }
  });

  it('never reads what is masked out', () => {
    const values = VALUES.map((v, t) => (MASK[t] === 0 ? NaN : v));
    const rewards = REWARDS.map((r, t) => (MASK[t] === 0 ? NaN : r));
    const got = gae(SHAPE, rewards, values, MASK, { gamma: 0.9, lambda: 0.8 });
    expect([...got.advantages]).toEqual([...gae(SHAPE, REWARDS, VALUES, MASK, { gamma: 0.9, lambda: 0.8 }).advantages]);
  });
});

describe('whitening', () => {
  it('agrees with the worked row and is exactly 0 at observations', () => {
    const { advantages } = gae(SHAPE, REWARDS, VALUES, MASK, { gamma: 1, lambda: 1 });
    whiten(advantages, MASK);
    close(advantages, [1.354488, 0.975231, 0.595975, 0, 0, 0, -0.162539, -0.541795, 0, 0, -0.921052, -1.300308]);
    for (const [t, m] of MASK.entries()) if (m === 0) expect(advantages[t]).toBe(0);
  });

  it('takes observations into its statistics when they are in the mask', () => {
    const { advantages } = gae(SHAPE, REWARDS, VALUES, ALL, { gamma: 1, lambda: 1 });
    whiten(advantages, ALL);
    close(
      advantages,
      [
        1.806316, 1.472842, 1.139368, -0.861474, -0.861474, -0.861474, 0.472421, 0.138947, -0.861474, -0.861474,
        -0.194526, -0.528,
      ],
    );
  });

  it('leaves mean 0 and unbiased variance 1 over the mask', () => {
    const { advantages } = gae(SHAPE, REWARDS, VALUES, MASK, { gamma: 1, lambda: 0.95 });
    whiten(advantages, MASK);
    const kept = [...advantages].filter((_, t) => MASK[t] === 1);
    const mean = kept.reduce((a, x) => a + x, 0) / kept.length;
    expect(mean).toBeCloseTo(0, 12);
    // The eps of 1e-8 beside a variance of 0.05 costs 2e-7.
    expect(kept.reduce((a, x) => a + (x - mean) ** 2, 0) / (kept.length - 1)).toBeCloseTo(1, 6);
  });

  it('gives 0 for no token, one token, and tokens that are all the same', () => {
    for (const [values, mask] of [
      [
        [3, 4],
        [0, 0],
      ],
      [
        [3, 4],
        [0, 1],
      ],
      [
        [0.7, 0.7, 0.7],
        [1, 1, 1],
      ],
    ] as const) {
      const advantages = Float64Array.from(values);
      whiten(advantages, mask);
      for (const a of advantages) expect(Math.abs(a)).toBeLessThan(1e-9);
    }
  });
});

describe('group-relative advantages', () => {
  const relative = (scores: number[], divide: boolean, groups = scores.map(() => 0)) =>
    groupRelative(scores, groups, divide);

  it('divides by the n − 1 standard deviation', () => {
    close(relative([1, 0, 0, 1], true), [0.866024, -0.866024, -0.866024, 0.866024]);
    close(relative([1, 0, 0, 0], true), [1.499997, -0.499999, -0.499999, -0.499999]);
    close(relative([0.6, 0.6, 0.6, -1], true), [0.5, 0.5, 0.5, -1.5], 2e-6);
  });

  it('only subtracts the mean without the division (Dr. GRPO)', () => {
    close(relative([1, 0, 0, 1], false), [0.5, -0.5, -0.5, 0.5], 1e-15);
  });

  it('is exactly 0 for equal scores, float noise included, and for a group of one', () => {
    for (const divide of [true, false]) {
      expect([...relative([0.3, 0.3, 0.3], divide)]).toEqual([0, 0, 0]);
      expect([...relative([-1, -1.0000001, -1, -1.0000001], divide)]).toEqual([0, 0, 0, 0]);
      expect([...relative([5], divide)]).toEqual([0]);
    }
  });

  it('follows group ids, not places', () => {
    close(relative([1, 10, 0, 30], false, [7, 3, 7, 3]), [0.5, -10, -0.5, 10], 1e-12);
  });
});

interface Case {
  readonly name: string;
  readonly gamma: number;
  readonly lambda: number;
  readonly roles: number[][];
  readonly rewards: number[][];
  readonly values: number[][];
  readonly groups: number[];
  readonly expect: Record<string, { readonly advantages: number[][]; readonly returns?: number[][] }>;
}
const { cases } = JSON.parse(readFileSync(new URL('../golden/advantages.json', import.meta.url), 'utf8')) as {
  cases: Case[];
};

// Inputs and results are printed to nine decimals, so float64 agrees to a few units of the last one (1.1e-9 at worst for grpo).
const PUBLISHED = 3e-9;

describe.each(cases.map((c) => [c.name, c] as const))('published numbers, %s', (_, c) => {
  const shape = { rows: c.roles.length, length: c.roles[0]!.length };
  const roles = Uint8Array.from(c.roles.flat());
  const agent = responseMask(roles, true);

  it.each([
    ['gae', true],
    ['gae_no_advantage_mask', false],
  ] as const)('%s', (name, agentOnly) => {
    const mask = responseMask(roles, agentOnly);
    const got = gae(shape, c.rewards.flat(), c.values.flat(), mask, c);
    const want = c.expect[name]!;
    close(
      got.returns.map((x, i) => x * mask[i]!),
      want.returns!.flat(),
      PUBLISHED,
    );
    whiten(got.advantages, mask);
    close(got.advantages, want.advantages.flat(), PUBLISHED);
  });

  it.each([
    ['grpo', true],
    ['grpo_no_std', false],
  ] as const)('%s', (name, divide) => {
    const perRow = groupRelative(maskedScores(shape, c.rewards.flat(), agent), c.groups, divide);
    const got = [...agent].map((m, at) => m * perRow[Math.floor(at / shape.length)]!);
    close(got, c.expect[name]!.advantages.flat(), PUBLISHED);
  });
});

describe('credit', () => {
  const roles = Uint8Array.from([1, 1, 2, 2, 3, 2, 0, 0, 1, 2, 3, 3, 2, 2, 2, 0]);
  const batch = { rows: 2, length: 8, roles, values: Float64Array.from(roles, (_, i) => i / 10) };
  const rewards = new Float32Array(16);
  rewards[5] = 1;
  const masks = (lossMask: boolean, advantageMask: boolean, estimator: 'gae' | 'grpo' = 'gae') =>
    credit(batch, rewards, Int32Array.of(0, 0), { ...SETTINGS, lossMask, advantageMask, estimator });
  const agent = [...roles].map((r) => (r === 2 ? 1 : 0));
  const response = [...roles].map((r) => (r >= 2 ? 1 : 0));

  it('lets each switch move its own mask: loss, and critic targets with the tokens that carry advantages', () => {
    for (const loss of [true, false]) {
      for (const advantage of [true, false]) {
        const got = masks(loss, advantage);
        expect([...got.lossMask]).toEqual(loss ? agent : response);
        expect([...got.valueMask]).toEqual(advantage ? agent : response);
        expect([...got.advantages].map((a) => (a !== 0 ? 1 : 0))).toEqual(advantage ? agent : response);
      }
    }
  });

  it('gives grpo no critic targets, and each row one advantage', () => {
    const got = masks(true, true, 'grpo');
    expect(got.valueMask.some((m) => m !== 0)).toBe(false);
    close(
      got.advantages,
      [...agent].map((m, at) => m * (at < 8 ? 1 : -1) * (0.5 / (Math.SQRT1_2 + 1e-6))),
      1e-12,
    );
  });
});
