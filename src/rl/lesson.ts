import type { Credit } from '../model/learningMath.ts';
import type { CreditSettings, ObjectiveSettings, OptimizerSettings } from '../model/learningSettings.ts';
import type { BatchView } from '../domain/batch.ts';
import { learnedGroups } from '../domain/tokenMasks.ts';
import { credit } from './credit.ts';

/** One optimizer step as it was taken. */
export interface LearnStep {
  readonly rows: Int32Array; // of the minibatch
  readonly objective: ObjectiveSettings;
  readonly optimizer: OptimizerSettings;
  readonly temperature: number;
}

/** What an update did with its batch: with the batch and the weights before it, all it takes to learn the same again. */
export interface Lesson {
  readonly credit: CreditSettings;
  readonly steps: readonly LearnStep[];
}

/** Masks, advantages and returns of a batch that was learned from; under the settings of its lesson, those it had. `groups` as in `learnedGroups`. */
export function creditOf(batch: BatchView, settings: CreditSettings, groups = learnedGroups(batch)): Credit {
  const { rows, length, roles, values, logprobs: oldLogprobs, refLogprobs, rewards, singles } = batch;
  return credit({ rows, length, roles, values, oldLogprobs, refLogprobs }, { rewards, groups, singles }, settings);
}
