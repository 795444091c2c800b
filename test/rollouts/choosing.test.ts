import { expect, test } from 'vitest';
import { Purpose, random } from '../../src/base/rng.ts';
import { missingValues, recordWithDefaults, type RolloutRecord } from '../../src/rollouts/rolloutRecord.ts';
import { columnsOf, RolloutTable } from '../../src/rollouts/columns.ts';
import { Locations } from '../../src/rollouts/locations.ts';
import {
  type Filter,
  filteredRows,
  meansByStep,
  nearestStep,
  NO_FILTER,
  sortedRows,
} from '../../src/rollouts/select.ts';

const { int } = random(31, Purpose.shuffle);
const orNull = <T>(value: T): T | null => (int(4) === 0 ? null : value);
const tokensOf = (length: number) => ({ ids: Array.from({ length }, () => 0), words: null, channels: {} });
const RECORDS = Array.from({ length: 300 }, () =>
  recordWithDefaults({
    ...{
      step: orNull(int(9)),
      group: orNull(String(int(7))),
      reward: orNull(int(5) / 4),
      success: orNull(int(2) === 1),
    },
    ...{ turns: orNull(int(4)), toolCalls: orNull(int(3)), tokens: orNull(tokensOf(int(50))) },
  }),
);
const groupOf = ({ record }: { readonly record: RolloutRecord }) => (record.group === null ? -1 : Number(record.group));
const { columns } = ((): RolloutTable => {
  const table = new RolloutTable();
  table.append(columnsOf(RECORDS.map((record) => ({ record, file: 0 })), groupOf)); // prettier-ignore
  return table;
})();
const rows = RECORDS.map((_, row) => row);

test('of 300 rollouts those are listed that are within every bound', () => {
  const inside = (value: number | null, low: number | null, high: number | null) =>
    value === null ? low === null && high === null : value >= (low ?? value) && value <= (high ?? value);
  for (let n = 0; n < 60; n++) {
    const filter: Filter = {
      ...{
        minReward: orNull(int(5) / 4),
        maxReward: orNull(int(5) / 4),
        minStep: orNull(int(9)),
        maxStep: orNull(int(9)),
      },
      ...{ minCalls: orNull(int(3)), success: (['any', 'solved', 'failed'] as const)[int(3)] ?? 'any' },
    };
    const wanted = rows.filter((row) => {
      const { reward, step, toolCalls, success } = RECORDS[row] ?? recordWithDefaults({});
      return (
        inside(reward, filter.minReward, filter.maxReward) &&
        inside(step, filter.minStep, filter.maxStep) &&
        inside(toolCalls, filter.minCalls, null) &&
        (filter.success === 'any' || success === (filter.success === 'solved'))
      );
    });
    expect(Array.from(filteredRows(Int32Array.from(rows), columns, filter, null))).toEqual(wanted);
  }
});

test('they are ordered as a stable sort of their numbers does it, without a number last either way round', () => {
  for (const by of ['step', 'group', 'reward'] as const)
    for (const descending of [false, true]) {
      const value = (row: number) => {
        const given = RECORDS[row]?.[by] ?? null;
        return given === null ? Infinity : Number(given) * (descending ? -1 : 1);
      };
      const wanted = [...rows].sort((a, b) => (value(a) === value(b) ? 0 : value(a) - value(b)));
      expect(Array.from(sortedRows(columns, rows.length, { by, descending }))).toEqual(wanted);
    }
});

test('means of a step are those of its rollouts that say the number', () => {
  const own = Int32Array.from(rows.filter((row) => row % 3 > 0));
  const { steps, unit } = meansByStep(columns, own);
  const said = [...new Set(Array.from(own, (row) => RECORDS[row]?.step ?? NaN))].filter((step) => !Number.isNaN(step));
  expect([unit, steps.map(({ step }) => step)]).toEqual(['characters', said.sort((a, b) => a - b)]);
  for (const { step, rollouts, ...means } of steps) {
    const there = Array.from(own, (row) => RECORDS[row] ?? recordWithDefaults({})).filter(
      (record) => record.step === step,
    );
    expect(rollouts).toBe(there.length);
    for (const name of ['reward', 'success', 'turns', 'toolCalls'] as const) {
      const values = there.flatMap((record) => (record[name] === null ? [] : [Number(record[name])]));
      // float32 columns hold these numbers exactly
      expect(means[name]).toBeCloseTo(values.reduce((sum, value) => sum + value, 0) / values.length, 12);
    }
  }
  const withIds = Int32Array.from(rows.filter((row) => RECORDS[row]?.tokens && RECORDS[row].step === 3));
  const lengths = Array.from(withIds, (row) => RECORDS[row]?.tokens?.ids.length ?? 0);
  const mean = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  expect(meansByStep(columns, withIds)).toMatchObject({ unit: 'tokens', steps: [{ step: 3, length: mean }] });
});

test('the nearest step is the one a search of all of them finds; of two as near the earlier', () => {
  const stepsOf = (...steps: readonly number[]) =>
    steps.map((step) => ({ step, rollouts: 1, reward: 0, success: 0, turns: 0, toolCalls: 0, length: 0 }));
  for (const list of [stepsOf(3), stepsOf(2, 4, 10), stepsOf(0, 1, 2, 5, 9, 20, 21)])
    for (let at = -1; at <= 23; at += 0.5) {
      const away = list.map(({ step }) => Math.abs(step - at));
      expect([at, nearestStep(list, at)]).toEqual([at, away.indexOf(Math.min(...away))]);
    }
  expect([nearestStep(stepsOf(2, 4), NaN), nearestStep([], 3)]).toEqual([0, 0]);
});

test('tables and places that grow keep what they held', () => {
  const table = new RolloutTable();
  const places = new Locations();
  for (let i = 0; i < 2500; i += 500) {
    const records = Array.from({ length: 500 }, (_, j) => ({
      record: recordWithDefaults({ step: i + j, reward: -(i + j) }),
      file: i,
    }));
    table.append(columnsOf(records, () => i));
    for (let j = i; j < i + 500; j++) places.append({ file: i, offset: j * 2 ** 33, length: j, indexInLine: j % 7 });
  }
  expect([table.rows, places.rows]).toEqual([2500, 2500]);
  for (let row = 0; row < 2500; row++) {
    const file = row - (row % 500);
    const { step, reward, group } = table.columns;
    expect([step[row], reward[row], group[row], table.columns.file[row]]).toEqual([row, -row, file, file]);
    expect(places.at(row)).toEqual({ file, offset: row * 2 ** 33, length: row, indexInLine: row % 7 });
  }
  expect([places.at(-1).file, places.at(2500).file]).toEqual([-1, -1]);
});

test('what a rollout lacks is told, and a mask of the loss stands in for that of what was drawn', () => {
  const nothing = missingValues(recordWithDefaults({}));
  expect(nothing).toEqual(
    expect.arrayContaining(['token ids', 'masks', 'the step', 'the group', 'the reward', 'success']),
  );
  expect(nothing).not.toContain('words of tokens');
  const full: Partial<RolloutRecord> = { step: 0, group: '', reward: 0, success: false };
  const tokens = (channels: object) => ({ ids: [1], words: null, channels });
  expect(missingValues(recordWithDefaults({ ...full, tokens: tokens({ loss: [1], sampledLogprob: [0] }) }))).toEqual([
    ...['words of tokens', 'reference log-probabilities', 'advantages of tokens'],
  ]);
  expect(missingValues(recordWithDefaults({ ...full, tokens: tokens({}) }))).toContain('masks');
  expect(NO_FILTER.success).toBe('any');
});
