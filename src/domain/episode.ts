import type { AnswerScores, EnvView } from './envView.ts';

/** How a rollout ended. */
export type StopReason = 'answered' | 'found' | 'lost' | 'turns' | 'tokens';

/** What a reward is made of: the parts add up to the reward of a token or a rollout. */
export const REWARD_PARTS = ['outcome', 'process', 'call', 'format', 'think', 'turnCost', 'preference'] as const;
export type RewardPart = (typeof REWARD_PARTS)[number];

/** One rollout as people read it; its tokens are row `row` of the batch. */
export interface EpisodeView {
  readonly row: number;
  readonly group: number; // rollouts of one prompt share it
  readonly seed: number; // of the task
  readonly environmentSeed: number; // of the environment's dice: the same task, luck and actions give the same episode
  readonly question: string;
  readonly names: ReadonlyMap<number, string>; // id → what that word stands for here; text for people, no markup
  readonly reward: number; // sum of its parts
  readonly parts: Readonly<Record<RewardPart, number>>;
  readonly preferenceScore: number | null; // what the reward model says of it, before weight and centring
  readonly success: boolean;
  readonly stop: StopReason;
  readonly turns: number;
  readonly toolCalls: number;
  readonly invalidTurns: number;
  readonly waited: number; // turns that went by while tools answered
  readonly scores: AnswerScores | null; // null where answers are no text
  readonly view: EnvView;
}
