import { beforeEach, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { BatchView } from '../../src/domain/batch.ts';
import { example } from './example.ts';
import { sharedPrefix } from '../../src/ui/group/align.ts';
import { clearHistory, keepBatch, keptBatch, newestBatch } from '../../src/ui/run/history.ts';
import { live } from '../../src/ui/run/liveStore.ts';
import { useSelection } from '../../src/ui/shell/selectionStore.ts';
import { MAX_BUCKETS, Series } from '../../src/ui/run/series.ts';

const config = parseConfig();
const batchOf = (update: number, more: Partial<BatchView> = {}): BatchView => ({ ...example, update, ...more });
beforeEach(clearHistory);

test('of 10,000 batches 64 are kept: the first, the last 24, and between them ever finer ones towards the end', () => {
  const taken = new Set<number>();
  for (let update = 1; update <= 10_000; update++) {
    keepBatch(batchOf(update), config);
    if (update > 64) taken.add(live.kept.bytes);
    expect(keptBatch(update)?.batch.update).toBe(update);
  }
  const { updates } = live.kept;
  expect(updates).toHaveLength(64);
  expect(updates[0]).toBe(1);
  expect(updates.slice(-24)).toEqual(Array.from({ length: 24 }, (_, i) => 9977 + i));
  // 40 share 9,976 updates; halving every other one leaves gaps within a factor of four of even ones
  const gaps = updates.slice(1, 41).map((update, i) => update - (updates[i] ?? 0));
  expect(Math.max(...gaps)).toBeLessThanOrEqual(4 * (9976 / 40));
  expect(taken.size).toBe(1);
  expect(updates.every((update) => keptBatch(update)?.batch.update === update)).toBe(true);
  expect(newestBatch()?.batch.update).toBe(10_000);
});

test('the batch that is held stays, however long training goes on', () => {
  for (let update = 1; update <= 500; update++) {
    if (update === 10) useSelection.setState({ held: 10 });
    keepBatch(batchOf(update), config);
  }
  expect(live.kept.updates).toContain(10);
  expect(live.kept.updates).toHaveLength(64);
  useSelection.setState({ held: null });
});

test('large batches, the oldest of which go first, are kept up to 64 MiB, and one that is larger alone still is', () => {
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
