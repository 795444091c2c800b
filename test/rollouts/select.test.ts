import { expect, test } from 'vitest';
import { RolloutTable, columnsOf } from '../../src/rollouts/columns.ts';
import { recordWithDefaults, type RolloutRecord } from '../../src/rollouts/rolloutRecord.ts';
import { filteredRows, meansByStep, NO_FILTER, sortedRows } from '../../src/rollouts/select.ts';

const ids = [5, 6, 7];
const RECORDS: readonly Partial<RolloutRecord>[] = [
  { step: 2, group: 'b', reward: 1, success: true, toolCalls: 3, turns: 4, tokens: { ids, words: null, channels: {} } },
  { step: 1, group: 'a', reward: 0, success: false, toolCalls: 0, turns: 1 },
  { step: null, group: null, reward: null, success: null, toolCalls: null, turns: null },
  { step: 1, group: 'b', reward: 0.5, success: null, toolCalls: 2, turns: 2 },
];

function tableOf(): RolloutTable {
  const table = new RolloutTable();
  const groups = new Map([
    ['a', 0],
    ['b', 1],
  ]);
  for (const given of RECORDS) {
    table.append(
      columnsOf(
        [{ record: recordWithDefaults(given), file: 0 }],
        ({ record: { group } }) => groups.get(group ?? '') ?? -1,
      ),
    );
  }
  return table;
}

const { columns, rows } = tableOf();
const list = (...[filter, by, descending = false]: readonly [object, 'step' | 'group' | 'reward', boolean?]) =>
  Array.from(filteredRows(sortedRows(columns, rows, { by, descending }), columns, { ...NO_FILTER, ...filter }, null));

test('rollouts are ordered by step, group or reward, either way round; those without come last, equals as they stand', () => {
  expect(list({}, 'step')).toEqual([1, 3, 0, 2]);
  expect(list({}, 'step', true)).toEqual([0, 1, 3, 2]);
  expect(list({}, 'group')).toEqual([1, 0, 3, 2]);
  expect(list({}, 'reward')).toEqual([1, 3, 0, 2]);
  expect(list({}, 'reward', true)).toEqual([0, 3, 1, 2]);
});

test('a bound leaves out what is beyond it, and what has no value', () => {
  expect(list({ minReward: 0.5 }, 'step')).toEqual([3, 0]);
  expect(list({ maxReward: 0.5 }, 'step')).toEqual([1, 3]);
  expect(list({ minStep: 2 }, 'step')).toEqual([0]);
  expect(list({ maxStep: 1, minCalls: 1 }, 'step')).toEqual([3]);
  expect(list({ success: 'failed' }, 'step')).toEqual([1]);
  const byReward = sortedRows(columns, rows, { by: 'reward', descending: false });
  expect(Array.from(filteredRows(byReward, columns, NO_FILTER, new Set([0, 2, 3])))).toEqual([3, 0, 2]); // in their order
});

test('means of a step are over the rollouts that say a number; lengths are in characters where one has no ids', () => {
  const { steps, unit } = meansByStep(columns, Int32Array.from([0, 1, 2, 3]));
  expect(unit).toBe('characters');
  expect(steps.map(({ step, rollouts, reward, success, turns }) => [step, rollouts, reward, success, turns])).toEqual([
    [1, 2, 0.25, 0, 1.5],
    [2, 1, 1, 1, 4],
  ]);
  expect(meansByStep(columns, Int32Array.from([0]))).toMatchObject({ unit: 'tokens', steps: [{ length: 3 }] });
});
