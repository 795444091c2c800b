import { describe, expect, it } from 'vitest';
import { episodeRecord, payLastAction } from '../../src/rl/episodeRecord.ts';
import { groupSpread, rewardSums } from '../../src/rl/rewards.ts';
import { Role } from '../../src/domain/tokens.ts';

describe('rewards', () => {
  it('stand on the last action token, never on an observation behind it', () => {
    const record = episodeRecord(2, 6);
    for (const role of [Role.prompt, Role.action, Role.action, Role.observation]) {
      record.push(1, 5, { role, turn: 1, grammarState: 0, logprob: 0 });
    }
    payLastAction(record, 1, 'process', 0.2);
    payLastAction(record, 1, 'outcome', 1);
    expect([...record.rewards.slice(6)]).toEqual([0, 0, Math.fround(1.2), 0, 0, 0]);
    expect(() => payLastAction(record, 0, 'outcome', 1)).toThrow(/no action token/);
  });

  it('are the float32 of the sum of their parts, whatever order they were paid in', () => {
    const paid = [
      ['process', 0.1],
      ['format', -0.3],
      ['outcome', 1],
      ['think', 0.07],
    ] as const;
    const [forward, backward] = [paid, paid.toReversed()].map((order) => {
      const record = episodeRecord(1, 2);
      record.push(0, 5, { role: Role.action, turn: 1, grammarState: 0, logprob: 0 });
      for (const [part, amount] of order) record.pay(0, 0, part, amount);
      return record;
    });
    expect(forward!.rewards).toEqual(backward!.rewards);
    const { parts } = forward!;
    expect(parts.format[0]).toBe(Math.fround(-0.3));
    const sum = parts.outcome[0]! + parts.process[0]! + parts.format[0]! + parts.think[0]!;
    expect(forward!.rewards[0]).toBe(Math.fround(sum));
  });

  it('cannot be written behind the end of a row', () => {
    const record = episodeRecord(1, 1);
    const origin = { role: Role.prompt, turn: 0, grammarState: 0, logprob: 0 };
    record.push(0, 1, origin);
    expect(() => record.push(0, 1, origin)).toThrow(/row 0 is full/);
  });

  it('are summed by row', () => {
    expect([...rewardSums(new Float32Array([1, 0, 0.5, -1]), 2, 2)]).toEqual([1, -0.5]);
  });

  it('spread by n − 1 within groups, wherever their rows lie', () => {
    const { meanStd, flatShare } = groupSpread([1, 7, 0, 7], [0, 1, 0, 1]);
    expect(meanStd).toBeCloseTo(Math.SQRT1_2 / 2, 12);
    expect(flatShare).toBe(0.5);
  });

  it('count float noise as flat', () => {
    // three of a group: (1 + 0 + 1) / (3 − 1) is the variance
    expect(groupSpread([1, 2, 3], [0, 0, 0]).meanStd).toBe(1);
    expect(groupSpread([-1, -1.0000001], [0, 0])).toEqual({ meanStd: 0, flatShare: 1 });
    expect(groupSpread([3], [0])).toEqual({ meanStd: 0, flatShare: 1 });
  });
});
