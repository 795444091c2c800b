import { expect, test } from 'vitest';
import { gateSentences, passAtK, passGate } from '../src/domain/passGate.ts';

const choose = (n: number, k: number) =>
  Array.from({ length: k }, (_, i) => (n - i) / (i + 1)).reduce((a, b) => a * b, 1);

test('pass@k is 1 − C(n−c, k)/C(n, k), and averaged over all draws it is 1 − (1 − p)ᵏ: unbiased', () => {
  for (const [n, c, k] of [
    [16, 3, 4],
    [16, 1, 16],
    [10, 0, 5],
    [5, 5, 1],
    [16, 13, 4],
  ] as const) {
    expect(passAtK(c, n, k)).toBeCloseTo(1 - choose(n - c, k) / choose(n, k), 12);
  }
  const [p, n, k] = [0.1, 16, 4];
  const mean = Array.from({ length: n + 1 }, (_, c) => choose(n, c) * p ** c * (1 - p) ** (n - c) * passAtK(c, n, k));
  expect(mean.reduce((a, b) => a + b, 0)).toBeCloseTo(1 - (1 - p) ** k, 12);
});

test('tasks never solved, and groups all right or all wrong, are counted over tasks; larger groups take the task’s share as its rate', () => {
  const gate = passGate({ solved: [0, 0, 16, 8], tries: 16 }, 2);
  expect(gate.rates.map(({ k }) => k)).toEqual([1, 4, 16]);
  const shares = [0.375, (1 + 1 - 70 / 1820) / 4, 0.5];
  gate.rates.forEach(({ share }, i) => expect(share).toBeCloseTo(shares[i]!, 12));
  expect(gate.neverSolved).toBe(2);
  // of two out of sixteen, half of them solved, both are alike in 7 of 15 pairs
  expect(gate.dead).toBeCloseTo((3 + 7 / 15) / 4, 12);
  expect(passGate({ solved: [0, 8], tries: 16 }, 32).dead).toBeCloseTo((1 + 2 * 0.5 ** 32) / 2, 12);
  // of 2 of 4 tasks, by Clopper and Pearson: 6.8 to 93.2 %
  const { low, high } = gate.rates.at(-1)!.interval;
  expect(low).toBeCloseTo(0.0676, 3);
  expect(high).toBeCloseTo(0.9324, 3);
});

test('the sentence promises nothing: it names what was never drawn', () => {
  const words = (solved: readonly number[]) => gateSentences(passGate({ solved, tries: 16 }, 8), 8)[0];
  expect(words([0, 0])).toMatch(/^2 of 2 tasks were never solved.*Imitation first/);
  expect(words([0, 3])).toMatch(/^1 of 2 tasks were never solved.*after imitation/);
  expect(words([4, 3])).toMatch(/^All 2 tasks were solved at least once/);
});
