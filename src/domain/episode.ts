import type { AnswerScores, EnvView } from './envView.ts';

export type StopReason = 'answered' | 'found' | 'lost' | 'turns' | 'tokens';

/** The parts of a reward. They add up to the reward of a token or a rollout. */
export const REWARD_PARTS = [
  'outcome',
  'process',
  'call',
  'format',
  'think',
  'turnCost',
  'preference',
  'information',
] as const;
export type RewardPart = (typeof REWARD_PARTS)[number];

/** One rollout, in a form to show to people. Its tokens are row `row` of the batch. */
export interface EpisodeView {
  readonly row: number;
  readonly group: number; // the rollouts of one prompt have the same group
  readonly seed: number; // seed of the task
  /** Seed of the environment's random events. Task, environment seed and actions determine the episode. */
  readonly environmentSeed: number;
  readonly question: string;
  /** Token id → what the word stands for in this task; plain text for people. */
  readonly names: ReadonlyMap<number, string>;
  readonly reward: number; // sum of its parts
  readonly parts: Readonly<Record<RewardPart, number>>;
  /** The reward model's score, before it is weighted and centred; null without a score. */
  readonly preferenceScore: number | null;
  readonly success: boolean;
  readonly stop: StopReason;
  readonly turns: number;
  readonly toolCalls: number;
  readonly invalidTurns: number;
  readonly waited: number; // turns that passed while tools were still answering
  readonly scores: AnswerScores | null; // null if answers aren't text
  readonly view: EnvView;
}

/** Training computes with float32, whose largest number is about 3e38, and squares rewards, so the limit is far below that. */
export const MAX_REWARD = 1e6;
