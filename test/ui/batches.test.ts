import { beforeEach, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { BatchView } from '../../src/domain/batch.ts';
import type { Answer } from '../../src/wire/questions.ts';
import {
  storedBatch,
  clearBatches,
  fetchBatch,
  isOnlyInWorker,
  newestBatch,
  receiveBatch,
} from '../../src/page/view/batches.ts';
import { nextBatch, showBatch } from '../../src/page/training/runEvents.ts';
import { useLive } from '../../src/page/view/liveStore.ts';
import { MAX_BUCKETS, Series } from '../../src/runs/series.ts';
import { useSelection } from '../../src/page/view/selectionStore.ts';
import { sharedPrefixLength } from '../../src/page/rollout/parting.ts';
import { example } from './example.ts';

const config = parseConfig();
const TEN_MIB = new Float32Array(2.5 * 2 ** 20);
const batchOf = (update: number): BatchView => ({ ...example, update, returns: TEN_MIB });
/** What the run tells of after `last` updates, all of which it keeps. */
const told = (last: number) => ({
  ...{ batch: batchOf(last), config, bytes: 10 * last },
  kept: Array.from({ length: last }, (_, i) => i + 1),
});
beforeEach(() => {
  clearBatches();
  useSelection.setState({ shownUpdate: null });
});

test('32 MiB of batches are at hand, the longest unused go first, and the held one stays', () => {
  for (let update = 1; update <= 6; update++) {
    receiveBatch(told(update));
    if (update === 2) useSelection.setState({ shownUpdate: 1 });
  }
  expect([1, 2, 3, 4, 5, 6].filter((update) => storedBatch(update))).toEqual([1, 5, 6]);
  expect(useLive.getState().batchesInWorker).toEqual({ updates: [1, 2, 3, 4, 5, 6], bytes: 60 });
  expect(newestBatch()?.batch.update).toBe(6);
});

test('a held batch that is not at hand leaves what is in view until the run has given it', async () => {
  for (let update = 1; update <= 6; update++) receiveBatch(told(update));
  showBatch(nextBatch()!, ['word']);
  expect(useLive.getState().batch.update).toBe(6);
  useSelection.setState({ shownUpdate: 2 });
  expect(isOnlyInWorker(2)).toBe(true);
  expect(nextBatch()).toBeUndefined();
  const asked: unknown[] = [];
  await fetchBatch(2, (question) => {
    asked.push(question);
    return Promise.resolve({ kind: 'batch', kept: { batch: batchOf(2), config } });
  });
  expect(asked).toEqual([{ kind: 'batch', update: 2 }]);
  expect(nextBatch()?.batch.update).toBe(2);
});

test.each([
  ['the run does not keep any more', { kind: 'batch', kept: null }],
  ['no run is there to give', { kind: 'refused', message: 'There is no run to ask.' }],
] satisfies [string, Answer][])('a batch that %s is no longer offered, and the newest is shown', async (_, answer) => {
  for (let update = 1; update <= 6; update++) receiveBatch(told(update));
  useSelection.setState({ shownUpdate: 2 });
  await fetchBatch(2, () => Promise.resolve(answer));
  expect(useLive.getState().batchesInWorker.updates).toEqual([1, 3, 4, 5, 6]);
  expect(nextBatch()?.batch.update).toBe(6);
});

test('a batch that comes after another run has begun is not taken for one of that', async () => {
  for (let update = 1; update <= 6; update++) receiveBatch(told(update));
  await fetchBatch(2, () => {
    clearBatches();
    receiveBatch(told(3));
    return Promise.resolve({ kind: 'batch', kept: { batch: batchOf(2), config } });
  });
  expect(storedBatch(2)).toBeUndefined();
  expect(useLive.getState().batchesInWorker.updates).toEqual([1, 2, 3]);
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
  expect(sharedPrefixLength(rows)).toBe(length);
});
