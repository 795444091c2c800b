import { beforeEach, expect, test } from 'vitest';
import { parseConfig } from '../../src/config.ts';
import type { BatchView } from '../../src/protocol.ts';
import { example } from '../../src/ui/example.ts';
import { sharedPrefix } from '../../src/ui/group/align.ts';
import { clearHistory, keepBatch, keptBatch, newestBatch } from '../../src/ui/history.ts';
import { live } from '../../src/ui/live-store.ts';
import { MAX_BUCKETS, Series } from '../../src/ui/series.ts';

const config = parseConfig();
const batchOf = (update: number, more: Partial<BatchView> = {}): BatchView => ({ ...example, update, ...more });
beforeEach(clearHistory);

test('of 10,000 batches the last 64 are kept, and what they take does not grow', () => {
  const taken = new Set<number>();
  for (let update = 1; update <= 10_000; update++) {
    keepBatch(batchOf(update), config);
    if (update > 64) taken.add(live.kept.bytes);
  }
  expect(live.kept.updates).toEqual(Array.from({ length: 64 }, (_, i) => 9937 + i));
  expect(taken.size).toBe(1);
  expect(keptBatch(9936)).toBeUndefined();
  expect(keptBatch(9937)?.batch.update).toBe(9937);
  expect(newestBatch()?.batch.update).toBe(10_000);
});

test('large batches are kept up to 64 MiB, and one that is larger alone still is', () => {
  const tensor = new Float32Array(5 * 2 ** 20); // 20 MiB
  for (let update = 1; update <= 9; update++) keepBatch(batchOf(update, { returns: tensor }), config);
  expect(live.kept.updates).toEqual([7, 8, 9]);
  expect(live.kept.bytes).toBeLessThanOrEqual(64 * 2 ** 20);
  keepBatch(batchOf(10, { returns: new Float32Array(2 ** 25) }), config);
  expect(live.kept.updates).toEqual([10]);
});

test('curves of 10,000 points stay within 300 positions and keep a spike of one point', () => {
  const series = new Series();
  for (let x = 1; x <= 10_000; x++) series.push(x, x === 6_543 ? 77 : Math.sin(x / 50));
  expect(series.length).toBe(10_000);
  expect(series.buckets.length).toBeLessThanOrEqual(MAX_BUCKETS);
  expect(series.buckets.length).toBeGreaterThan(100);
  expect(Math.max(...series.buckets.map((b) => b.max))).toBe(77);
  expect(series.buckets.reduce((sum, b) => sum + b.count, 0)).toBe(10_000);
});

test.each([
  [[], 0],
  [[[1, 2, 3]], 3],
  [
    [
      [1, 2, 3],
      [1, 2, 4, 5],
      [1, 2, 3, 9],
    ],
    2,
  ],
  [
    [
      [1, 2],
      [1, 2, 3],
    ],
    2,
  ],
  [[[4], [5]], 0],
])('%j begin alike for %i tokens', (rows, length) => {
  expect(sharedPrefix(rows)).toBe(length);
});
