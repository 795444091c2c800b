import type { Credit } from '../model/learningMath.ts';
import type { CreditSettings, ObjectiveSettings, OptimizerSettings } from '../model/learningSettings.ts';
import { type BatchView, behaviourLogprobs } from '../domain/batch.ts';
import { learnedGroups, untrainedTurns } from '../domain/tokenMasks.ts';
import { credit } from './credit.ts';

export interface LearnStep {
  readonly rows: Int32Array; // rows of the minibatch
  readonly objective: ObjectiveSettings;
  readonly optimizer: OptimizerSettings;
  readonly temperature: number;
}

/** Together with its batch and the weights before it, enough to repeat the update. */
export interface Lesson {
  readonly credit: CreditSettings;
  readonly steps: readonly LearnStep[];
}

export function creditOf(batch: BatchView, settings: CreditSettings, groups = learnedGroups(batch)): Credit {
  const { rows, length, roles, values, logprobs: oldLogprobs, refLogprobs, rewards } = batch;
  const { singles, bodies } = batch;
  const untrained = untrainedTurns(batch, settings.trainTurns);
  const marks = { singles, ...(bodies && { bodies }), ...(untrained && { untrained }) };
  const input = { rewards, groups, ...marks, behaviour: behaviourLogprobs(batch) };
  return credit({ rows, length, roles, values, oldLogprobs, refLogprobs }, input, settings);
}
