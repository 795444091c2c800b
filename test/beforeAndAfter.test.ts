import { expect, test } from 'vitest';
import { UPDATES_EACH_SIDE, beforeAndAfter } from '../src/runs/beforeAndAfter.ts';
import { Series } from '../src/runs/series.ts';

/** A run of 40 updates whose success is its update number, with the spread of every second one alone. */
const series = new Map([
  ['rollout/success', Series.of({ x: Uint32Array.from({ length: 40 }, (_, i) => i + 1), y: Float64Array.from({ length: 40 }, (_, i) => i + 1) })],
  ['eval/success', Series.of({ x: Uint32Array.of(0, 10, 20), y: Float64Array.of(0.1, 0.2, 0.3) })],
] as const); // prettier-ignore
const changes = [
  { update: 5, text: 'a' },
  { update: 20, text: 'b' },
  { update: 20, text: 'c' },
  { update: 36, text: 'd' },
];
const METRICS = ['rollout/success', 'eval/success', 'actor/entropy'] as const;

test('a change is told by the ten updates right before it and right after, none that another change is in, worked out by hand', () => {
  const around = beforeAndAfter({ changes, series }, 1, METRICS);
  // updates 10 to 19, and 20 to 29
  expect(around).toEqual({
    before: UPDATES_EACH_SIDE,
    after: UPDATES_EACH_SIDE,
    means: [
      { metric: 'rollout/success', before: 14.5, after: 24.5 },
      { metric: 'eval/success', before: 0.2, after: 0.3 },
    ],
  });
  expect(beforeAndAfter({ changes, series }, 2, METRICS)).toEqual(around); // it began to act with the other
});

test('the first change has what lies before it, the last what has come after; a neighbour’s updates are not counted', () => {
  const [first] = beforeAndAfter({ changes, series }, 0, METRICS).means;
  expect(first).toEqual({ metric: 'rollout/success', before: 2.5, after: 9.5 }); // 1 to 4, 5 to 14
  const last = beforeAndAfter({ changes, series }, 3, METRICS);
  expect(last).toEqual({
    before: 10,
    after: 5,
    means: [{ metric: 'rollout/success', before: 30.5, after: 38 }], // 26 to 35, 36 to 40
  });
});

test('a change before the first update, or after the last, has a side without a number', () => {
  const early = { changes: [{ update: 1, text: 'a' }], series };
  expect(beforeAndAfter(early, 0, METRICS)).toMatchObject({ before: 0, after: 10 });
  const late = { changes: [{ update: 41, text: 'a' }], series };
  expect(beforeAndAfter(late, 0, METRICS)).toEqual({ before: 10, after: 0, means: [] });
});
