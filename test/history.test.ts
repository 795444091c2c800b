import { expect, test } from 'vitest';
import { parseConfig } from '../src/config/config.ts';
import type { BatchView } from '../src/domain/batch.ts';
import type { NetworkState } from '../src/model/policy.ts';
import { RunHistory } from '../src/session/history.ts';
import { example } from './ui/example.ts';

const config = parseConfig();
const batchOf = (update: number, more: Partial<BatchView> = {}): BatchView => ({ ...example, update, ...more });
/** A network of `floats` weights; its moments take twice that. */
const stateOf = (floats: number): NetworkState => {
  const tensors = new Map([['w', new Float32Array(floats)]]);
  return { weights: tensors, adamM: tensors, adamV: tensors, steps: 0 };
};
const lessonOf = (update: number) => ({ credit: { klCoef: update } as never, steps: [] });
const statesOf = (history: RunHistory, last: number) =>
  Array.from({ length: last + 1 }, (_, update) => update).filter((update) => history.state(update));

/** Notes updates as a run does: batch, lesson, network. */
function run(history: RunHistory, from: number, to: number, floats: number): void {
  for (let update = from; update <= to; update++) {
    if (update > 0) history.keepBatch(batchOf(update), config);
    if (update > 0) history.keepLesson(lessonOf(update));
    history.keepState(update, stateOf(floats));
  }
}

test('of 2,000 batches 64 are kept: the first, the last 24, and between them ever finer ones towards the end', () => {
  const history = new RunHistory();
  const taken = new Set<number>();
  for (let update = 1; update <= 2000; update++) {
    history.keepBatch(batchOf(update), config);
    if (update > 64) taken.add(history.bytes);
    expect(history.batch(update)?.batch.update).toBe(update);
  }
  const { updates } = history;
  expect(updates).toHaveLength(64);
  expect(updates[0]).toBe(1);
  expect(updates.slice(-24)).toEqual(Array.from({ length: 24 }, (_, i) => 1977 + i));
  // 40 share 1,976 updates; halving every other one leaves gaps within a factor of four of even ones
  const gaps = updates.slice(1, 41).map((update, i) => update - (updates[i] ?? 0));
  expect(Math.max(...gaps)).toBeLessThanOrEqual(4 * (1976 / 40));
  expect(taken.size).toBe(1);
});

test('large batches, the oldest of which go first, are kept up to 64 MiB, and one that is larger alone still is', () => {
  const history = new RunHistory();
  const tensor = new Float32Array(5 * 2 ** 20); // 20 MiB
  for (let update = 1; update <= 9; update++) history.keepBatch(batchOf(update, { returns: tensor }), config);
  expect(history.updates).toEqual([7, 8, 9]);
  expect(history.bytes).toBeLessThanOrEqual(64 * 2 ** 20);
  expect(history.bytes).toBeGreaterThan(60 * 2 ** 20);
  history.keepBatch(batchOf(10, { returns: new Float32Array(2 ** 25) }), config);
  expect(history.updates).toEqual([10]);
});

test('what was before and after every kept update, and what it did, is kept with it', () => {
  const history = new RunHistory();
  run(history, 0, 200, 10);
  expect(history.updates).toHaveLength(64);
  for (const update of history.updates) {
    expect(history.state(update - 1)).toBeDefined();
    expect(history.state(update)).toBeDefined();
    expect(history.lesson(update)?.credit.klCoef).toBe(update);
  }
  expect(statesOf(history, 200).length).toBeLessThanOrEqual(2 * 64);
  expect(history.lesson(100)).toBeUndefined();
});

test('networks take 96 MiB at most, moments counted; batches outlive them, and one that does not fit at all is not kept', () => {
  const history = new RunHistory();
  const floats = 2 * 2 ** 20; // 24 MiB with its moments
  run(history, 0, 9, floats);
  expect(statesOf(history, 9)).toEqual([6, 7, 8, 9]);
  expect(history.updates).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  run(history, 10, 10, 5 * floats);
  expect(statesOf(history, 10)).toEqual([]);
  expect(history.newestWeights()).toBeUndefined();
});

test('the update that is looked at stays, with the networks around it, however long training goes on', () => {
  const history = new RunHistory();
  const floats = 2 ** 20; // 12 MiB with its moments
  run(history, 0, 10, floats);
  history.setShown(10);
  run(history, 11, 200, floats);
  expect(history.updates).toContain(10);
  expect(history.updates).toHaveLength(64);
  expect([9, 10].filter((update) => history.state(update))).toEqual([9, 10]);
  history.setShown(null);
  run(history, 201, 202, floats);
  expect(history.state(10)).toBeUndefined();
});

test('a run that was rolled back takes its updates again: what came after is forgotten', () => {
  const history = new RunHistory();
  run(history, 0, 5, 10);
  history.keepBatch(batchOf(6), config); // was rolled back
  const again = stateOf(20);
  history.keepBatch(batchOf(4), config);
  history.keepState(4, again);
  expect(history.updates).toEqual([1, 2, 3, 4]);
  expect(statesOf(history, 9)).toEqual([0, 1, 2, 3, 4]);
  expect(history.newestWeights()).toBe(again.weights);
});

test('a branch can be asked about until forty more were played', () => {
  const history = new RunHistory();
  const first = history.keepBranch(batchOf(0), config);
  for (let n = 1; n < 40; n++) history.keepBranch(batchOf(0), config);
  expect(history.branch(first)?.batch.tokens).toEqual(example.tokens);
  history.keepBranch(batchOf(0), config);
  expect(history.branch(first)).toBeUndefined();
});
