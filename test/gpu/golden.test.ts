import { expect, test } from 'vitest';
import { KERNEL_SET_NAMES } from '../../src/config/kernelChoice.ts';
import { checkAdvantages } from '../../tools/golden/goldenAdvantages.ts';
import { checkGolden } from '../../tools/golden/goldenCheck.ts';
import insideTurns from '../golden/advantages-inside-turns.json?raw';
import published from '../golden/advantages.json?raw';
import { goldens } from './fixtures.ts';

const fixtures = await goldens();

test('there are fixtures to agree with', () => {
  expect(fixtures.length).toBeGreaterThanOrEqual(5);
});

for (const choice of KERNEL_SET_NAMES) {
  test.each(fixtures.map((golden) => [golden.name, golden] as const))(
    `the ${choice} kernels agree with PyTorch on %s from logits to AdamW`,
    async (_, golden) => {
      const lines = await checkGolden(navigator.gpu, golden, { kernels: choice });
      expect(lines.length).toBeGreaterThanOrEqual(9);
      // bounds and their reason stand in test/golden/README.md: f32 sums against float64
      for (const { group, worst, error, bound } of lines)
        expect(error, `${group} (${worst})`).toBeLessThanOrEqual(bound);
    },
  );
}

test('every estimator agrees with published implementations, on the device and in the float64 oracle', async () => {
  const lines = await checkAdvantages(navigator.gpu, published);
  // eight estimators; four of them with returns too; each on the device and in float64
  expect(lines.length).toBe(2 * (8 + 4));
  for (const { group, worst, error, bound } of lines) expect(error, `${group} (${worst})`).toBeLessThanOrEqual(bound);
  // only the bi-level numbers were made in float32; the others are held to 1e-9 and what printing took from them
  for (const { group, bound } of lines.filter((line) => line.group.includes('oracle'))) {
    expect(bound, group).toBeLessThanOrEqual(group.startsWith('bi_level') ? 1.1e-6 : 5e-9);
  }
});

test('bi-level advantages agree with written-out sums where rewards lie inside turns', async () => {
  const lines = await checkAdvantages(navigator.gpu, insideTurns);
  expect(lines.length).toBe(2 * 2); // advantages and returns, on the device and in float64
  for (const { group, worst, error, bound } of lines) expect(error, `${group} (${worst})`).toBeLessThanOrEqual(bound);
});

test('an estimator that is not known is a line out of bounds, and odd shapes are none', async () => {
  const one = {
    name: 'odd',
    gamma: 1,
    lambda: 1,
    roles: [[2], [1], [2], [2], [0]],
    rewards: [[1], [0], [0], [0], [0]],
    values: [[0.5], [0], [0.25], [0], [0]],
    groups: [7, 7, 2, 7, 9],
  };
  const third = 1 / 3;
  const advantages = [[1 - third], [0], [0], [-third], [0]];
  const expect_ = {
    grpo_no_std: { advantages },
    rloo: { advantages: [[1], [0], [0], [-0.5], [0]] },
    gspo: { advantages },
  };
  const text = JSON.stringify({ kind: 'advantages', cases: [{ ...one, expect: expect_ }] });
  const lines = await checkAdvantages(navigator.gpu, text);
  const out = lines.filter((line) => !(line.error <= line.bound));
  expect(out.map((line) => [line.group, line.worst])).toEqual([['gspo', 'odd: unknown estimator']]);
  expect(lines.length).toBe(5);
});
