import { describe, expect, test } from 'vitest';
import type { EpisodeView } from '../../src/domain/episode.ts';
import { payRewardModelScores, type RewardModel } from '../../src/rl/rewardModel.ts';
import { episodeRecord } from '../../src/rl/episodeRecord.ts';
import { Role } from '../../src/domain/tokens.ts';

const PARTS = { outcome: 1, process: 0, call: 0, format: 0, think: 0, turnCost: 0, preference: 0, information: 0 };

function rolled() {
  const record = episodeRecord(2, 4);
  for (const row of [0, 1])
    for (const role of [Role.prompt, Role.action, Role.observation])
      record.push(row, 3, { role, turn: 1, grammarState: 0, logprob: 0 });
  const episodes = [0, 1].map((row) => ({ row, reward: 1, parts: PARTS, preferenceScore: null }) as EpisodeView);
  return { record, groups: Int32Array.of(0, 0), episodes };
}
const model = { score: () => Promise.resolve([3, 1]) } as unknown as RewardModel;

describe('what a reward model says of rollouts', () => {
  test('is noted, and paid, centred and times its weight, on the last token the agent wrote', async () => {
    const batch = rolled();
    const { episodes } = await payRewardModelScores(batch, model, 0.5);
    expect(episodes.map(({ preferenceScore }) => preferenceScore)).toEqual([3, 1]);
    const [up, down] = episodes.map(({ parts }) => parts.preference) as [number, number];
    expect(up).toBeGreaterThan(0);
    expect(down).toBeCloseTo(-up, 9);
    expect(episodes.map(({ reward }) => reward)).toEqual([1 + up, 1 + down]);
    expect(episodes[0]!.parts).toMatchObject({ outcome: 1 });
    const paid = [0, Math.fround(up), 0, 0, 0, Math.fround(down), 0, 0];
    expect([...batch.record.parts.preference]).toEqual(paid);
    expect([...batch.record.rewards]).toEqual(paid);
    const double = await payRewardModelScores(rolled(), model, 1);
    expect(double.episodes[0]!.parts.preference).toBeCloseTo(2 * up, 9);
  });

  test('changes nothing but the note without a weight', async () => {
    const batch = rolled();
    const { episodes } = await payRewardModelScores(batch, model, 0);
    expect(episodes.map(({ reward, parts }) => [reward, parts.preference])).toEqual([
      [1, 0],
      [1, 0],
    ]);
    expect(episodes.map(({ preferenceScore }) => preferenceScore)).toEqual([3, 1]);
    expect(batch.record.rewards.every((reward) => reward === 0)).toBe(true);
  });
});
