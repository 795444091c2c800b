import { beforeEach, expect, test } from 'vitest';
import { baselineSentence, baselinesOf } from '../../src/page/view/traces.ts';
import { labelHeights } from '../../src/page/curves/plot.ts';
import { CURVE_SETS, metricsOf, type CurveSet } from '../../src/page/curves/curves.ts';
import { useLive } from '../../src/page/view/liveStore.ts';
import { addMetrics } from '../../src/runs/runLog.ts';

beforeEach(() => {
  useLive.setState({ series: new Map() });
});

test('success is compared with what was said before the first update, highest first', () => {
  addMetrics(useLive.getState().series, 0, {
    'eval/success': 0.2,
    'eval/naive_rag': 0.3,
    'baseline/expert': 1,
    'baseline/random': 0.08,
  });
  addMetrics(useLive.getState().series, 10, { 'eval/success': 0.9, 'rollout/success': 0.8 });
  const want = [
    { label: 'expert', share: 1 },
    { label: 'naive RAG', share: 0.3 },
    { label: 'before RL', share: 0.2 },
    { label: 'random', share: 0.08 },
  ];
  expect(baselinesOf('rollout/success')).toEqual(want);
  expect(baselinesOf('eval/success')).toEqual(want);
  expect(baselinesOf('actor/entropy')).toEqual([]);
  expect(baselineSentence('rollout/success')).toBe(
    'To compare with: expert 100 %, naive RAG 30 %, before RL 20 %, random 8 %.',
  );
});

test('what a run does not measure is no line, and without a run there is none', () => {
  expect(baselinesOf('rollout/success')).toEqual([]);
  expect(baselineSentence('rollout/success')).toBe('');
  addMetrics(useLive.getState().series, 0, { 'eval/success': 0.2, 'baseline/expert': 1, 'baseline/random': 0.25 });
  expect(baselinesOf('rollout/success').map(({ label }) => label)).toEqual(['expert', 'random', 'before RL']);
});

test('what is said once has no chart', () => {
  for (const set of Object.keys(CURVE_SETS) as CurveSet[]) {
    expect(metricsOf(set).filter((name) => name.startsWith('baseline/') || name === 'eval/naive_rag')).toEqual([]);
  }
});

test.each([
  ['apart as they are', [20, 50, 80], [20, 50, 80]],
  ['pushed down where they meet', [20, 22, 50], [20, 30, 50]],
  ['not above the plot', [1, 3, 60], [13, 23, 60]],
  ['not below it', [20, 95, 97, 98], [20, 77, 87, 97]],
  ['alone', [99], [97]],
  ['none', [], []],
])('labels %s', (_, lines, want) => {
  expect(labelHeights(lines, 10, 13, 97)).toEqual(want);
});
