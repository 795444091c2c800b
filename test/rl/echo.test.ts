import { expect, test } from 'vitest';
import { repetitionMetrics } from '../../src/rl/echo.ts';
import { episodeRecord } from '../../src/rl/episodeRecord.ts';
import { Role } from '../../src/domain/tokens.ts';

/** A record whose rows say the given turns, one token each, an observation after every turn. */
function saying(...rows: readonly (readonly number[])[]) {
  const record = episodeRecord(rows.length, 20);
  for (const [row, turns] of rows.entries()) {
    for (const [i, token] of turns.entries()) {
      record.push(row, token, { role: Role.action, turn: i + 1, grammarState: 0, logprob: 0 });
      record.push(row, 9, { role: Role.observation, turn: i + 1, grammarState: 0, logprob: 0 });
    }
  }
  return record;
}

test('a turn said before in the same rollout is repeated; the tool repeating itself is not', () => {
  // 2 of 3 turns say what was said before, 0 of 2: 2 / 5
  const { 'rollout/repeated_actions': repeated } = repetitionMetrics(saying([4, 4, 4], [4, 5]), Int32Array.of(0, 0));
  expect(repeated).toBeCloseTo(2 / 5, 12);
});

test('the echo share is that of the commonest rollout within a prompt, not over prompts', () => {
  // prompt 0: 2 of 3 the same; prompt 1: all different, 1 of 2; that one of them equals prompt 0’s counts for nothing
  const record = saying([4, 5], [4, 5], [5, 4], [4, 5], [7]);
  expect(repetitionMetrics(record, Int32Array.of(0, 0, 0, 1, 1))['rollout/echo_share']).toBeCloseTo(
    (2 / 3 + 1 / 2) / 2,
    12,
  );
});

test('the order of turns makes another rollout', () => {
  expect(repetitionMetrics(saying([4, 5], [5, 4]), Int32Array.of(0, 0))['rollout/echo_share']).toBe(0.5);
});

test('a prompt with one rollout has no echo, and a batch without a turn has neither number', () => {
  const alone = repetitionMetrics(saying([4, 5], [4], [4]), Int32Array.of(0, 1, 1));
  expect(alone['rollout/echo_share']).toBe(1); // of prompt 1 alone: prompt 0 would lower nothing, it has nobody to be like
  expect(repetitionMetrics(saying([4], [5, 4], [4, 5]), Int32Array.of(0, 1, 1))['rollout/echo_share']).toBe(0.5);
  expect(Object.keys(repetitionMetrics(saying([4], [5]), Int32Array.of(0, 1)))).toEqual(['rollout/repeated_actions']);
  expect(repetitionMetrics(saying([], []), Int32Array.of(0, 0))).toEqual({});
  // a rollout without a turn is not one more that is alike
  expect(repetitionMetrics(saying([], [], [4], [5]), Int32Array.of(0, 0, 0, 0))['rollout/echo_share']).toBe(0.5);
});

/** One row: the tokens of each turn, drawn by the agent. */
function turnsOf(...rows: readonly (readonly (readonly number[])[])[]) {
  const record = episodeRecord(rows.length, 20);
  for (const [row, turns] of rows.entries()) {
    for (const [i, tokens] of turns.entries()) {
      for (const token of tokens)
        record.push(row, token, { role: Role.action, turn: i + 1, grammarState: 0, logprob: 0 });
    }
  }
  return record;
}

test('where a turn ends and where a token ends makes another rollout', () => {
  const groups = Int32Array.of(0, 0);
  expect(repetitionMetrics(turnsOf([[4, 5], [6]], [[4], [5, 6]]), groups)['rollout/echo_share']).toBe(0.5);
  expect(repetitionMetrics(turnsOf([[1, 23]], [[12, 3]]), groups)['rollout/echo_share']).toBe(0.5);
  expect(repetitionMetrics(turnsOf([[1, 2], [1, 2]], [[2, 2], [1, 2]]), groups)['rollout/repeated_actions']).toBe(1 / 4); // prettier-ignore
});
