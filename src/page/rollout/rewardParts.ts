import type { BatchView } from '../../domain/batch.ts';
import { ROUNDING_ERROR } from '../words/numberText.ts';
import { REWARD_PARTS, type EpisodeView, type RewardPart } from '../../domain/episode.ts';

export const PART_LABELS: Readonly<Record<RewardPart, string>> = {
  outcome: 'outcome',
  process: 'process',
  call: 'call',
  format: 'format',
  think: 'thinking',
  turnCost: 'turn cost',
  preference: 'preference',
  information: 'information gain',
};

export const PART_DOCS: Readonly<Record<RewardPart, string>> = {
  outcome: 'Paid at the end if the task is solved',
  process: 'Paid at each call that made progress',
  call: 'Paid once, at the first well-formed call of an existing tool',
  format: 'Subtracted for each malformed turn; a call that a tool refuses by an error counts as one',
  think: 'Paid for a think span that names what the next action needs',
  turnCost: 'Subtracted for every turn',
  preference: 'From the reward model, which learns from your comparisons',
  information: 'How much likelier this turn made the right answer, to the policy itself',
};

export interface RewardPartAmount {
  readonly part: RewardPart;
  readonly amount: number;
}

/** The parts of the reward of a rollout or a turn, without those that are 0. */
export function partsOfEpisode({ parts }: Pick<EpisodeView, 'parts'>): RewardPartAmount[] {
  return nonZeroParts((part) => parts[part]);
}

/** The parts of the reward at a token (a flat index of the batch), without those that are 0. */
export function partsOfToken(batch: BatchView, i: number): RewardPartAmount[] {
  return nonZeroParts((part) => batch.parts[part]?.[i] ?? 0);
}

function nonZeroParts(amountOf: (part: RewardPart) => number): RewardPartAmount[] {
  return REWARD_PARTS.map((part) => ({ part, amount: amountOf(part) })).filter(
    ({ amount }) => Math.abs(amount) > ROUNDING_ERROR,
  );
}
