import { expect, test } from 'vitest';
import { otherBaselineKnobs, advantageEquation } from '../../src/ui/rollout/advantage.ts';

const grpo = { estimator: 'grpo', divideByStd: 'on' } as const;
const GROUP = { baselineText: 'mean of the group' };

test('what is written out is the estimator’s own formula', () => {
  const rewards = [1, 0, 0, 1.5];
  // mean 0.625, std with n − 1: √(1.6875/3) = 0.75
  expect(advantageEquation(grpo, rewards, 1)).toEqual({
    ...GROUP,
    baseline: 0.625,
    divisor: 0.75,
    value: 0.375 / 0.750001,
  });
  expect(advantageEquation({ ...grpo, divideByStd: 'off' }, rewards, 1)).toEqual({
    ...GROUP,
    baseline: 0.625,
    divisor: null,
    value: 0.375,
  });
  // the others’ mean: (0 + 0 + 1.5) / 3
  expect(advantageEquation({ ...grpo, estimator: 'rloo' }, rewards, 1)).toEqual({
    baselineText: 'mean of the others',
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

test('beside the comparison a batch was learned with stands the one the knobs ask for, else leave-one-out, or of that GRPO’s', () => {
  const rloo = { estimator: 'rloo', divideByStd: 'on' } as const;
  const gae = { estimator: 'gae', divideByStd: 'on' } as const;
  expect(otherBaselineKnobs(grpo, grpo)).toEqual(rloo);
  expect(otherBaselineKnobs(grpo, gae)).toEqual(rloo);
  expect(otherBaselineKnobs(rloo, rloo)).toEqual(grpo);
  expect(otherBaselineKnobs(grpo, { ...grpo, divideByStd: 'off' })).toEqual({ ...grpo, divideByStd: 'off' });
  expect(otherBaselineKnobs(grpo, rloo)).toEqual(rloo);
});
