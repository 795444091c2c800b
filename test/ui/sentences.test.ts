import { expect, test } from 'vitest';
import type { MetricName } from '../../src/metrics.ts';
import { chartSentence } from '../../src/ui/chart-text.ts';
import { verdict } from '../../src/ui/sentences.ts';
import { Series } from '../../src/ui/series.ts';

function curve(values: readonly number[]): Series {
  const series = new Series();
  values.forEach((y, x) => series.push(x, y));
  return series;
}

test('the verdict quotes before and after, and is silent on too little', () => {
  const rising = Array.from({ length: 60 }, (_, i) => Math.min(0.61, 0.25 + i * 0.01));
  expect(verdict(new Map([['rollout/success', curve(rising)]]), 60)).toBe(
    'Success 26 % → 61 % in 60 updates. It is learning.',
  );
  expect(verdict(new Map([['rollout/success', curve([0.3])]]), 1)).toBeNull();
});

test('learning is claimed only when held-out tasks, once solved twice, gain too', () => {
  const rising = curve(Array.from({ length: 60 }, (_, i) => Math.min(0.61, 0.25 + i * 0.01)));
  const said = (held: readonly number[]) =>
    verdict(
      new Map<MetricName, Series>([
        ['rollout/success', rising],
        ['eval/success', curve(held)],
      ]),
      60,
    );
  expect(said([0.3])).toMatch(/It is learning\.$/);
  expect(said([0.3, 0.5])).toMatch(/30 % → 50 %\. It is learning\.$/);
  expect(said([0.31, 0.25])).toMatch(/31 % → 25 %\. .*held-out tasks do not show it yet\.$/);
  expect(said([0.4, 0.4])).toMatch(/do not show it yet\.$/);
  expect(said([0.5, 0.3])).toMatch(/worse at those it does not see\.$/);
});

test('the verdict says when nothing is left to compare', () => {
  const series = new Map<MetricName, Series>([
    ['rollout/success', curve(Array<number>(60).fill(0.5))],
    ['rollout/in_group_reward_std', curve([...Array<number>(20).fill(0.4), ...Array<number>(60).fill(0.01)])],
  ]);
  expect(verdict(series, 80)).toContain('nothing left to compare');
});

test('a chart is told in words', () => {
  expect(chartSentence('actor/entropy', curve([1, 1, 1, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]))).toMatch(
    /^Entropy fell to 0\.\d+ nats from 1 over 12/,
  );
  expect(chartSentence('actor/entropy', undefined)).toBe('Entropy: nothing measured yet.');
});
