import type { Credit } from '../model/learningMath.ts';
import type { CreditSettings, ObjectiveSettings, OptimizerSettings } from '../model/learningSettings.ts';
import type { BatchView } from '../domain/batch.ts';
import { learnedGroups } from '../domain/tokenMasks.ts';
import { credit } from './credit.ts';

/** The rows and settings of one optimizer step. */
export interface LearnStep {
  readonly rows: Int32Array; // rows of the minibatch
  readonly objective: ObjectiveSettings;
  readonly optimizer: OptimizerSettings;
  readonly temperature: number;
}

/**
 * The settings of an update. Together with its batch and the weights before it, they are enough to repeat the update.
 */
export interface Lesson {
  readonly credit: CreditSettings;
  readonly steps: readonly LearnStep[];
}

/** Computes masks, advantages and returns of a batch with the given settings. `groups` as in `learnedGroups`. */
export function creditOf(batch: BatchView, settings: CreditSettings, groups = learnedGroups(batch)): Credit {
  const { rows, length, roles, values, logprobs: oldLogprobs, refLogprobs, rewards, singles } = batch;
  return credit({ rows, length, roles, values, oldLogprobs, refLogprobs }, { rewards, groups, singles }, settings);
}
