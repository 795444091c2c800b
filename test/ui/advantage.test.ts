import { expect, test } from 'vitest';
import { advantageEquation, equationWith } from '../../src/page/rollout/advantage.ts';
import { groupFormula } from '../../src/page/rollout/groupFormula.ts';

const grpo = { estimator: 'grpo', divideByStd: 'on' } as const;

test('what is written out is the estimator’s own formula', () => {
  const rewards = [1, 0, 0, 1.5];
  // mean 0.625, std with n − 1: √(1.6875/3) = 0.75
  expect(advantageEquation(grpo, rewards, 1)).toEqual({
    baseline: 0.625,
    divisor: 0.75,
    value: 0.375 / 0.750001,
  });
  expect(advantageEquation({ ...grpo, divideByStd: 'off' }, rewards, 1)).toEqual({
    baseline: 0.625,
    divisor: null,
    value: 0.375,
  });
  // the others’ mean: (0 + 0 + 1.5) / 3
  expect(advantageEquation({ ...grpo, estimator: 'rloo' }, rewards, 1)).toEqual({
    baseline: 0.5,
    divisor: null,
    value: 0.5,
  });
});

test('rewards that are all alike give 0, and estimators that compare nothing are not written out', () => {
  expect(advantageEquation(grpo, [1, 1, 1], 1)?.value).toBe(0);
  expect(advantageEquation({ ...grpo, estimator: 'gae' }, [1, 0], 1)).toBeNull();
  expect(advantageEquation(grpo, [1], 1)).toBeNull();
});

test('the formula of a group has its numbers, and gives each advantage from the score', () => {
  const rewards = [1, 0, 0, -3];
  expect(groupFormula('mean', rewards).numbers).toBe('score − (−0.5)');
  expect(groupFormula('mean-over-std', rewards).numbers).toBe('(score − (−0.5)) / (1.7321 + 1e-6)');
  expect(groupFormula('leave-one-out', rewards).numbers).toBe('score − ((−2) − score) / 3');
  expect(equationWith('leave-one-out', rewards, 1).value).toBeCloseTo(1 - (-2 - 1) / 3, 12);
  expect(equationWith('mean', rewards, 1).value).toBe(1.5);
  expect(equationWith('mean-over-std', [2, 2], 2).value).toBe(0);
});
