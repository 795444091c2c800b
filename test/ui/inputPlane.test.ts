import { expect, test } from 'vitest';
import type { MetricName, Metrics } from '../../src/domain/metrics.ts';
import { inputPlane, regimeAhead } from '../../src/page/view/inputPlane.ts';
import { useLive } from '../../src/page/view/liveStore.ts';
import { addMetrics } from '../../src/runs/runLog.ts';
import type { Series } from '../../src/runs/series.ts';

test('the plane has a point for each update that measured both numbers, and its height is log N', () => {
  const series = new Map<MetricName, Series>();
  const measure = (update: number, values: Metrics) => addMetrics(series, update, values);
  const chance = { 'collapse/retrieval_chance_level': 1 / 8 };
  measure(5, { 'collapse/mi_seq_estimate': 0.4 }); // as runs did before they measured H(Z|X)
  measure(10, { 'collapse/mi_seq_estimate': 0.5, 'collapse/conditional_entropy_seq_est': 3, ...chance });
  measure(15, { 'collapse/mi_seq_estimate': 1.5, 'collapse/conditional_entropy_seq_est': 2, ...chance });
  useLive.setState({ series });
  const plane = inputPlane('all');
  expect(plane.points).toEqual([
    { update: 10, entropy: 3, information: 0.5 },
    { update: 15, entropy: 2, information: 1.5 },
  ]);
  expect(plane.bound).toBeCloseTo(Math.log(8), 12);
  expect(inputPlane('exact')).toEqual({ points: [], bound: 0 });
});

test.each([
  [4, 1.5, 'diverse'],
  [4, 0.1, 'template collapse'],
  [1, 1.5, 'compressed'],
  [1, 0.1, 'full collapse'],
  [1, 1.01, undefined], // less than a twentieth of log N
  [2.1, 1.5, undefined],
])('from H(Z|X) 2 and 1 nat of information to %f and %f, a run moves towards %s', (entropy, information, name) => {
  const [from, to] = [
    { update: 5, entropy: 2, information: 1 },
    { update: 9, entropy, information },
  ];
  expect(regimeAhead(from, to, { points: [from, to], bound: 2 })?.name).toBe(name);
});
