import { expect, test } from 'vitest';
import { otherComparison, writtenAdvantage } from '../../src/ui/rollout/advantage.ts';

const grpo = { estimator: 'grpo', divideByStd: 'on' } as const;
const GROUP = { words: 'mean of the group' };

test('what is written out is the estimator’s own formula', () => {
  const rewards = [1, 0, 0, 1.5];
  // mean 0.625, std with n − 1: √(1.6875/3) = 0.75
  expect(writtenAdvantage(grpo, rewards, 1)).toEqual({
    ...GROUP,
    baseline: 0.625,
    spread: 0.75,
    value: 0.375 / 0.750001,
  });
  expect(writtenAdvantage({ ...grpo, divideByStd: 'off' }, rewards, 1)).toEqual({
    ...GROUP,
    baseline: 0.625,
    spread: null,
    value: 0.375,
  });
  // the others’ mean: (0 + 0 + 1.5) / 3
  expect(writtenAdvantage({ ...grpo, estimator: 'rloo' }, rewards, 1)).toEqual({
    words: 'mean of the others',
    baseline: 0.5,
    spread: null,
    value: 0.5,
  });
});

test('rewards that are all alike give 0, and estimators that compare nothing are not written out', () => {
  expect(writtenAdvantage(grpo, [1, 1, 1], 1)?.value).toBe(0);
  expect(writtenAdvantage({ ...grpo, estimator: 'gae' }, [1, 0], 1)).toBeNull();
  expect(writtenAdvantage(grpo, [1], 1)).toBeNull();
});

test('beside the comparison a batch was learned with stands the one the knobs ask for, else leave-one-out, or of that GRPO’s', () => {
  const rloo = { estimator: 'rloo', divideByStd: 'on' } as const;
  const gae = { estimator: 'gae', divideByStd: 'on' } as const;
  expect(otherComparison(grpo, grpo)).toEqual(rloo);
  expect(otherComparison(grpo, gae)).toEqual(rloo);
  expect(otherComparison(rloo, rloo)).toEqual(grpo);
  expect(otherComparison(grpo, { ...grpo, divideByStd: 'off' })).toEqual({ ...grpo, divideByStd: 'off' });
  expect(otherComparison(grpo, rloo)).toEqual(rloo);
});
