import { describe, expect, it } from 'vitest';
import {
  claimOf,
  fisherTest,
  meanInterval,
  seedsNeeded,
  shareInterval,
  signTest,
  tQuantile,
} from '../src/base/inference.ts';
import { pairedSummary, summaryOf } from '../src/experiments/statistics.ts';
import { differenceText } from '../src/experiments/wording.ts';

describe('quantiles and exact tests agree with printed tables', () => {
  it.each([
    [1, 12.7062],
    [2, 4.30265],
    [4, 2.77645],
    [7, 2.36462],
    [30, 2.04227],
    [999, 1.96234],
  ])('t of .975 with %i degrees of freedom is %f', (df, t) => {
    expect(tQuantile(0.975, df)).toBeCloseTo(t, 4);
  });

  it.each([
    [8, 10, 0.4439, 0.97479], // Clopper & Pearson
    [0, 16, 0, 0.20591],
    [16, 16, 0.79409, 1],
    [12, 16, 0.47623, 0.92734],
  ])('%i of %i hits: %f to %f', (hits, n, low, high) => {
    expect(shareInterval(hits, n).low).toBeCloseTo(low, 4);
    expect(shareInterval(hits, n).high).toBeCloseTo(high, 4);
  });

  it('the sign test counts pairs that differ: five to nothing is not enough, six is', () => {
    expect(signTest(0, 0)).toBe(1);
    expect(signTest(2, 0)).toBeCloseTo(0.5, 12);
    expect(signTest(0, 5)).toBeCloseTo(2 / 32, 12);
    expect(signTest(6, 0)).toBeCloseTo(2 / 64, 12);
    expect(signTest(1, 7)).toBeCloseTo(18 / 256, 12);
  });

  it('Fisher’s test gives the lady tasting tea .486, and nothing in eight against five .026', () => {
    expect(fisherTest(3, 4, 1, 4)).toBeCloseTo(34 / 70, 10);
    expect(fisherTest(0, 8, 5, 8)).toBeCloseTo(0.025641, 6);
  });
});

describe('a claim about seeds', () => {
  it('is made where the t interval leaves 0 out, and never from fewer than three seeds', () => {
    expect(claimOf(pairedSummary([0.2, 0.21, 0.19]))).toBe('more');
    expect(claimOf(pairedSummary([-0.2, -0.21, -0.19]))).toBe('less');
    expect(claimOf(pairedSummary([0.2, -0.1, 0.3]))).toBe('unclear');
    expect(claimOf(pairedSummary([0.2, 0.2]))).toBe('unclear');
    expect(claimOf(pairedSummary([0.2]))).toBe('unclear');
  });

  it('names the seeds it would take: that many leave 0 out, one fewer does not', () => {
    const needed = seedsNeeded(0.1, 0.2) ?? 0;
    const low = (n: number) => meanInterval({ n, mean: 0.1, sd: 0.2 })?.low ?? NaN;
    expect(low(needed)).toBeGreaterThan(0);
    expect(low(needed - 1)).toBeLessThanOrEqual(0);
    expect(seedsNeeded(0, 0.2)).toBeNull();
    expect(seedsNeeded(1e-4, 0.2)).toBeNull();
  });

  it('covers a true difference of 0 in 95 of 100 repetitions of five seeds', () => {
    // a generator of our own and 4,000 repetitions: the standard error of the share is .0035
    let state = 12345;
    const uniform = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
    const normal = () => Math.sqrt(-2 * Math.log(uniform() + 1e-12)) * Math.cos(2 * Math.PI * uniform());
    let unclear = 0;
    for (let i = 0; i < 4000; i++) {
      if (claimOf(summaryOf(Array.from({ length: 5 }, normal))) === 'unclear') unclear++;
    }
    expect(unclear / 4000).toBeGreaterThan(0.94);
    expect(unclear / 4000).toBeLessThan(0.96);
  });

  it('is worded in the table, with n, interval and what it would take', () => {
    expect(differenceText(pairedSummary([0.25, 0.2, 0.3]))).toBe('+0.250 ± 0.050 [+0.126, +0.374], better in 3 of 3');
    expect(differenceText(pairedSummary([0.2, -0.1, 0.3]))).toBe(
      '+0.133 ± 0.208 [−0.384, +0.650], better in 2 of 3: cannot tell (about 12 seeds would, if it stayed like this)',
    );
    expect(differenceText(pairedSummary([0.2]))).toBe('+0.200, better in 1 of 1: cannot tell from one seed');
    expect(differenceText(pairedSummary([0.1, -0.1, 0]))).toBe(
      '0.000 ± 0.100 [−0.248, +0.248], better in 1 of 3: cannot tell',
    );
  });
});
