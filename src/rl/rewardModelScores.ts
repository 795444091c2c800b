import { payLastAction } from './episodeRecord.ts';
import { preferenceRewards } from './preferenceSet.ts';
import type { RewardModel } from './rewardModel.ts';
import type { Rollouts } from './rollout.ts';

/**
 * The rollouts with the reward model's score noted on each and, times `weight`, paid on its last action token. The record is
 * changed in place.
 */
export async function payRewardModelScores(
  rolled: Rollouts,
  rewardModel: RewardModel,
  weight: number,
): Promise<Rollouts> {
  const scores = await rewardModel.score(rolled.record);
  const paid = preferenceRewards(scores, weight);
  const episodes = rolled.episodes.map((episode, row) => {
    const preference = paid[row] ?? 0;
    if (weight > 0) payLastAction(rolled.record, row, 'preference', preference);
    const parts = weight > 0 ? { ...episode.parts, preference } : episode.parts;
    return {
      ...episode,
      parts,
      reward: episode.reward + (weight > 0 ? preference : 0),
      preferenceScore: scores[row] ?? null,
    };
  });
  return { ...rolled, episodes };
}
