import { describe, expect, it } from 'vitest';
import { episodeRecord } from '../../src/rl/episodeRecord.ts';
import { Role } from '../../src/domain/tokens.ts';

const drawn = { role: Role.action, turn: 2, grammarState: 4, logprob: -0.5 };

/** Two rows of three tokens, both full and paid. */
function full() {
  const record = episodeRecord(2, 3);
  for (const row of [0, 1]) {
    for (const token of [7, 8, 9]) record.push(row, token, drawn);
    record.pay(row, 1, 'outcome', 1);
    record.pay(row, 1, 'process', 0.25);
    record.pay(row, 1, 'process', 0.5);
  }
  return record;
}

describe('a record of episodes', () => {
  it('adds up what a token is paid, by part and in all', () => {
    const { parts, rewards } = full();
    expect([...parts.outcome]).toEqual([0, 1, 0, 0, 1, 0]);
    expect([...parts.process]).toEqual([0, 0.75, 0, 0, 0.75, 0]);
    expect([...rewards]).toEqual([0, 1.75, 0, 0, 1.75, 0]);
  });

  it('takes as many tokens as fit a row, and says which row is full', () => {
    const record = full();
    expect([...record.lengths]).toEqual([3, 3]);
    expect(() => record.push(1, 5, drawn)).toThrow(/row 1 is full: it holds 3 of 3 tokens/);
    expect([...record.tokens]).toEqual([7, 8, 9, 7, 8, 9]);
  });

  it.each([0, 1])('empties row %i of everything, and only that', (row) => {
    const record = full();
    record.clear(row);
    const { tokens, roles, states, turns, logprobs, rewards, lengths, parts } = record;
    expect(lengths[row]).toBe(0);
    expect(lengths[1 - row]).toBe(3);
    const other = full();
    for (const [kept, was] of [
      ...[[tokens, other.tokens] as const, [roles, other.roles] as const, [states, other.states] as const],
      ...[[turns, other.turns] as const, [logprobs, other.logprobs] as const, [rewards, other.rewards] as const],
      ...[[parts.outcome, other.parts.outcome] as const, [parts.process, other.parts.process] as const],
    ]) {
      expect([...kept.subarray(3 * row, 3 * row + 3)]).toEqual([0, 0, 0]);
      expect([...kept.subarray(3 - 3 * row, 6 - 3 * row)]).toEqual([...was.subarray(0, 3)]);
    }
  });
});
