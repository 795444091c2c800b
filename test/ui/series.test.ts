import { expect, test } from 'vitest';
import { mergeToCount } from '../../src/runs/buckets.ts';
import { MAX_BUCKETS, Series } from '../../src/runs/series.ts';

test('a spike of one point survives any amount of thinning, and positions stay few', () => {
  const series = new Series();
  for (let x = 0; x < 5000; x++) series.push(x, x === 1234 ? 9 : x === 3210 ? -7 : Math.sin(x / 50));
  expect(series.buckets.length).toBeLessThanOrEqual(MAX_BUCKETS);
  expect(Math.max(...series.buckets.map((b) => b.max))).toBe(9);
  expect(Math.min(...series.buckets.map((b) => b.min))).toBe(-7);
  expect(series.length).toBe(5000);
});

test('every point lands in exactly one bucket, in order', () => {
  const series = new Series();
  for (let x = 1; x <= 1777; x++) series.push(x, 1);
  expect(series.buckets.reduce((n, b) => n + b.count, 0)).toBe(1777);
  series.buckets.forEach((b, i) => {
    expect(b.last).toBeGreaterThanOrEqual(b.first);
    const next = series.buckets[i + 1];
    if (next) expect(next.first).toBe(b.last + 1);
  });
});

test('a closed bucket does not change while points are added', () => {
  const series = new Series();
  for (let x = 0; x < 700; x++) series.push(x, Math.cos(x));
  const before = series.buckets.slice(0, 100);
  for (let x = 700; x < 760; x++) series.push(x, 5);
  expect(series.buckets.slice(0, 100)).toEqual(before);
});

test('smoothing leaves a constant alone from its first point', () => {
  const series = new Series();
  for (let x = 0; x < 50; x++) series.push(x, 0.4);
  for (const { smooth } of series.buckets) expect(smooth).toBeCloseTo(0.4, 12);
});

test('what is not finite is not drawn', () => {
  const series = new Series();
  series.push(1, NaN);
  series.push(2, Infinity);
  expect(series.length).toBe(0);
  expect(series.lastValue).toBeUndefined();
});

test('a narrow chart draws fewer positions, keeps a spike of one point, and counts every point', () => {
  const series = new Series();
  for (let x = 1; x <= 299; x++) series.push(x, x === 123 ? 9 : Math.sin(x));
  const drawn = mergeToCount(series.buckets, 80);
  expect(drawn.length).toBe(75); // 299 → 150 → 75
  expect(Math.max(...drawn.map((b) => b.max))).toBe(9);
  expect(drawn.reduce((sum, b) => sum + b.count, 0)).toBe(299);
  expect(drawn.at(-1)?.smooth).toBe(series.buckets.at(-1)?.smooth);
  expect(mergeToCount(series.buckets, 300)).toBe(series.buckets);
});
