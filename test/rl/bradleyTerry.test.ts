import { describe, expect, it } from 'vitest';
import { preferenceLoss } from '../../src/rl/rewardModel.ts';

describe('the loss of a preference', () => {
  it.each([
    [0, 0.693147],
    [1, 0.313262],
    [-1, 1.313262],
  ])('at Δ = %f is the worked one', (delta, want) => {
    expect(preferenceLoss(delta, 0).loss).toBeCloseTo(want, 6);
  });

  it('has the gradient −(1 − σ(Δ)), which finite differences find', () => {
    for (const delta of [-8, -1, -0.3, 0, 0.7, 2, 9]) {
      const { gradient } = preferenceLoss(delta, 0);
      expect(gradient).toBeCloseTo(-(1 - 1 / (1 + Math.exp(-delta))), 12);
      const found = (preferenceLoss(delta + 1e-5, 0).loss - preferenceLoss(delta - 1e-5, 0).loss) / 2e-5;
      expect(gradient).toBeCloseTo(found, 8);
    }
    expect(preferenceLoss(0, 0).gradient).toBe(-0.5);
  });

  it('depends on the difference only: what both scores share is not identified', () => {
    expect(preferenceLoss(3.5, 2)).toEqual(preferenceLoss(101.5, 100));
  });

  it('stays finite and exact in the tails', () => {
    expect(preferenceLoss(-1000, 0)).toEqual({ loss: 1000, gradient: -1 });
    expect(preferenceLoss(1000, 0).loss).toBe(0);
    expect(Math.abs(preferenceLoss(1000, 0).gradient)).toBe(0);
    // A naive log(1 + e^−Δ) is 0 here.
    expect(preferenceLoss(40, 0).loss / Math.exp(-40)).toBeCloseTo(1, 12);
  });
});
